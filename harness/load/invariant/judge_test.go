package invariant

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// kindsOf lists what was found, in order.
func kindsOf(found []Violation) string {
	var kinds []string
	for _, v := range found {
		kinds = append(kinds, v.Kind)
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}

// write is what a transaction did to row 1, or with row set to another one.
type write struct {
	token       int64
	gone        bool
	invoke, ret int64
	status      kv.Status
	row         int64
}

func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes []write
		shown  map[int64]int64
		want   string
	}{
		{"the last write is shown", []write{{1, false, 1, 2, kv.OK, 1}, {2, false, 3, 4, kv.OK, 1}}, map[int64]int64{1: 2}, ""},
		{"an earlier write is shown", []write{{1, false, 1, 2, kv.OK, 1}, {2, false, 3, 4, kv.OK, 1}}, map[int64]int64{1: 1}, Lost},
		{"of two at the same time either may be last", []write{{1, false, 1, 4, kv.OK, 1}, {2, false, 3, 6, kv.OK, 1}}, map[int64]int64{1: 1}, ""},
		{"a write is gone", []write{{1, false, 1, 2, kv.OK, 1}}, map[int64]int64{1: 0}, Lost},
		{"a row is gone that nobody deleted", nil, map[int64]int64{}, Lost},
		{"a deletion", []write{{1, true, 1, 2, kv.OK, 1}}, map[int64]int64{}, ""},
		{"a deletion is lost", []write{{1, true, 1, 2, kv.OK, 1}}, map[int64]int64{1: 0}, Lost},
		{"a deletion of unknown outcome, done", []write{{1, true, 1, 2, kv.Info, 1}}, map[int64]int64{}, ""},
		{"a deletion of unknown outcome, not done", []write{{1, true, 1, 2, kv.Info, 1}}, map[int64]int64{1: 0}, ""},
		{"what was rolled back is shown", []write{{1, false, 1, 2, kv.Fail, 1}}, map[int64]int64{1: 1}, Kept},
		{"what was rolled back is not shown", []write{{1, false, 1, 2, kv.Fail, 1}}, map[int64]int64{1: 0}, ""},
		{"an unknown one that is shown took place after what ended later", []write{{1, false, 1, 2, kv.Info, 1}, {2, false, 3, 4, kv.OK, 1}}, map[int64]int64{1: 1}, ""},
		{"half of an unknown one", []write{{1, false, 1, 2, kv.Info, 1}, {1, false, 1, 2, kv.Info, 2}}, map[int64]int64{1: 1, 2: 0}, HalfDone},
		{"all of an unknown one", []write{{1, false, 1, 2, kv.Info, 1}, {1, true, 1, 2, kv.Info, 2}}, map[int64]int64{1: 1}, ""},
		{"half of it may have been overwritten", []write{{1, false, 1, 2, kv.Info, 1}, {1, false, 1, 2, kv.Info, 2}, {2, false, 1, 9, kv.OK, 2}}, map[int64]int64{1: 1, 2: 2}, ""},
	} {
		l := newLedger()
		l.born(1, true)
		if _, ok := c.shown[2]; ok || slices.ContainsFunc(c.writes, func(w write) bool { return w.row == 2 }) {
			l.born(2, true)
		}
		for _, w := range c.writes {
			l.status[w.token] = w.status
			if w.status == kv.Info {
				w.ret = math.MaxInt64
			}
			l.writes[w.row] = append(l.writes[w.row], written{token: w.token, gone: w.gone, invoke: w.invoke, ret: w.ret})
		}
		if got := kindsOf(l.judge("t", c.shown)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestJobs(t *testing.T) {
	add := &effort{token: 1, status: kv.OK, jobs: []int64{10, 11}}
	unsure := &effort{token: 2, status: kv.Info, jobs: []int64{12, 13}}
	undone := &effort{token: 3, status: kv.Fail, jobs: []int64{14}}
	does := func(token int64, s kv.Status, jobs ...int64) *effort {
		return &effort{token: token, status: s, does: true, jobs: jobs}
	}
	for _, c := range []struct {
		name  string
		did   []*effort
		all   [][]int64 // id, state, token
		done  [][]int64 // job, token
		wants string
	}{
		{"open jobs", nil, [][]int64{{10, 0, 0}, {11, 0, 0}}, nil, ""},
		{"a job is lost", nil, [][]int64{{10, 0, 0}}, nil, Lost},
		{"an unknown INSERT, whole", nil, [][]int64{{10, 0, 0}, {11, 0, 0}, {12, 0, 0}, {13, 0, 0}}, nil, ""},
		{"an unknown INSERT, half", nil, [][]int64{{10, 0, 0}, {11, 0, 0}, {12, 0, 0}}, nil, HalfDone},
		{"an INSERT that was rolled back", nil, [][]int64{{10, 0, 0}, {11, 0, 0}, {14, 0, 0}}, nil, Kept},
		{"done once", []*effort{does(5, kv.OK, 10)}, [][]int64{{10, 1, 5}, {11, 0, 0}}, [][]int64{{10, 5}}, ""},
		{"done, and nothing of it is left", []*effort{does(5, kv.OK, 10)}, [][]int64{{10, 0, 0}, {11, 0, 0}}, nil, Lost},
		{"done by two", []*effort{does(5, kv.OK, 10), does(6, kv.Info, 10)}, [][]int64{{10, 1, 6}, {11, 0, 0}}, [][]int64{{10, 5}, {10, 6}}, JobTwice},
		{"perhaps done, and it was not", []*effort{does(5, kv.Info, 10)}, [][]int64{{10, 0, 0}, {11, 0, 0}}, nil, ""},
		{"perhaps done, and half of it is left", []*effort{does(5, kv.Info, 10)}, [][]int64{{10, 1, 5}, {11, 0, 0}}, nil, HalfDone},
		{"rolled back and done all the same", nil, [][]int64{{10, 1, 7}, {11, 0, 0}}, [][]int64{{10, 7}}, Kept},
	} {
		q := &jobs{e: &Epoch{}, added: map[int64]*effort{}, efforts: append([]*effort{add, unsure}, c.did...)}
		for _, w := range []*effort{add, unsure, undone} {
			for _, id := range w.jobs {
				q.added[id] = w
			}
		}
		if got := kindsOf(q.judge(c.all, c.done)); got != c.wants {
			t.Errorf("%s: %q, want %q", c.name, got, c.wants)
		}
	}
}

func TestFamilies(t *testing.T) {
	const cascade, null = 0, 1
	ok := func(d deed) *deed { d.status = kv.OK; return &d }
	for _, c := range []struct {
		name    string
		deeds   []*deed
		parents []int64
		kids    map[int][][]int64 // by table: id, p
		want    string
	}{
		{"all there", nil, []int64{1, 2}, map[int][][]int64{cascade: {{10, 1}}, null: {{20, 1}}, restricted: {{30, 2}}}, ""},
		{"an orphan", []*deed{ok(deed{token: 5, deleted: []place{{-1, 1}}, freed: []int64{1}})}, []int64{2},
			map[int][][]int64{cascade: {{10, 1}}, null: {{20, -1}}, restricted: {{30, 2}}}, Orphan},
		{"gone with its parent", []*deed{ok(deed{token: 5, deleted: []place{{-1, 1}}, freed: []int64{1}})}, []int64{2},
			map[int][][]int64{null: {{20, -1}}, restricted: {{30, 2}}}, ""},
		{"a child that loses its parent stays", []*deed{ok(deed{token: 5, deleted: []place{{-1, 1}}, freed: []int64{1}})}, []int64{2},
			map[int][][]int64{restricted: {{30, 2}}}, Lost},
		{"a parent is gone that nobody deleted", nil, []int64{2}, map[int][][]int64{null: {{20, -1}}, restricted: {{30, 2}}}, Lost},
		{"a deletion is lost", []*deed{ok(deed{token: 5, deleted: []place{{restricted, 30}}})}, []int64{1, 2},
			map[int][][]int64{cascade: {{10, 1}}, null: {{20, 1}}, restricted: {{30, 2}}}, Lost},
		{"half of what is unknown", []*deed{{token: 5, status: kv.Info, born: []place{{-1, 3}, {-1, 4}}}}, []int64{1, 2, 3},
			map[int][][]int64{cascade: {{10, 1}}, null: {{20, 1}}, restricted: {{30, 2}}}, HalfDone},
		{"what was rolled back", []*deed{{token: 5, status: kv.Fail, born: []place{{-1, 3}}}}, []int64{1, 2, 3},
			map[int][][]int64{cascade: {{10, 1}}, null: {{20, 1}}, restricted: {{30, 2}}}, Kept},
	} {
		f := &families{e: &Epoch{}, points: map[place][]int64{{cascade, 10}: {1}, {null, 20}: {1}, {restricted, 30}: {2}}}
		f.deeds = append([]*deed{{status: kv.OK, born: []place{{-1, 1}, {-1, 2}, {cascade, 10}, {null, 20}, {restricted, 30}}}}, c.deeds...)
		var all [][]int64
		for _, p := range c.parents {
			all = append(all, []int64{p})
		}
		kids := make([][][]int64, len(children))
		for i := range kids {
			kids[i] = c.kids[i]
		}
		if got := kindsOf(f.judge(all, kids)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Counter 1 has no log, counter 2 has one.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		raises []*raise
		all    [][]int64 // k, n
		log    [][]int64 // k, token, d
		want   string
	}{
		{"sums", []*raise{{1, kv.OK, map[int64]int64{1: 3, 2: 4}}, {2, kv.OK, map[int64]int64{1: 2}}}, [][]int64{{1, 5}, {2, 4}}, [][]int64{{2, 1, 4}}, ""},
		{"an upsert is lost", []*raise{{1, kv.OK, map[int64]int64{1: 3}}, {2, kv.OK, map[int64]int64{1: 2}}}, [][]int64{{1, 3}}, nil, Lost},
		{"an upsert twice", []*raise{{1, kv.OK, map[int64]int64{1: 3}}}, [][]int64{{1, 6}}, nil, WrongSum},
		{"an unknown one, done", []*raise{{1, kv.OK, map[int64]int64{1: 3}}, {2, kv.Info, map[int64]int64{1: 2}}}, [][]int64{{1, 5}}, nil, ""},
		{"an unknown one, not done", []*raise{{1, kv.OK, map[int64]int64{1: 3}}, {2, kv.Info, map[int64]int64{1: 2}}}, [][]int64{{1, 3}}, nil, ""},
		{"one that failed", []*raise{{1, kv.Fail, map[int64]int64{1: 3}}}, [][]int64{{1, 3}}, nil, WrongSum},
		{"the counter without its log", []*raise{{1, kv.OK, map[int64]int64{2: 4}}}, [][]int64{{2, 4}}, nil, Lost + " " + WrongSum},
		{"the log of an unknown one tells that it committed", []*raise{{1, kv.Info, map[int64]int64{1: 3, 2: 4}}}, [][]int64{{2, 4}}, [][]int64{{2, 1, 4}}, Lost},
		{"no log of an unknown one tells that it did not", []*raise{{1, kv.Info, map[int64]int64{1: 3, 2: 4}}}, [][]int64{{1, 3}}, nil, WrongSum},
		{"a log that was rolled back", []*raise{{1, kv.Fail, map[int64]int64{2: 4}}}, [][]int64{{2, 4}}, [][]int64{{2, 1, 4}}, Kept + " " + WrongSum},
	} {
		s := &counts{e: &Epoch{first: 1}, raises: c.raises}
		if got := kindsOf(s.judge(c.all, c.log)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBranches(t *testing.T) {
	rows := func(ids ...int64) (out [][]int64) {
		for _, id := range ids {
			out = append(out, []int64{id, 0})
		}
		return out
	}
	for _, c := range []struct {
		name       string
		b          branch
		one, other [][]int64
		count      int64
		want       string
		owed       bool
	}{
		{"committed", branch{prepared: true, ended: true, sent: committed, k: 1}, rows(7), rows(7), 1, "", false},
		{"committed and lost", branch{prepared: true, ended: true, sent: committed}, nil, nil, 0, Lost, false},
		{"half of it", branch{prepared: true, ended: true, sent: committed}, rows(7), nil, 0, HalfDone, false},
		{"without its counter", branch{prepared: true, ended: true, sent: committed, k: 1}, rows(7), rows(7), 0, HalfDone, false},
		{"rolled back", branch{prepared: true, ended: true, sent: rolledBack}, nil, nil, 0, "", false},
		{"rolled back and there", branch{prepared: true, ended: true, sent: rolledBack}, rows(7), rows(7), 0, Kept, false},
		{"never prepared", branch{}, nil, nil, 0, "", false},
		{"never prepared and there", branch{}, rows(7), rows(7), 0, Kept, false},
		{"prepared, and its COMMIT was cut off", branch{prepared: true, sent: committed, cutOff: true}, nil, nil, 0, PreparedLost, true},
		{"nobody knows whether it was prepared", branch{sent: committed}, nil, nil, 0, "", false},
	} {
		c.b.ids = []int64{7}
		x := &twoPhase{e: &Epoch{}, all: []*branch{&c.b}}
		got, owed := x.judge(c.one, c.other, [][]int64{{1, c.count}})
		if kindsOf(got) != c.want || owed != c.owed {
			t.Errorf("%s: %q, owed %v, want %q, %v", c.name, kindsOf(got), owed, c.want, c.owed)
		}
	}
}

func TestDraws(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []*drew
		rows [][]int64 // id, token
		want string
	}{
		{"each once", []*drew{{1, kv.OK, fromAuto, []int64{7, 8}}}, [][]int64{{7, 1}, {8, 1}}, ""},
		{"one twice", []*drew{{1, kv.OK, fromAuto, []int64{7}}, {2, kv.Info, fromAuto, []int64{7}}}, [][]int64{{7, 1}, {7, 2}}, ValueTwice},
		{"one is lost", []*drew{{1, kv.OK, fromAuto, []int64{7, 8}}}, [][]int64{{7, 1}}, Lost},
		{"half of an unknown one", []*drew{{1, kv.Info, fromAuto, []int64{7, 8}}}, [][]int64{{7, 1}}, HalfDone},
		{"one was rolled back", []*drew{{1, kv.Fail, fromAuto, []int64{7}}}, [][]int64{{7, 1}}, Kept},
	} {
		s := &draws{all: c.all}
		if got := kindsOf(s.judge([len(sources)][][]int64{fromAuto: c.rows})); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	var v values
	for _, n := range []int64{1, 64, 1 << 16, 1<<16 + 1, 1 << 40} {
		if !v.add(fromAuto, n) || v.add(fromAuto, n) || !v.add(fromSequence, n) {
			t.Errorf("value %d is not new once", n)
		}
	}
}

// cells spells rows of numbers; "-" is NULL.
func cells(rows ...string) (out [][]history.Cell) {
	for _, r := range rows {
		var row []history.Cell
		for _, f := range strings.Fields(r) {
			row = append(row, history.Cell{Text: f, Null: f == "-"})
		}
		out = append(out, row)
	}
	return out
}

func TestAgree(t *testing.T) {
	table := cells("1 1 1 5 0", "2 1 2 6 0")
	for _, c := range []struct {
		name   string
		by     [][]history.Cell
		table  [][]history.Cell
		differ bool
	}{
		{"the same in another order", cells("2 1 2 6 0", "1 1 1 5 0"), table, false},
		{"an entry is missing", cells("1 1 1 5 0"), table, true},
		{"an entry of another value", cells("1 1 1 5 0", "2 1 3 6 0"), table, true},
		{"an entry twice", cells("1 1 1 5 0", "2 1 2 6 0", "2 1 2 6 0"), table, true},
		{"a value of the unique index twice", cells("1 1 1 5 0", "2 1 2 5 0"), cells("1 1 1 5 0", "2 1 2 5 0"), true},
	} {
		answers := [][][]history.Cell{c.table, c.by, c.table, c.table, c.table}
		if got := (&indexed{}).agree(answers); (len(got) > 0) != c.differ {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if len(twice(cells("1 0 0 1", "2 0 0 2"), "")) != 0 || len(twice(cells("1 0 0 1", "1 0 0 2"), "")) != 1 {
		t.Error("a row in two tables is not told")
	}
	for want, rows := range map[string][2][][]history.Cell{
		"":       {cells("1 9 2 7"), cells("1 2")},
		"source": {cells("1 9 2 8"), cells("1 2")},
		"trail":  {cells("1 9 2 7"), cells("1 1")},
	} {
		says, _ := auditOf(map[string][][]history.Cell{"source": rows[0], "mirror": cells("1 9 2 7"), "trail": rows[1]})
		if (len(says) > 0) != (want != "") || !strings.Contains(fmt.Sprint(says), want) {
			t.Errorf("%v: %v", rows, says)
		}
	}
}

// TestTrail: of many transactions a finding shows those that changed its rows.
func TestTrail(t *testing.T) {
	var l trail
	for i := range int64(2 * trailLength) {
		l.add(&Logged{From: -i, Statements: []Sentence{{keys: []int64{i % 4}, idle: i%8 != 0}}})
	}
	all := telling(l.of([]int64{0, 3}), []int64{0, 3})
	if len(all) != loggedMost || all[0].From >= all[1].From || all[0].From != -(2*trailLength-8) {
		t.Errorf("%d transactions, the first from %d", len(all), all[0].From)
	}
	for _, x := range all {
		if x.Statements[0].idle {
			t.Error("a transaction that changed nothing is among too many that did")
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		workload string
		server   history.Server
		want     string
	}{
		{"trigger", history.Server{DBMS: history.TiDB}, "TiDB has no triggers"},
		{"xa", history.Server{DBMS: history.TiDB}, "TiDB has no XA"},
		{"xa", history.Server{DBMS: history.PostgreSQL, Settings: map[string]string{"max_prepared_transactions": "0"}},
			"max_prepared_transactions=0"},
		{"xa", history.Server{DBMS: history.PostgreSQL, Settings: map[string]string{"max_prepared_transactions": "64"}}, ""},
		{"queue", history.Server{DBMS: history.TiDB}, ""},
	} {
		err := Find(c.workload).Refuses(c.server)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v", c.workload, c.server.DBMS, err)
		}
	}
}
