package load

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	declaredpromise "github.com/txnfuzz/txnfuzz/oracle/promise"
)

// parseTape reads transactions as the tests below write them, one a line:
//
//	session status invoke-return: operation; operation
//
// An operation is "r 1 [2 3]", "append 1 4", "r 1 5", "r 1 nil", "w 1 5",
// "delta 1 -5", "insert 1 5", "delete 1" or "rp true 1=5 2=6"; "!" behind r or rp
// makes it a locking read, and "+" before an operation puts it into the statement
// of the one before. In the name of a condition # stands for a blank.
func parseTape(t testing.TB, text string) *tape {
	t.Helper()
	out := &tape{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, ops, ok := strings.Cut(strings.TrimSpace(line), ":")
		var session, invoke, ret int64
		var status string
		if n, _ := fmt.Sscanf(head, "%d %s %d-%d", &session, &status, &invoke, &ret); !ok || n < 4 {
			t.Fatalf("no transaction: %q", line)
		}
		for _, text := range strings.Split(ops, ";") {
			text = strings.TrimSpace(text)
			rest, same := strings.CutPrefix(text, "+")
			if !same {
				out.statement++
			}
			out.from, out.to = invoke, ret
			o, l := parseOp(t, rest)
			out.add(o, l)
		}
		out.end(session, invoke, ret, map[string]kv.Status{"ok": kv.OK, "fail": kv.Fail, "info": kv.Info}[status])
	}
	return out
}

