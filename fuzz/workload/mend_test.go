package workload

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// twoRoads is a workload that sells too much in two ways: with :how = 1 on line 5, with
// 2 on line 9. The values of :how say how often each is met.
func twoRoads(t *testing.T, how ...int) *workload.Workload {
	t.Helper()
	values := strings.Trim(strings.ReplaceAll(fmt.Sprint(how), " ", ", "), "[]")
	w, err := workload.Parse("roads.workload", []byte(`/* schema */ CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL);
INSERT INTO stock VALUES (1, 1), (2, 1);
/* transaction sell (:how one of (`+values+`)) */
/* unless :how = 1: skip */
SELECT n FROM stock WHERE id = 1 INTO :x;
/* unless :x >= 1: skip */
UPDATE stock SET n = n - 1 WHERE id = 1;
/* unless :how = 2: skip */
SELECT n FROM stock WHERE id = 2 INTO :y;
/* unless :y >= 1: skip */
UPDATE stock SET n = n - 1 WHERE id = 2;
/* invariant enough */ SELECT id FROM stock WHERE n < 0;`))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func linesOf(reads []string) []string {
	var out []string
	for _, r := range reads {
		line, _, _ := strings.Cut(r, ",")
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// TestOtherRoad: a FOR UPDATE that helps for the parameters that showed an anomaly first
// is not proposed where others show it in spite of it.
func TestOtherRoad(t *testing.T) {
	rare := append(slices.Repeat([]int{0}, 12), 1, 1, 1, 2)
	for _, target := range installed(t, "mariadb:11.8") {
		for _, x := range []struct {
			name  string
			how   []int
			cases int
			want  []string
		}{
			{"one road", []int{0, 1}, 200, []string{"line 5"}},
			{"two roads, one of them rare", rare, 600, []string{"line 5", "line 9"}},
		} {
			t.Run(x.name, func(t *testing.T) {
				b := backend(t, target)
				r, err := Run(t.Context(), twoRoads(t, x.how...), b, Settings{
					Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: x.cases, Explain: 2 * time.Minute, Seed: 2, Workers: 1, Tries: 40, Out: t.TempDir(),
				})
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(r.Findings, func(f *Finding) bool { return f.Kind == invariantKind("enough") })
				if i < 0 {
					t.Fatalf("nothing found in %d cases", r.Cases)
				}
				var out bytes.Buffer
				if err := r.WriteText(&out); err != nil {
					t.Fatal(err)
				}
				t.Log(out.String())
				if f := r.Findings[i]; !slices.Equal(linesOf(f.Mend), x.want) || f.MendRuns < f.NeededRuns {
					t.Errorf("proposed after %d of %d runs: %q, want %s", f.MendRuns, f.NeededRuns, f.Mend, x.want)
				}
				if len(r.Mended) != 1 || len(r.Mended[0].Runs) != 1 || len(r.Mended[0].Runs[0].Seen) > 0 {
					t.Errorf("the mended workload: %+v", r.Mended)
				}
			})
		}
	}
}

// begun is a campaign whose cases have run.
func begun(t *testing.T, target string, w *workload.Workload, tries int) *campaign {
	t.Helper()
	s := Settings{Target: target, Levels: []corpus.Level{corpus.ReadCommitted, corpus.Serializable}, Min: 2, Max: 2, Cases: 400, Seed: 1, Workers: 1, Tries: tries, Out: t.TempDir()}
	c := newCampaign(w, s, NewStage(w, open(t, target)), "roads.workload")
	c.smallest.sets = mutate.Sets(w, 2)
	c.reduction, c.endReduction = context.WithCancel(t.Context())
	t.Cleanup(c.endReduction)
	for i := range 50 {
		if err := c.input(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.queue) == 0 {
		t.Fatalf("nothing found in %d cases", c.report.Cases)
	}
	return c
}

// TestTooFewRuns: what was tried too rarely for how rare the anomaly is, is not proposed.
func TestTooFewRuns(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		c := begun(t, target, twoRoads(t, 0, 0, 0, 1), 1)
		for _, p := range slices.Clone(c.queue) {
			if p.a.kind == invariantKind("enough") {
				if err := c.explain(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.queue = nil
		if len(c.trials) != 1 {
			t.Fatalf("%d trials", len(c.trials))
		}
		trial := c.trials[0]
		f := trial.f
		trial.tell(c)
		if len(f.Mend) > 0 || len(f.MayMend) != 1 || f.MendRuns == 0 || f.MendRuns >= f.NeededRuns {
			t.Errorf("after %d of %d runs: %q, %q", f.MendRuns, f.NeededRuns, f.Mend, f.MayMend)
		}
		m := &Mended{}
		m.take(f)
		if text := string(workload.Print(m.workload(c.w))); !strings.Contains(text, "-- it does not have these") || !strings.Contains(text, "--   line 5, sell: SELECT") || strings.Contains(text, "\nSELECT n FROM stock WHERE id = 1 FOR UPDATE") {
			t.Errorf("the file has it, or says nothing of it:\n%s", text)
		}
		for next := c.due(); next != nil; next = c.due() {
			if err := next(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(linesOf(f.Mend), []string{"line 5"}) || len(f.MayMend) > 0 || f.Weakest != "SER" || f.MendRuns < f.NeededRuns {
			t.Errorf("in the end, after %d of %d runs: %q, %q, %q", f.MendRuns, f.NeededRuns, f.Mend, f.MayMend, f.Weakest)
		}
	}
}

// TestMendedRun: a mended workload that still shows something is mended further.
func TestMendedRun(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		c := begun(t, target, twoRoads(t, 1, 2), 10)
		reads := plainReads(c.w.Transaction("sell"))
		f := c.queue[0].f
		f.reads, f.Mend = reads[:1], []string{reads[0].String()}
		f.trial = &trial{f: f, small: shown{in: c.queue[0].in, outcome: c.queue[0].o}}
		m := &Mended{Level: "RC", level: corpus.ReadCommitted}
		m.take(f)
		if err := c.runMended(t.Context(), m, time.Now().Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
		t.Log(strings.Join(m.Told(), "\n"))
		if n := len(m.Runs); n != 2 || len(m.Runs[0].Seen) == 0 || !slices.Equal(linesOf(m.Runs[0].Added), []string{"line 9"}) || len(m.Runs[1].Seen) > 0 {
			t.Errorf("%+v", m.Runs)
		}
		if f.Kind == m.Runs[0].Seen[0].Kind && len(f.Mend) > 0 {
			t.Errorf("%s is still proposed for what it does not mend", f.Mend)
		}
	}
}

// TestNeeded: the rarer an anomaly, the more runs it takes to say that it is gone.
func TestNeeded(t *testing.T) {
	again, not := witness{tries: make([]*mutate.Input, 4), again: true}, witness{tries: make([]*mutate.Input, 4)}
	for _, x := range []struct {
		witnesses []witness
		rate      float64
		tries     int
		want      int
	}{
		{nil, 1, 10, 30},
		{nil, 1, 100, 100},
		{nil, 1. / 8, 10, 240},
		{[]witness{again, again, not}, 1. / 8, 10, 12 + 28*8},
		{slices.Repeat([]witness{again}, 20), 1. / 100, 10, 80 + 1000},
	} {
		if got := (&trial{witnesses: x.witnesses, rate: x.rate}).needed(x.tries); got != x.want {
			t.Errorf("%d witnesses, rate %.2f: %d runs, want %d", len(x.witnesses), x.rate, got, x.want)
		}
	}
}

// TestToldOfMended: what a report says of a FOR UPDATE and of the mended workload.
func TestToldOfMended(t *testing.T) {
	seen := func(expected bool) []MendedSeen {
		return []MendedSeen{{Transactions: []string{"a", "b"}, Kind: "invariant x", Seen: 1, Runs: 40, Expected: expected}}
	}
	for _, x := range []struct {
		runs []MendedRun
		want string
	}{
		{nil, "there was no time to run it"},
		{[]MendedRun{{Cases: 1, Seconds: 2}}, "this file was run at RC, 1 case in 2.0 s: nothing seen"},
		{[]MendedRun{{Cases: 90, Seconds: 2, Seen: seen(true)}}, "this file was run at RC, 90 cases in 2.0 s: it still shows\n  invariant x with a × b in 1 of 40 runs, which it does not mend"},
		{[]MendedRun{{Cases: 90, Seconds: 2, Seen: seen(false)}}, "this file was run at RC, 90 cases in 2.0 s: it still shows\n  invariant x with a × b in 1 of 40 runs\nno FOR UPDATE was found that helps, or there was no time to look for it"},
		{[]MendedRun{{Cases: 90, Seconds: 2, Seen: seen(false), Added: []string{"line 1"}}, {Cases: 80, Seconds: 2}}, "at first, without what was added later, it was run at RC, 90 cases in 2.0 s: it still shows\n  invariant x with a × b in 1 of 40 runs\nso FOR UPDATE was added on\n  line 1\nthen this file was run at RC, 80 cases in 2.0 s: nothing seen"},
	} {
		if got := strings.Join((&Mended{Level: "RC", Runs: x.runs}).Told(), "\n"); got != x.want {
			t.Errorf("%s\nwant\n%s", got, x.want)
		}
	}
	f := &Finding{Class: Isolation, Level: "RC", Reduced: true, MayMend: []string{"line 1"}, MendRuns: 1, MayBeWeakest: "RR", WeakestRuns: 2, NeededRuns: 300, OneIn: 30}
	r := &Report{Levels: []string{"RC"}, Findings: []*Finding{f}, Mended: []*Mended{{Level: "RC", File: "f", ForUpdate: []string{"line 2"}, Undecided: []string{"line 1"}, Left: []string{"g"}, NotMended: []string{"invariant y with a × b: no FOR UPDATE helps"}}}}
	var text, page bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ot seen at RR in 2 runs; 300 runs would be needed to tell, since at RC about 1 of 30 runs with new values shows it", "ot seen in 1 run with FOR UPDATE on", "ot proposed: 300 runs would be needed to tell, since without it about 1 of 30 runs with new values shows it",
		"the workload for RC with every FOR UPDATE that is proposed", "it does not have these, since they were tried in too few runs to tell whether they help\n", "  line 1\n", "invariant y with a × b: no FOR UPDATE helps", "there was no time to run it",
	} {
		if !strings.Contains(text.String(), want) || !strings.Contains(page.String(), want) {
			t.Errorf("no %s\n%s\n%s", want, text.String(), page.String())
		}
	}
}
