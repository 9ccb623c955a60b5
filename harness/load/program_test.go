package load

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

const programHead = "target: mysql:9.7\nlevel: RR\nmodel: snapshot-isolation\nshows: lost-update\nworkload: "

// TestProgramText: what is written is read again as the same, for all statements of all workloads.
func TestProgramText(t *testing.T) {
	for workload, body := range map[string]string{
		"chain": "client 1\n  read 0 1 5 for share\n  begin snapshot\n  append 0\n  commit\n  begin read-only\n  read 7 3\n  commit\n\n" +
			"client 2\n  begin\n  read 0\n  savepoint\n  append 1\n  read 2\n  rollback to savepoint\n  append 4\n  commit\n" +
			"  begin snapshot\n  append 0\n  savepoint\n  append 1\n  rollback to savepoint\n  rollback\n  append 6\n",
		"append":    "client 1\n  begin\n  read 0\n  read 3 for update\n  append 1\n  commit\n\nclient 2\n  begin\n  read 1 for share\n  rollback\n  begin\n  append 1\n  commit\n",
		"register":  "client 1\n  begin\n  read 0\n  write 0\n  commit\n",
		"predicate": "client 1\n  begin\n  select class 3 for update\n  insert 5 class 3\n  update 4 class 0\n  delete 2\n  read 4\n  commit\n",
		"bank":      "client 1\n  begin\n  read 1 to 3\n  read 4 to 8 for update\n  add 1 -5\n  add 8 5\n  commit\n",
	} {
		p, err := parseProgram("x", programHead+workload+"\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		if p.body() != body {
			t.Errorf("%s: read\n%s\nwritten\n%s", workload, body, p.body())
		}
		p.Rate, p.Load, p.Bystanders = Rate{3, 1200, 4.5}, Rate{1, 50000, 60}, 12
		q, err := parseProgram("x", string(p.Text(mysqlDialect, "x.load")))
		if err != nil {
			t.Fatal(err)
		}
		if !p.same(q) || q.Rate != p.Rate || q.Load != p.Load || q.Level != corpus.RepeatableRead ||
			!slices.Equal(q.Models, []model.Model{model.SnapshotIsolation}) {
			t.Errorf("%s: %+v from %s", workload, q, p.Text(mysqlDialect, "x.load"))
		}
	}
}