func parseOp(t testing.TB, text string) (kv.RecordOp, lock) {
	t.Helper()
	text, list, isList := strings.Cut(text, "[")
	f := strings.Fields(text)
	kind, locking := strings.CutSuffix(f[0], "!")
	l := plain
	if locking {
		l = forUpdate
	}
	num := func(s string) kv.Value {
		if s == "nil" {
			return kv.Nil
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return kv.Value(n)
	}
	if kind == "rp" {
		o := kv.RecordOp{Kind: kv.ReadPredicate, Val: names.Of([]byte(strings.ReplaceAll(f[1], "#", " ")))}
		for _, pair := range f[2:] {
			k, v, _ := strings.Cut(pair, "=")
			o.List = append(o.List, num(k), num(v))
		}
		return o, l
	}
	o := kv.RecordOp{Key: num(f[1])}
	switch kind {
	case "r", "versions":
		if o.Kind = kv.Read; isList {
			if o.Kind = kv.ReadList; kind == "versions" {
				o.Kind = kv.Versions
			}
			for _, v := range strings.Fields(strings.TrimSuffix(list, "]")) {
				o.List = append(o.List, num(v))
			}
			return o, l
		}
	case "delete":
		o.Kind = kv.Delete
		return o, l
	default:
		o.Kind = map[string]kv.Kind{
			"append": kv.Append, "w": kv.Write, "delta": kv.Delta, "insert": kv.Insert, "init": kv.Init,
		}[kind]
	}
	o.Val = num(f[2])
	return o, l
}

// spellRecord is the reverse, without times and sessions.
func spellRecord(r kv.Record) string {
	var parts []string
	for _, o := range r.Ops {
		s := o.Kind.String()
		switch o.Kind {
		case kv.ReadPredicate:
			s += " " + names.Name(o.Val)
			for i := 0; i+1 < len(o.List); i += 2 {
				s += fmt.Sprintf(" %d=%d", o.List[i], o.List[i+1])
			}
		case kv.ReadList:
			s += fmt.Sprintf(" %d %d", o.Key, o.List)
		case kv.Delete:
			s += fmt.Sprintf(" %d", o.Key)
		default:
			v := "nil"
			if o.Val != kv.Nil {
				v = fmt.Sprint(int64(o.Val))
			}
			s += fmt.Sprintf(" %d %s", o.Key, v)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// returnedRows is the case of a workload whose rows are deleted and inserted again.
const returnedRows = "rows that a locking predicate read returned"

func TestWhatIsPromisedToBeAtomic(t *testing.T) {
	for _, c := range []struct {
		name  string
		views views
		gaps  bool
		txn   string
		want  string // pieces between bars
	}{
		{"a whole transaction", whole, true, "1 ok 1-2: r 1 []; append 1 5; r 1 [5]", "r 1 []; append 1 5; r 1 [5]"},
		{"plain reads share a snapshot", perTransaction, true, "1 ok 1-2: r 1 [4]; append 2 5; r 3 [6]", "append 2 5 | r 1 [4]; r 3 [6]"},
		{"what the transaction wrote it reads as it is", perTransaction, true, "1 ok 1-2: r 1 [4]; append 1 5; r 1 [4 9 5]", "append 1 5; r 1 [4 9 5] | r 1 [4]"},
		{"locking reads stand with the writes", perTransaction, true, "1 ok 1-2: r! 1 [4]; append 2 5; r 1 []", "r 1 [4]; append 2 5 | r 1 []"},
		{"each statement has a snapshot", perStatement, false, "1 ok 1-2: r 1 [4]; append 2 5; r 1 []", "append 2 5 | r 1 [4] | r 1 []"},
		{"a statement of several reads", perStatement, false, "1 ok 1-2: r 1 4; +r 2 5; r 3 6", "r 1 4; r 2 5 | r 3 6"},
		{"no lock on what is not there", perTransaction, false, "1 ok 1-2: r! 1 []; r! 2 [3]; append 4 5", "r 2 [3]; append 4 5 | r 1 []"},
		{"a lock on what is not there", perTransaction, true, "1 ok 1-2: r! 1 nil; w 4 5", "r 1 nil; w 4 5"},
		{"reads of a failed transaction count for nothing", perTransaction, true, "1 fail 1-2: r 1 [4]; append 2 5", "append 2 5"},
		{"nothing is left of a failed one that only read", perTransaction, true, "1 fail 1-2: r 1 [4]", ""},
		{"a predicate read before the first write", perTransaction, true, "1 ok 1-2: rp true 1=2; insert 4 5", "insert 4 5 | rp true 1=2"},
		{"a predicate read behind it mixes both", perTransaction, true, "1 ok 1-2: insert 4 5; rp true 1=2 4=5", "insert 4 5"},
		{"a locking predicate read without gap locks", perStatement, false, "1 ok 1-2: rp! true 1=2; insert 4 5", "insert 4 5"},
		{returnedRows, perStatement, false, "1 ok 1-2: rp! true 1=2; insert 4 5", "r 1 2; insert 4 5"},
		{"a locking predicate read with gap locks", perTransaction, true, "1 ok 1-2: rp! true 1=2; insert 4 5", "rp true 1=2; insert 4 5"},
	} {
		tp := parseTape(t, c.txn)
		f := fragments{promise: promise{views: c.views, gaps: c.gaps}, session: 1, dying: c.name == returnedRows}
		var got []string
		sessions := map[int64]bool{}
		f.split(event{tp, &tp.txns[0]}, func(r kv.Record) {
			got = append(got, spellRecord(r))
			if sessions[r.Session] {
				t.Errorf("%s: two pieces of one session", c.name)
			}
			sessions[r.Session] = true
			if r.Invoke != 1 || r.Return != 2 {
				t.Errorf("%s: a piece has lost its times", c.name)
			}
		})
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, s, c.want)
		}
	}
}

// TestOnlyRows: where a locking read by a condition looks for the newest rows, it counts for what it returned only.
func TestOnlyRows(t *testing.T) {
	tp := parseTape(t, "1 ok 1-2: r 1 4; rp! true 1=4 2=5; rp true 1=4; rp! true 3=6; insert 4 5")
	tp.how[3].lock = forShare
	f := fragments{promise: promise{onlyRows: true}}
	f.split(event{tp, &tp.txns[0]}, func(r kv.Record) {
		if got := spellRecord(r); got != "r 1 4; r 1 4; r 2 5; rp true 1=4; insert 4 5" {
			t.Error(got)
		}
	})
}

func TestPromises(t *testing.T) {
	innodb := func(d history.DBMS, si string) history.Server {
		return history.Server{DBMS: d, Settings: map[string]string{"innodb_snapshot_isolation": si}}
	}
	postgres := history.Server{DBMS: history.PostgreSQL}
	tidb := func(mode string) history.Server {
		return history.Server{DBMS: history.TiDB, Settings: map[string]string{"tidb_txn_mode": mode}}
	}
	for _, c := range []struct {
		server history.Server
		level  corpus.Level
		want   string
	}{
		{postgres, corpus.ReadUncommitted, "serializable strict-serializable 2 false"},
		{postgres, corpus.ReadCommitted, "serializable strict-serializable 2 false"},
		{postgres, corpus.RepeatableRead, "snapshot-isolation strong-snapshot-isolation 0 false"},
		{postgres, corpus.Serializable, "serializable strong-snapshot-isolation 0 false"},
		{innodb(history.MySQL, ""), corpus.ReadUncommitted, "read-uncommitted 0 false"},
		{innodb(history.MySQL, ""), corpus.ReadCommitted, "serializable 2 false"},
		{innodb(history.MySQL, ""), corpus.RepeatableRead, "serializable 1 true"},
		{innodb(history.MySQL, ""), corpus.Serializable, "serializable 0 true"},
		{innodb(history.MariaDB, "OFF"), corpus.RepeatableRead, "serializable 1 true"},
		{innodb(history.MariaDB, "ON"), corpus.RepeatableRead, "snapshot-isolation 0 true"},
		{innodb(history.MariaDB, "ON"), corpus.Serializable, "serializable 0 true"},
		{tidb("pessimistic"), corpus.RepeatableRead, "serializable 1 false"},
		{tidb("pessimistic"), corpus.ReadCommitted, "serializable 2 false"},
		{tidb("optimistic"), corpus.ReadCommitted, "snapshot-isolation 0 false"},
		{tidb("optimistic"), corpus.RepeatableRead, "snapshot-isolation 0 false"},
	} {
		p := promised(c.server, c.level)
		if got := fmt.Sprintf("%s %d %v", joinedModels(p), p.views, p.gaps); got != c.want {
			t.Errorf("%s %v at %s: %s, want %s", c.server.DBMS, c.server.Settings, c.level, got, c.want)
		}
		if p.says == "" || !strings.HasPrefix(p.cite, "https://") {
			t.Errorf("%s at %s: no source", c.server.DBMS, c.level)
		}
	}
}

func joinedModels(p promise) string {
	var names []string
	for _, m := range p.models {
		names = append(names, string(m))
	}
	return strings.Join(names, " ")
}

// TestDeclared: each promise that can be declared means something here.
func TestDeclared(t *testing.T) {
	for _, name := range declaredpromise.Names() {
		if declared[name].says == "" {
			t.Errorf("%s: nothing is checked", name)
		}
	}
}
