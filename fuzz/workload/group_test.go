package workload

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// recordedReport is the report of a run that testdata holds, as it was before its findings were grouped.
func recordedReport(t *testing.T, file string) *Report {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.level, err = corpus.ParseLevel(f.Level); err != nil {
			t.Fatal(err)
		}
	}
	r.Groups, r.RedCells, r.dbms = nil, 0, history.MySQL
	return r
}

// TestSmallBankHasFourCauses: the red cells of a run of SmallBank on MySQL 9.7 at RR have four causes, the three lost
// updates of the transactions that set what they read, and the write skew of three transactions.
func TestSmallBankHasFourCauses(t *testing.T) {
	r := recordedReport(t, "testdata/smallbank-rr-mysql.json")
	r.group()
	if got := r.Summary(); got != "26 red cells, 4 causes" {
		t.Errorf("%s", got)
	}
	var all []string
	for i, want := range []struct{ title, smallest string }{
		{"lost update: amalgamate reads checking (line 29), which deposit-checking, another amalgamate or write-check then changes", "amalgamate × amalgamate"},
		{"lost update: write-check reads checking (line 37), which deposit-checking, amalgamate or another write-check then changes", "amalgamate × write-check"},
		{"lost update: transact-savings reads savings (line 22), which another transact-savings or amalgamate then changes", "transact-savings × amalgamate"},
		{"write skew: balance reads checking (line 15), which write-check then changes; write-check reads savings (line 36), which transact-savings then changes", "balance × transact-savings × write-check"},
	} {
		if i >= len(r.Groups) {
			t.Fatalf("%d groups", len(r.Groups))
		}
		g := r.Groups[i]
		if g.Title != want.title || strings.Join(g.list[0].Transactions, " × ") != want.smallest || g.Number != i+1 {
			t.Errorf("%d: %s, %v\nwant %s, %s", g.Number, g.Title, g.list[0].Transactions, want.title, want.smallest)
		}
		for _, f := range g.list[1:] {
			if g.list[0].smaller(f) >= 0 {
				t.Errorf("%d: %s is smaller than the first", g.Number, f.ID)
			}
		}
		all = append(all, g.Findings...)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != len(r.Findings) || n != len(all) {
		t.Errorf("%d findings in groups, %d different ones, %d in all", len(all), n, len(r.Findings))
	}
	for _, c := range r.Cells {
		in := 0
		for _, g := range r.Groups {
			if slices.ContainsFunc(g.Cells, func(x GroupCell) bool { return x.Level == c.Level && slices.Equal(x.Transactions, c.Transactions) }) {
				in++
			}
		}
		if red := len(c.Anomalies)+len(c.Findings) > 0; red != (in > 0) {
			t.Errorf("%v at %s is in %d groups", c.Transactions, c.Level, in)
		}
	}
}

// TestGroupsOfOneCause: what makes two findings one cause, and in which order causes stand.
func TestGroupsOfOneCause(t *testing.T) {
	stale := func(transaction string, line int, by string) Conflict {
		return Conflict{Stale, Actor{transaction, line, "SELECT"}, "t", []Actor{{by, 9, "UPDATE"}}}
	}
	lost := func(id string, kind Kind, level corpus.Level, statements int, names string, c ...Conflict) *Finding {
		return &Finding{ID: id, Class: Isolation, Kind: kind, Anomaly: "lost update (P4)", NamedBy: ByGraph, Level: level.Short(), level: level, Statements: statements,
			Transactions: strings.Fields(names), Reduced: true, Conflicts: c}
	}
	another := lost("skew", StateKind, corpus.ReadCommitted, 4, "a b", stale("a", 3, "b"))
	another.Anomaly = "write skew (G2-item); lost update (P4)"
	unexplained := &Finding{ID: "late", Class: Isolation, Kind: StateKind, Level: "RC", level: corpus.ReadCommitted, Transactions: []string{"a", "a", "b"}, Statements: 2}
	for _, x := range []struct {
		name string
		list []*Finding
		want string
	}{
		{"other transactions that come in between, other kinds, other levels", []*Finding{
			lost("3", AnswersKind, corpus.ReadCommitted, 4, "a b", stale("a", 3, "b")), lost("2", StateKind, corpus.RepeatableRead, 3, "a c", stale("a", 3, "c")), lost("1", AnswersKind, corpus.RepeatableRead, 3, "a c", stale("a", 3, "c")),
		}, "2 1 3"},
		{"another statement", []*Finding{lost("1", StateKind, corpus.ReadCommitted, 4, "a b", stale("a", 3, "b")), lost("2", StateKind, corpus.ReadCommitted, 3, "a b", stale("b", 7, "a"))}, "2|1"},
		{"another name", []*Finding{lost("1", StateKind, corpus.ReadCommitted, 4, "a b", stale("a", 3, "b")), another}, "skew|1"},
		{"grave kinds come first", []*Finding{lost("1", AnswersKind, corpus.ReadCommitted, 2, "a b", stale("a", 3, "b")), lost("2", StateKind, corpus.ReadCommitted, 3, "a b", stale("a", 4, "b")), lost("3", "invariant x", corpus.ReadCommitted, 9, "a b", stale("a", 5, "b"))}, "3|2|1"},
		{"few transactions come before few statements", []*Finding{lost("1", StateKind, corpus.ReadCommitted, 2, "a b b", stale("a", 3, "b")), lost("2", StateKind, corpus.ReadCommitted, 3, "a b", stale("a", 3, "b"))}, "2 1"},
		{"what was not explained comes last", []*Finding{unexplained, lost("1", StateKind, corpus.ReadCommitted, 3, "a b c", stale("a", 3, "b"))}, "late|1"},
		{"the server's and the application's come first", []*Finding{lost("1", "invariant x", corpus.ReadCommitted, 3, "a b", stale("a", 3, "b")),
			{ID: "app", Class: Application, Kind: "invariant x", Transactions: []string{"a"}}, {ID: "app2", Class: Application, Kind: "invariant x", Transactions: []string{"a", "b"}}, {ID: "server", Class: Server, Kind: "lost-write", Transactions: []string{"a"}}}, "server|app app2|1"},
	} {
		r := &Report{Levels: []string{"RC", "RR"}, Findings: x.list}
		r.group()
		var got []string
		for _, g := range r.Groups {
			got = append(got, strings.Join(g.Findings, " "))
		}
		if text := strings.Join(got, "|"); text != x.want {
			t.Errorf("%s: %s, want %s", x.name, text, x.want)
		}
	}
}

// TestAdvice: a sentence says what was tried, in how many runs, and no more.
func TestAdvice(t *testing.T) {
	reads := []read{{transaction: "pay", line: 3, tables: "account"}, {transaction: "pay", line: 4, tables: "limits"}, {transaction: "take", line: 9, tables: "account"}}
	every := "with FOR UPDATE on every SELECT of these transactions it is seen, too"
	for _, x := range []struct {
		f    Finding
		want string
	}{
		{Finding{Reduced: true, Mend: []string{"x"}, reads: reads[:1], MendRuns: 120}, "Lock what pay reads from account in line 3 (FOR UPDATE): not seen in 120 runs then."},
		{Finding{Reduced: true, Mend: []string{"x"}, reads: reads, MendRuns: 120, MendAborts: 7, Weakest: "SER", WeakestRuns: 50},
			"Lock what pay reads from account in line 3, from limits in line 4 and take from account in line 9 (FOR UPDATE): not seen in 120 runs then (7 of them with an abort, such as a deadlock). Or use SERIALIZABLE: not seen in 50 runs there."},
		{Finding{Reduced: true, MayMend: []string{"x"}, reads: reads[:1], MendRuns: 12, NeededRuns: 300, OneIn: 10},
			"To lock what pay reads from account in line 3 (FOR UPDATE) may help: not seen in 12 runs then, but 300 runs would be needed to tell, since without it about 1 of 10 runs with new values shows it."},
		{Finding{Reduced: true, MendFailed: every, Weakest: "RR", WeakestRuns: 50, WeakestAborts: 1}, "Use REPEATABLE READ: not seen in 50 runs there (1 of them with an abort, such as a deadlock)."},
		{Finding{Reduced: true, MendFailed: every, MayBeWeakest: "RR", WeakestRuns: 5, NeededRuns: 90, OneIn: 3, Level: "RC"},
			"Use REPEATABLE READ, which may help: not seen in 5 runs there, but 90 runs would be needed to tell, since at RC about 1 of 3 runs with new values shows it."},
		{Finding{Reduced: true, MendFailed: every}, "No lock is known that mends it: " + every + "."},
		{Finding{Reduced: true, MendFailed: noTime}, "No lock is known that mends it: there was no time to try it."},
		{Finding{Reduced: true}, "What mends it is not known: no FOR UPDATE was tried."},
		{Finding{}, "What mends it is not known: there was no time to try."},
		{Finding{Class: Application}, "Change the transactions themselves: they break this one after the other, too, so neither a lock nor a level helps."},
		{Finding{Class: Server}, "The server answered wrong: nothing in the transactions is to be changed for it."},
	} {
		if x.f.Class == "" {
			x.f.Class = Isolation
		}
		if got := x.f.advice(); got != x.want {
			t.Errorf("%s\nwant %s", got, x.want)
		}
	}
}

// TestAdviceOfGroup: what is proposed comes first, with the finding that it is for if that is not the smallest; what
// that mends as well is not said again.
func TestAdviceOfGroup(t *testing.T) {
	a, b := read{transaction: "pay", line: 3, tables: "account"}, read{transaction: "take", line: 9, tables: "account"}
	f := func(id string, statements, runs int, mends bool, reads ...read) *Finding {
		f := &Finding{ID: id, Class: Isolation, Kind: StateKind, Anomaly: "lost update (P4)", Level: "RC", level: corpus.ReadCommitted, Statements: statements, Transactions: []string{"pay", id}, Reduced: true, reads: reads, MendRuns: runs,
			Conflicts: []Conflict{{Stale, Actor{"pay", 3, "SELECT"}, "account", []Actor{{id, 1, "UPDATE"}}}}}
		if mends {
			f.Mend = []string{"x"}
		} else {
			f.MayMend = []string{"x"}
		}
		return f
	}
	five := f("five", 3, 70, true, a)
	five.Level, five.level = "RU", corpus.ReadUncommitted
	r := &Report{Levels: []string{"RU", "RC"}, Findings: []*Finding{five, f("one", 2, 10, false, a), f("two", 3, 200, true, a), f("three", 4, 100, true, a, b), f("four", 5, 100, true, b)}}
	r.group()
	if len(r.Groups) != 1 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	g := r.Groups[0]
	var got []string
	for _, x := range g.Advice {
		got = append(got, strings.Join(x.Findings, " "))
	}
	if text := strings.Join(got, "|"); text != "two|five|three" || g.Advice[1].Text != "The same FOR UPDATE: not seen in 70 runs then." {
		t.Errorf("advice for %s: %+v", text, g.Advice)
	}
	if got, want := g.FirstAdvice(), "For final state of no serial order with pay × two at RC: Lock what pay reads from account in line 3 (FOR UPDATE): not seen in 200 runs then."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestPageOfGroups: each cause is a part of the page, with its smallest finding, the change and the snippets; each other
// finding is there, folded. Every link leads to something, and no name stands twice.
func TestPageOfGroups(t *testing.T) {
	r := recordedReport(t, "testdata/smallbank-rr-mysql.json")
	text, err := os.ReadFile("../../corpus/workloads/smallbank.workload")
	if err != nil {
		t.Fatal(err)
	}
	if r.w, err = workload.Parse("smallbank.workload", text); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		for _, x := range append(slices.Clone(f.Mend), f.MayMend...) {
			for _, txn := range r.w.Transactions {
				for _, y := range plainReads(txn) {
					if y.String() == x {
						f.reads = append(f.reads, y)
					}
				}
			}
		}
	}
	var page, report bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTextWith(&report, []string{"django"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<strong>26 red cells, 4 causes.</strong>", `<span class="ins">&#43;SELECT bal FROM savings WHERE customer = :n INTO :a FOR UPDATE;</span>`, "<summary>In Rails</summary>", "Savings.lock.find_by!(customer: n)",
		`<a href="https://docs.djangoproject.com/`, ">1: lost update</a>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page.String(), "<script") {
		t.Error("the page has a script")
	}
	anchors := map[string]int{}
	for _, part := range strings.Split(page.String(), ` id="`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		if anchors[id]++; anchors[id] > 1 {
			t.Errorf("%s stands twice", id)
		}
	}
	for _, part := range strings.Split(page.String(), `href="#`)[1:] {
		if id, _, _ := strings.Cut(part, `"`); anchors[id] == 0 {
			t.Errorf("a link leads to %s, which is not there", id)
		}
	}
	for _, f := range r.Findings {
		if anchors[f.ID] != 1 {
			t.Errorf("finding %s is not on the page", f.ID)
		}
		if !strings.Contains(report.String(), f.ID) {
			t.Errorf("finding %s is not in the report", f.ID)
		}
	}
	if head, _, _ := strings.Cut(report.String(), "┌"); !strings.Contains(head, "26 red cells, 4 causes") || !strings.Contains(head, "     Lock what ") || strings.Count(head, "\n") > 20 {
		t.Errorf("above the table stands\n%s", head)
	}
	if n := strings.Count(report.String(), "select_for_update()"); n == 0 || strings.Contains(report.String(), "find_by!") {
		t.Errorf("%d snippets of Django, or some of Rails", n)
	}
}
