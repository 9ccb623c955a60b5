package load

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

func TestParseOpenings(t *testing.T) {
	for text, want := range map[string]string{"auto": "", "begin": "begin", "snapshot, savepoint": "snapshot savepoint"} {
		got, err := ParseOpenings(text)
		var names []string
		for _, o := range got {
			names = append(names, string(o))
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "start", "begin,"} {
		if _, err := ParseOpenings(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestOpeningsFor(t *testing.T) {
	for _, c := range []struct {
		asked    []Opening
		workload string
		dbms     history.DBMS
		level    corpus.Level
		want     string // empty: refused
	}{
		{nil, "append", history.MySQL, corpus.RepeatableRead, "begin snapshot read-only autocommit savepoint"},
		{nil, "append", history.MySQL, corpus.ReadCommitted, "begin read-only autocommit savepoint"},
		{nil, "mixed", history.PostgreSQL, corpus.RepeatableRead, "begin read-only autocommit savepoint"},
		{nil, "bank", history.MariaDB, corpus.RepeatableRead, "begin snapshot read-only"},
		{[]Opening{OpenSnapshot}, "mini", history.TiDB, corpus.RepeatableRead, "snapshot"},
		{[]Opening{OpenSnapshot}, "append", history.PostgreSQL, corpus.RepeatableRead, ""},
		{[]Opening{OpenSnapshot}, "append", history.MySQL, corpus.Serializable, ""},
		{[]Opening{OpenAutocommit}, "bank", history.MySQL, corpus.Serializable, ""},
	} {
		got, err := openingsFor(c.asked, c.workload, c.dbms, c.level)
		var names []string
		for _, o := range got {
			if !slices.Contains(names, string(o.name)) {
				names = append(names, string(o.name))
			}
		}
		if strings.Join(names, " ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %v %v", c, names, err)
		}
	}
}

func TestLocksOfServers(t *testing.T) {
	for _, c := range []struct {
		server history.Server
		want   []lock // of all there are
	}{
		{history.Server{DBMS: history.MySQL, Version: "9.7.4"}, []lock{plain, forShare, forUpdate, noWait, skipLocked}},
		{history.Server{DBMS: history.MariaDB, Version: "10.5.23-MariaDB"}, []lock{plain, forShare, forUpdate, noWait}},
		{history.Server{DBMS: history.MySQL, Version: "5.7.44-log"}, []lock{plain, forShare, forUpdate}},
		{history.Server{DBMS: history.MariaDB, Version: "10.11.1-MariaDB"},
			[]lock{plain, forShare, forUpdate, noWait, skipLocked}},
		{history.Server{DBMS: history.TiDB}, []lock{plain, forUpdate, noWait}},
	} {
		got, err := locksFor("append", MixedReads, c.server)
		if err != nil {
			t.Fatal(err)
		}
		got = slices.Compact(slices.Sorted(slices.Values(got)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.server.DBMS, c.server.Version, got, c.want)
		}
	}
	if _, err := locksFor("append", SkipReads, history.Server{DBMS: history.TiDB}); err == nil {
		t.Error("TiDB skips locked rows")
	}
	sound := history.Server{DBMS: history.PostgreSQL}
	if got, err := locksFor("bank", MixedReads, sound); err != nil || slices.Contains(got, skipLocked) {
		t.Errorf("a read of a bank leaves accounts out: %v, %v", got, err)
	}
	if _, err := locksFor("bank", SkipReads, sound); err == nil || !strings.Contains(err.Error(), "all accounts") {
		t.Errorf("a bank takes --reads skip-locked: %v", err)
	}
}

// TestUndone: what is rolled back to a savepoint stands as a failed transaction of its
// own, and of the reads since then those stay that show nothing of it.
func TestUndone(t *testing.T) {
	tp := parseTape(t, "1 ok 1-2: w 1 5; w 2 6; r 1 5; r 2 6; r 3 nil; r! 4 nil; rp true 2=6; w 3 7")
	tp.begin, tp.txns = 0, nil
	tp.undo(1)
	o, l := parseOp(t, "w 4 8")
	tp.add(o, l)
	tp.end(1, 1, 9, kv.OK)
	if len(tp.txns) != 2 {
		t.Fatalf("%d transactions", len(tp.txns))
	}
	undone, rest := event{tp, &tp.txns[0]}, event{tp, &tp.txns[1]}
	if got := spellRecord(rest.record()); got != "w 1 5; r 1 5; r 3 nil; w 4 8" || rest.status != kv.OK {
		t.Errorf("what stays: %s %s", got, rest.status)
	}
	got := spellRecord(undone.record())
	if got != "w 2 6; w 3 7" || undone.status != kv.Fail || !undone.part || undone.session == rest.session {
		t.Errorf("what is undone: %s %+v", got, undone.recorded)
	}
	if len(rest.how()) != len(rest.ops()) {
		t.Error("how the operations were done is lost")
	}
}

// TestPlans: no opening takes a row away that is to be there again, or writes what was
// locked in a part that is rolled back.
func TestPlans(t *testing.T) {
	r := &run{workload: mixed{}, settings: Settings{Clients: 1}}
	opened, err := openingsFor(nil, "mixed", history.MySQL, corpus.RepeatableRead)
	if err != nil {
		t.Fatal(err)
	}
	c := &chooser{rand: rand.New(rand.NewPCG(1, 2)), epoch: r.newEpoch(0, nil), locks: readLocks[MixedReads], step: 1,
		replaces: true, revives: true}
	var p plan
	met := map[Opening]int{}
	forms := map[form]int{}
	deaths := map[kv.Value]int{}
	for range 20000 {
		p.draw(r.workload, c, opened)
		met[p.name]++
		for i, s := range p.steps {
			forms[s.form]++
			if s.guarded && (i == p.save || i == p.back) {
				t.Fatalf("a savepoint parts a row from its lock: %+v", p)
			}
			if s.kind == kv.Delete && (i+1 == len(p.steps) || p.steps[i+1].form != insertAgain) {
				deaths[s.key]++
			}
			if p.name == OpenReadOnly && (!s.kind.IsRead() || s.lock != plain) {
				t.Fatalf("a read-only transaction writes or locks: %+v", p)
			}
		}
		if p.name == OpenAutocommit && (len(p.steps) != 1 || p.steps[0].guarded) || p.save >= 0 && p.back <= p.save {
			t.Fatalf("%+v", p)
		}
	}
	for _, o := range openings {
		if met[o.name] < 500 {
			t.Errorf("%s was drawn %d times", o.name, met[o.name])
		}
	}
	for f := byKey; f <= insertAgain; f++ {
		if forms[f] < 500 {
			t.Errorf("form %d was made %d times", f, forms[f])
		}
	}
	for k, n := range deaths {
		if !mayDie(k) || n > 1 {
			t.Errorf("key %d is deleted %d times", k, n)
		}
	}
	if len(deaths) == 0 {
		t.Error("no key is deleted")
	}
}

func TestContended(t *testing.T) {
	tp := parseTape(t, `1 ok 1-4: r 1 nil; w 2 5
		2 ok 2-6: r 2 nil
		3 fail 5-7: r 2 nil; rp true 1=3
		4 ok 6-9: w 1 4
		5 ok 20-21: w 1 9`)
	if met, of := contended(inOrder([]*tape{tp})); met != 4 || of != 5 {
		t.Errorf("%d of %d", met, of)
	}
}