func TestProgramErrors(t *testing.T) {
	const client = "client\nbegin\nread 1\ncommit\n"
	for _, c := range []struct{ text, want string }{
		{programHead + "append\n", "x: there is no client"},
		{programHead + "lists\n", `x:5: unknown workload "lists"`},
		{"level: RR\nshows: lost-update\n", "no workload is named"},
		{"workload: append\nshows: lost-update\n" + client, "no level is named"},
		{"workload: append\nlevel: RR\n" + client, "does not say what it shows"},
		{programHead + "append\nsize: 3\n", `x:6: unknown "size"`},
		{programHead + "append\nrate: often\n", "want a rate such as"},
		{programHead + "append\nrate: 5 of 3 in 1.0 s\n", "more executions than there were"},
		{programHead + "append\nload: 5 of 0 in 1.0 s\n", "want a rate such as"},
		{programHead + "append\nbegin\n", `x:6: "begin"`},
		{programHead + "append\nclient\nread 1\ncommit\n", "x:8: \"commit\": there is no transaction"},
		{programHead + "append\nclient\nbegin\nbegin\n", "x:8: \"begin\": the transaction before has no commit"},
		{programHead + "append\nclient\nbegin\nread 1\nbegin snapshot\n", "the transaction before has no commit"},
		{programHead + "append\nclient\nbegin deferred\n", "is no statement"},
		{programHead + "append\nclient\nbegin read-only\nappend 1\ncommit\n", "has plain reads only"},
		{programHead + "append\nclient\nbegin read-only\nread 1 for update\ncommit\n", "has plain reads only"},
		{programHead + "append\nclient\nsavepoint\n", "there is no transaction"},
		{programHead + "append\nclient\nbegin\nsavepoint\n", "before the first statement"},
		{programHead + "append\nclient\nbegin\nread 1\nrollback to savepoint\n", "there is none"},
		{programHead + "append\nclient\nbegin\nread 1\nsavepoint\nrollback to savepoint\n", "no statement stands behind"},
		{programHead + "append\nclient\nbegin\nread 1\nsavepoint\nread 1\ncommit\n", "but no rollback to savepoint"},
		{programHead + "append\nclient\nbegin\nread 1\nsavepoint\nread 1\nsavepoint\n", "one savepoint at most"},
		{programHead + "append\nclient\nread 1 2 1\n", "is no statement"},
		{programHead + "append\nbystanders: many\n", "want a number of bystanders"},
		{programHead + "mini\nclient\nread 1\n", "would take the transactions of workload mini apart"},
		{programHead + "predicate\nclient\nbegin\nread 1\nsavepoint\nread 1\nrollback to savepoint\ncommit\n",
			"would take the transactions of workload predicate apart"},
		{programHead + "append\nclient\nbegin\nread 1\n", "no commit or rollback"},
		{programHead + "append\nclient\nbegin\ncommit\n", "without statements"},
		{programHead + "append\nclient\nbegin\nwrite 1\n", "want one of read KEY"},
		{programHead + "append\nclient\nbegin\nread x\n", "is no statement"},
		{programHead + "append\nclient\nbegin\nappend 1 for update\n", "is no statement"},
		{programHead + "append\nclient\nbegin\nread 1000\ncommit\n", "keys are numbers from 0 to"},
		{programHead + "bank\nclient\nbegin\nadd 9 5\ncommit\n", "accounts are numbered"},
		{programHead + "predicate\nclient\nbegin\ninsert 2 class 1\ncommit\n", "odd keys"},
		{programHead + "predicate\nclient\nbegin\ndelete 2\ncommit\nclient\nbegin\nupdate 2 class 1\ncommit\n",
			"changed twice"},
		{programHead + "predicate\nclient\nbegin\nupdate 3 class 1\ncommit\n", "even keys"},
		{programHead + "bank\nclient\nbegin\nadd 1 -5\nadd 2 4\ncommit\n", "must come to 0"},
		{programHead + "append\npromise: SI\n" + client, "one of them says"},
		{programHead + "append\n" + client + "level: RC\n", "behind the first client"},
	} {
		if _, err := parseProgram("x", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestSmallerStaysValid: nothing is left out that a sound server would be blamed for.
func TestSmallerStaysValid(t *testing.T) {
	for workload, body := range map[string]string{
		"bank":      "client\nbegin\nadd 1 -5\nadd 2 5\ncommit\nclient\nbegin\nread 1 to 4\nread 5 to 8\ncommit\n",
		"predicate": "client\nbegin\ninsert 5 class 3\nupdate 4 class 0\nread 4\ncommit\nclient\nbegin\ndelete 2\nread 7\ncommit\n",
	} {
		p, err := parseProgram("x", programHead+workload+"\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		all := p.smaller()
		if len(all) < 3 {
			t.Errorf("%s: %d are smaller", workload, len(all))
		}
		for _, q := range all {
			if _, err := parseProgram("x", string(q.Text(nil, "x"))); err != nil {
				t.Errorf("%v\n%s", err, q.body())
			}
		}
	}
}

// TestDraft: what is left of a finding becomes a program of the transactions that were sent, with their locks, the
// pieces of one put together again; whatever else they did comes with the next one.
func TestDraft(t *testing.T) {
	r := &run{workload: appends{}, settings: Settings{Target: "x", Workload: "append", Clients: 2,
		Level: corpus.RepeatableRead}}
	tp := parseTape(t, `1 ok 10-19: r! 7 []; append 7 5; r 12 []
		2 ok 12-18: r 7 []; append 16 1; append 7 6
		3 ok 20-29: r 7 [5 6]
		2 ok 30-39: r 9 []`)
	j := &judge{run: r, events: inOrder([]*tape{tp})}
	f := Finding{Kind: "lost-update", Model: model.SnapshotIsolation}
	left := []kv.Record{
		{Session: 1, Invoke: 10, Return: 19, Ops: []kv.RecordOp{{Kind: kv.ReadList, Key: 7}, {Kind: kv.Append, Key: 7,
			Val: 5}}},
		{Session: 77, Invoke: 12, Return: 18, Ops: []kv.RecordOp{{Kind: kv.ReadList, Key: 7}}},
		{Session: 2, Invoke: 12, Return: 18, Ops: []kv.RecordOp{{Kind: kv.Append, Key: 7, Val: 6}}},
	}
	var got []string
	for _, p := range j.draft(f, left) {
		got = append(got, p.body())
	}
	want := []string{
		"client 1\n  begin\n  read 3 for update\n  append 3\n  commit\n\nclient 2\n  begin\n  read 3\n  append 3\n  commit\n",
		"client 1\n  begin\n  read 3 for update\n  append 3\n  read 0\n  commit\n\nclient 2\n  begin\n  read 3\n  append 4\n  append 3\n  commit\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestDraftKeepsOpenings: a draft begins its transactions as the load did, reads in one statement what was read in one,
// and rolls back to a savepoint what was undone, if that is a part of the finding.
func TestDraftKeepsOpenings(t *testing.T) {
	r := &run{workload: chains{}, settings: Settings{Target: "x", Workload: "chain", Clients: 8, Bystanders: 9,
		Level: corpus.RepeatableRead}}
	tp := parseTape(t, `1 ok 10-19: r 4 [5]; +r 9 []; +r 12 []
		2 ok 12-18: append 4 5; append 8 2; append 9 6; r 4 [5]`)
	tp.txns[0].start = start{OpenAutocommit, -1, -1}
	tp.txns = tp.txns[:1]
	tp.begin, tp.start = 3, start{OpenSavepoint, 4, 6}
	for i := range tp.how[3:] {
		tp.how[3+i].statement = uint16(3 + i)
	}
	tp.from, tp.to = 12, 18
	tp.undo(4) // append 8, append 9
	tp.end(2, 12, 18, kv.OK)
	third := parseTape(t, "3 ok 13-17: r 4 []; r 9 [6]")
	third.txns[0].start = start{OpenSnapshot, -1, -1}
	j := &judge{run: r, events: inOrder([]*tape{tp, third})}
	f := Finding{Kind: "G1a", Model: model.SnapshotIsolation}
	left := []kv.Record{
		{Session: 1, Invoke: 10, Return: 19, Ops: []kv.RecordOp{{Kind: kv.ReadList, Key: 4}, {Kind: kv.ReadList, Key: 9}}},
		{Session: 2 + undoneSessions, Invoke: 12, Return: 18, Ops: []kv.RecordOp{{Kind: kv.Append, Key: 9, Val: 6}}},
		{Session: 3, Invoke: 13, Return: 17, Ops: []kv.RecordOp{{Kind: kv.ReadList, Key: 9}}},
	}
	drafts := j.draft(f, left)
	want := "client 1\n  read 0 1\n\n" +
		"client 2\n  begin\n  append 0\n  savepoint\n  append 1\n  rollback to savepoint\n  commit\n\n" +
		"client 3\n  begin snapshot\n  read 1\n  commit\n"
	if len(drafts) == 0 || drafts[0].body() != want || drafts[0].Bystanders != 9 {
		t.Fatalf("%d drafts, the first\n%s", len(drafts), drafts[0].body())
	}
	var simpler []string
	for _, p := range drafts[0].smaller() {
		if p.Bystanders == 0 {
			simpler = append(simpler, "no bystanders")
			continue
		}
		if _, _, n := p.size(); n == 4 || len(p.clients) == 3 && !strings.Contains(p.body(), "savepoint") {
			simpler = append(simpler, strings.Join(strings.Fields(p.body()), " "))
		}
	}
	for _, want := range []string{
		"no bystanders", // what follows begins with BEGIN, undoes nothing, or did not do what was undone
		"client 1 read 0 1 client 2 begin append 0 savepoint append 1 rollback to savepoint commit client 3 begin read 1 commit",
		"client 1 read 0 1 client 2 begin append 0 append 1 commit client 3 begin snapshot read 1 commit",
		"client 1 read 0 1 client 2 begin append 0 commit client 3 begin snapshot read 1 commit",
		"client 1 read 1 client 2 begin append 0 savepoint append 1 rollback to savepoint commit client 3 begin snapshot read 1 commit",
	} {
		if !slices.Contains(simpler, want) {
			t.Errorf("not tried: %s\namong %q", want, simpler)
		}
	}
}

// TestDraftOfBank: what a read of accounts showed was made by transfers that were going on.
func TestDraftOfBank(t *testing.T) {
	r := &run{workload: bank{}, settings: Settings{Target: "x", Workload: "bank", Clients: 9, Level: corpus.ReadCommitted}}
	tp := parseTape(t, `1 ok 1-9: delta 1 -5; delta 2 5
		2 ok 8-18: r 1 5; +r 2 5; r 3 5; +r 4 5
		3 ok 12-15: delta 2 -7; delta 3 7
		4 fail 12-15: delta 2 -1; delta 3 1
		5 ok 18-20: delta 2 -3; delta 3 3`)
	j := &judge{run: r, events: inOrder([]*tape{tp})}
	left := []kv.Record{{Session: 2, Invoke: 8, Return: 18, Ops: []kv.RecordOp{{Kind: kv.Read, Key: 1, Val: 5}}}}
	drafts := j.draft(Finding{Kind: "wrong-total", Model: model.Serializable}, left)
	want := "client 1\n  begin\n  add 1 -5\n  add 2 5\n  commit\n\nclient 2\n  begin\n  read 1 to 2\n  read 3 to 4\n  commit\n\n" +
		"client 3\n  begin\n  add 2 -7\n  add 3 7\n  commit\n"
	if len(drafts) != 1 || drafts[0].body() != want {
		t.Errorf("%d drafts, the first\n%s", len(drafts), drafts[0].body())
	}
}

// TestSmaller: everything can be left out, and two keys can become one.
func TestSmaller(t *testing.T) {
	p, err := parseProgram("x",
		programHead+"append\nclient\nbegin\nread 1\nappend 2\ncommit\nbegin\nread 1\ncommit\nclient\nbegin\nread 2\ncommit\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range p.smaller() {
		got = append(got, strings.Join(strings.Fields(strings.NewReplacer("begin", "(", "commit", ")", "client",
			"c").Replace(q.body())), " "))
	}
	want := []string{
		"c 1 ( read 2 )",
		"c 1 ( read 1 append 2 ) ( read 1 )",
		"c 1 ( read 1 ) c 2 ( read 2 )",
		"c 1 ( read 1 append 2 ) c 2 ( read 2 )",
		"c 1 ( append 2 ) ( read 1 ) c 2 ( read 2 )",
		"c 1 ( read 1 ) ( read 1 ) c 2 ( read 2 )",
		"c 1 ( read 1 append 2 ) c 2 ( read 2 )",
		"c 1 ( read 1 append 2 ) ( read 1 )",
		"c 1 ( read 1 append 1 ) ( read 1 ) c 2 ( read 1 )",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestDraftOfUpdate: of two writes of a key, which only others have seen, one follows a read of it in a draft of these
// two alone, that of the transaction with a snapshot first.
func TestDraftOfUpdate(t *testing.T) {
	r := &run{workload: appends{}, settings: Settings{Target: "x", Workload: "append", Clients: 8,
		Level: corpus.RepeatableRead}}
	tp := parseTape(t, `1 ok 10-19: append 4 5
		2 ok 12-18: r 9 []; append 4 6
		3 ok 20-22: r 4 [5 6]`)
	tp.txns[1].start = start{OpenSnapshot, -1, -1}
	j := &judge{run: r, events: inOrder([]*tape{tp})}
	var left []kv.Record
	for _, e := range j.events {
		left = append(left, e.record())
	}
	drafts := j.draft(Finding{Kind: "G-nonadjacent-item", Model: model.SnapshotIsolation}, left)
	want := []string{
		"client 1\n  begin\n  append 0\n  commit\n\nclient 2\n  begin snapshot\n  read 0\n  append 0\n  commit\n",
		"client 1\n  begin\n  read 0\n  append 0\n  commit\n\nclient 2\n  begin snapshot\n  append 0\n  commit\n",
	}
	var got []string
	for _, p := range drafts {
		if p.update {
			got = append(got, p.body())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSendable: what a program reads must be what the backend has.
func TestSendable(t *testing.T) {
	tidb := fakeServer{server: history.Server{DBMS: history.TiDB, Version: "8.5.4"}}
	for _, c := range []struct {
		read string
		on   harness.Backend
		want string
	}{
		{"read 1 skip locked", tidb, "TiDB has no SKIP LOCKED"},
		{"read 1 for update", tidb, ""},
		{"read 1 nowait", NewAdapter("true", corpus.RepeatableRead), "an adapter is asked for no such read"},
		{"read 1 2", NewAdapter("true", corpus.RepeatableRead), "a read of several keys"},
		{"read 1 for share", NewAdapter("true", corpus.RepeatableRead), ""},
	} {
		p, err := parseProgram("x", programHead+"append\nclient\nbegin\n"+c.read+"\ncommit\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.sendable(c.on); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.read, err, c.want)
		}
	}
}

// fakeServer is a backend of which only what it is is asked.
type fakeServer struct {
	harness.Backend
	server history.Server
}

func (f fakeServer) Server() history.Server { return f.server }
