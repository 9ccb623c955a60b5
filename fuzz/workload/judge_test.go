package workload

import "testing"

// TestDifferingAnswersAreNamed: of the serial orders with the final state of a run, it is
// compared with the one that gives most of its answers, and only the others are named.
func TestDifferingAnswersAreNamed(t *testing.T) {
	call := func(end End, answers ...string) CallOutcome { return CallOutcome{End: end, Answers: answers} }
	run := func(final string, calls ...CallOutcome) *Outcome { return &Outcome{final: final, Calls: calls} }
	concurrent := run("same", call(Committed, `("22")`, `("11")`, "1 changed"), call(Committed, "1 changed"))
	for name, x := range map[string]struct {
		first, second *Outcome // of tx1, tx2 and of tx2, tx1
		want          string
	}{
		"the first is nearer": {
			run("same", call(Committed, `("22")`, `("0")`, "1 changed"), call(Committed, "1 changed")),
			run("same", call(Committed, "0 changed"), call(Committed, `("22")`, `("0")`, "1 changed")),
			`answer 2 of tx1 is ("11"), not ("0") (compared with the serial order tx1, then tx2, the nearest of those that lead to this final state)`,
		},
		"it leads elsewhere": {
			run("other", call(Committed, `("22")`, `("0")`, "1 changed"), call(Committed, "1 changed")),
			run("same", call(Committed, "0 changed"), call(Committed, `("22")`, "", "1 changed")),
			`answer 2 of tx1 is ("11"), not no row; answer 1 of tx2 is 1 changed, not 0 changed (compared with the serial order tx2, then tx1, the nearest of those that lead to this final state)`,
		},
		"it ends otherwise": {
			run("same", call(RolledBack, `("22")`, `("11")`), call(Committed, "1 changed")),
			run("other", call(Committed), call(Committed)),
			`answer 3 of tx1 is 1 changed, where the serial order does not run that statement; tx1 is committed, not rolled back (compared with the serial order tx1, then tx2, the nearest of those that lead to this final state)`,
		},
		"much differs": {
			run("same", call(RolledBack), call(RolledBack)),
			run("other", call(Committed), call(Committed)),
			`answer 1 of tx1 is ("22"), where the serial order does not run that statement; answer 2 of tx1 is ("11"), where the serial order does not run that statement; answer 3 of tx1 is 1 changed, where the serial order does not run that statement; tx1 is committed, not rolled back; and 2 more (compared with the serial order tx1, then tx2, the nearest of those that lead to this final state)`,
		},
		"an order explains it": {
			run("same", call(Committed, "0 changed"), call(Committed)),
			run("same", call(Committed, "1 changed"), call(Committed, `("22")`, `("11")`, "1 changed")),
			"",
		},
	} {
		refs := &serials{runs: map[string][]serialRun{"[0 1]": {{[]int{0, 1}, x.first}, {[]int{1, 0}, x.second}}}}
		a, err := refs.judge(t.Context(), concurrent)
		switch {
		case err != nil:
			t.Fatal(err)
		case x.want == "":
			if a != nil {
				t.Errorf("%s: %+v", name, a)
			}
		case a == nil || a.kind != AnswersKind || a.detail != x.want:
			t.Errorf("%s: %+v\nwant %s", name, a, x.want)
		}
	}
}
