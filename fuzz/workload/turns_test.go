package workload

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// unrun is a campaign without a server.
func unrun(t *testing.T, w *workload.Workload, least, most int) *campaign {
	t.Helper()
	c := &campaign{
		Settings: Settings{Levels: corpus.Levels, Min: least, Max: most, Out: t.TempDir()},
		w:        w, stage: &Stage{Pool: &harness.Pool{}}, begun: time.Now(), cells: map[string]*Cell{}, known: map[string]*Finding{},
		report: &Report{Findings: []*Finding{}, Levels: []string{"RU", "RC", "RR", "SER"}},
	}
	c.addSets()
	c.addDangerous(true)
	return c
}

// TestTurns: which sets run how often at which level, by what was seen.
func TestTurns(t *testing.T) {
	const dangerous = "balance × transact-savings × write-check"
	type anomaly struct {
		set, level string
		n          int
	}
	w := load(t, "smallbank")
	for name, x := range map[string]struct {
		seen      []anomaly
		set       string // and the levels at which it has more, fewer or as many turns than others
		more, few string
	}{
		"nothing seen":                 {nil, dangerous, "RU RC RR", ""},
		"another set is not":           {nil, "deposit-checking × deposit-checking × deposit-checking", "", ""},
		"a pair shows it":              {[]anomaly{{"balance × write-check", "RC", 1}}, dangerous, "RU RR", ""},
		"pairs show it often":          {[]anomaly{{"balance × write-check", "RC", 5}, {"transact-savings × write-check", "RU", 7}}, dangerous, "RR", "RU RC"},
		"it was seen often":            {[]anomaly{{dangerous, "RR", 5}}, dangerous, "RU RC", "RR"},
		"it was seen":                  {[]anomaly{{dangerous, "RR", 4}}, dangerous, "RU RC RR", ""},
		"a pair was seen often":        {[]anomaly{{"balance × write-check", "RC", 5}}, "balance × write-check", "", "RC"},
		"at every level":               {[]anomaly{{"balance × write-check", "RU", 5}, {"balance × write-check", "RC", 5}, {"balance × write-check", "RR", 5}, {"balance × write-check", "SER", 5}}, "balance × write-check", "", "RU RC RR SER"},
		"a pair that is no part of it": {[]anomaly{{"amalgamate × write-check", "RR", 9}}, dangerous, "RU RC RR", ""},
	} {
		c := unrun(t, w, 2, 3)
		for _, a := range x.seen {
			for _, l := range corpus.Levels {
				if l.Short() == a.level {
					c.cell(strings.Split(a.set, " × "), l).Anomalies[AnswersKind] = a.n
				}
			}
		}
		got := map[string]map[string]int{}
		const rounds = 2520
		for i := range rounds {
			turn := c.turn(i)
			set := mutate.Names(turn.set)
			if got[set] == nil {
				got[set] = map[string]int{}
			}
			for _, l := range turn.levels {
				got[set][l.Short()] += 12 * turn.orders / len(turn.levels) // a run is at one level
			}
		}
		if n := len(got); n != len(c.smallest.sets)+len(c.larger.sets) {
			t.Errorf("%s: %d sets had a turn", name, n)
		}
		usual := got["deposit-checking × deposit-checking × deposit-checking"]["SER"]
		if len(strings.Split(x.set, " × ")) == 2 {
			usual = got["deposit-checking × deposit-checking"]["SER"]
		}
		var more, few []string
		for _, l := range c.report.Levels {
			switch n := got[x.set][l]; {
			case n > 2*usual:
				more = append(more, l)
			case n == 0:
				t.Errorf("%s: no run at %s", name, l)
			case n < usual*2/3:
				few = append(few, l)
			}
		}
		if strings.Join(more, " ") != x.more || strings.Join(few, " ") != x.few {
			t.Errorf("%s: more at %q, fewer at %q of %v, usual %d", name, more, few, got[x.set], usual)
		}
	}
}

// TestFinish: the table, the list of findings and the list of sets without a run agree.
func TestFinish(t *testing.T) {
	w, err := workload.Parse("w.workload", []byte(`/* schema */ CREATE TABLE t (x INT);
/* transaction a () */ UPDATE t SET x = 1;
/* transaction b () */ UPDATE t SET x = 2;`))
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		set   string
		kind  Kind
		level corpus.Level
	}
	const rc, rr = corpus.ReadCommitted, corpus.RepeatableRead
	for name, x := range map[string]struct {
		cells []seen // with an anomaly, in 7 runs each
		found []seen // findings, as they were claimed
		want  []string
		text  []string // of the cells, by set and level
	}{
		"a pair stands for three": {
			[]seen{{"a × b", StateKind, rc}, {"a × a × b", StateKind, rc}, {"a × a × b", StateKind, rr}},
			[]seen{{"a × a × b", StateKind, rc}, {"a × b", StateKind, rc}, {"a × a × b", StateKind, rr}},
			[]string{"a × b at RC", "a × a × b at RR"},
			[]string{"a × b at RC: final state of no serial order: 1|in 7 runs", "a × a × b at RC: final state of no serial order: 1, as a × b|in 7 runs", "a × a × b at RR: final state of no serial order: 1|in 7 runs"},
		},
		"not of another kind": {
			[]seen{{"a × b", AnswersKind, rc}, {"a × a × b", StateKind, rc}},
			[]seen{{"a × a × b", StateKind, rc}, {"a × b", AnswersKind, rc}},
			[]string{"a × b at RC", "a × a × b at RC"}, nil,
		},
		"nor of other transactions": {
			[]seen{{"b × b", StateKind, rc}, {"a × a × b", StateKind, rc}},
			[]seen{{"a × a × b", StateKind, rc}, {"b × b", StateKind, rc}},
			[]string{"b × b at RC", "a × a × b at RC"}, nil,
		},
		"three were made two": {
			[]seen{{"a × a × b", StateKind, rc}},
			[]seen{{"a × b", StateKind, rc}},
			[]string{"a × b at RC"},
			[]string{"a × b at RC: final state of no serial order: in a larger set that was made small", "a × a × b at RC: final state of no serial order: 1, as a × b|in 7 runs"},
		},
	} {
		c := unrun(t, w, 2, 3)
		for _, s := range x.cells {
			cell := c.cell(strings.Split(s.set, " × "), s.level)
			cell.Runs, cell.Anomalies[s.kind] = 7, 1
		}
		for i, s := range x.found {
			f, fresh := c.claim(Isolation, s.kind, strings.Split(s.set, " × "), s.level, float64(i))
			f.File = filepath.Join(c.Out, f.ID)
			if err := os.WriteFile(f.File, nil, 0o600); err != nil || !fresh {
				t.Fatal(err, fresh)
			}
			c.report.Findings = append(c.report.Findings, f)
		}
		c.finish()
		var got, texts []string
		for _, f := range c.report.Findings {
			got = append(got, strings.Join(f.Transactions, " × ")+" at "+f.Level)
			if _, err := os.Stat(f.File); err != nil {
				t.Error(err)
			}
		}
		for _, cell := range c.report.Cells {
			texts = append(texts, strings.Join(cell.Transactions, " × ")+" at "+cell.Level+": "+strings.ReplaceAll(c.report.cellText(cell.Transactions, cell.Level, true), "\n", "|"))
			for k := range cell.Anomalies {
				if len(cell.Findings) == 0 && cell.As[k] == "" {
					t.Errorf("%s: %v at %s has no finding and does not say why", name, cell.Transactions, cell.Level)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(x.want)
		if !slices.Equal(got, x.want) || c.failed != nil {
			t.Errorf("%s: %q, want %q; %v", name, got, x.want, c.failed)
		}
		if left, err := os.ReadDir(c.Out); err != nil || len(left) != len(got) {
			t.Errorf("%s: %d files for %d findings, %v", name, len(left), len(got), err)
		}
		if x.text != nil && !slices.Equal(texts, x.text) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(texts, "\n"), strings.Join(x.text, "\n"))
		}
		if ran := len(x.cells); c.report.Sets != 7 || len(c.report.NotRun) > 7-1 || len(c.report.NotRun) < 7-ran {
			t.Errorf("%s: %d of %d sets not run", name, len(c.report.NotRun), c.report.Sets)
		}
	}
}

// TestPlurals: one is no plural.
func TestPlurals(t *testing.T) {
	for n, want := range map[int]string{0: "0 findings", 1: "1 finding", 2: "2 findings"} {
		if got := spelling.Count(n, "finding"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestProgress: what the line of progress counts does not go down, though findings do.
func TestProgress(t *testing.T) {
	c := unrun(t, load(t, "bank"), 2, 2)
	c.report.Cases, c.report.Findings = 1, []*Finding{{}}
	if got := c.progress(); got != "1 case, 1 finding" {
		t.Error(got)
	}
	c.queue, c.explained, c.report.Findings = make([]*pending, 3), 2, nil
	if got := c.progress(); got != "2 of 5 findings explained" {
		t.Error(got)
	}
}

// TestElapsed: nothing is first seen behind the end of the cases.
func TestElapsed(t *testing.T) {
	c := unrun(t, load(t, "bank"), 2, 2)
	c.begun = time.Now().Add(-time.Hour)
	if c.Duration = time.Minute; c.elapsed() != 60 {
		t.Errorf("%f s", c.elapsed())
	}
	if c.Duration = 0; c.elapsed() < 3600 {
		t.Errorf("%f s", c.elapsed())
	}
}

// TestNotRunText names a few.
func TestNotRunText(t *testing.T) {
	r := &Report{Sets: 1, NotRun: [][]string{{"a", "b"}}}
	if got, want := r.NotRunText(), "never run: 1 of 1 set of transactions: a × b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = &Report{Sets: 20, NotRun: slices.Repeat([][]string{{"a", "a"}}, 7)}
	if got, want := r.NotRunText(), "never run: 7 of 20 sets of transactions: a × a, a × a, a × a, a × a, a × a, and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Report{Sets: 3}).NotRunText(); got != "" {
		t.Error(got)
	}
}

// TestThreeUnderSnapshotIsolation: SmallBank's anomaly of three transactions is met among
// all sets of two and three.
func TestThreeUnderSnapshotIsolation(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
		r, err := Run(t.Context(), load(t, "smallbank"), b, Settings{
			Target: target, Levels: []corpus.Level{corpus.RepeatableRead}, Min: 2, Max: 3, Cases: 1500, Duration: time.Minute, Explain: time.Nanosecond, Seed: 3, Workers: 2, Out: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		cell := r.cell([]string{"balance", "transact-savings", "write-check"}, "RR")
		if cell == nil || cell.Anomalies[AnswersKind] == 0 {
			t.Fatalf("not seen: %+v", cell)
		}
		for _, f := range r.Findings {
			if f.FirstSeen > 60 {
				t.Errorf("first seen after %f s of 60", f.FirstSeen)
			}
		}
		t.Log(cell.Runs, slices.Collect(maps.Values(cell.Anomalies)), r.Cases, r.Seconds)
	}
}

// TestInvariantsComeFirst: broken invariants come before final states, and these before
// answers, in the report and in what is explained while there is time; within a kind the
// order is that of the names, or that of the numbers of transactions and the levels.
func TestInvariantsComeFirst(t *testing.T) {
	const rc, rr = corpus.ReadCommitted, corpus.RepeatableRead
	c := unrun(t, load(t, "smallbank"), 2, 3)
	c.reduction = t.Context()
	pair, three := []string{"balance", "amalgamate"}, []string{"balance", "amalgamate", "write-check"}
	for _, x := range []struct {
		kind  Kind
		names []string
		level corpus.Level
	}{{AnswersKind, pair, rr}, {StateKind, pair, rc}, {invariantKind("x"), three, rr}, {invariantKind("x"), pair, rc}, {invariantKind("x"), pair, rr}} {
		f, _ := c.claim(Isolation, x.kind, x.names, x.level, 1)
		c.report.Findings = append(c.report.Findings, f)
		c.queue = append(c.queue, &pending{f: f, in: &mutate.Input{Calls: make([]mutate.Call, len(x.names))}, a: &anomaly{kind: x.kind}, level: x.level})
	}
	told := func(f *Finding) string { return fmt.Sprintf("%s of %d at %s", f.Kind, len(f.Transactions), f.Level) }
	var explained []string
	for len(c.queue) > 0 {
		left := slices.Clone(c.queue)
		if c.due() == nil {
			t.Fatal("nothing is due")
		}
		for _, p := range left {
			if !slices.Contains(c.queue, p) {
				explained = append(explained, told(p.f))
			}
		}
	}
	if want := []string{"invariant x of 2 at RR", "invariant x of 2 at RC", "invariant x of 3 at RR", "final state of no serial order of 2 at RC", "answers of no serial order of 2 at RR"}; !slices.Equal(explained, want) {
		t.Errorf("explained %q, want %q", explained, want)
	}
	c.finish()
	var listed []Kind
	for i, f := range c.report.Findings {
		listed = append(listed, f.Kind)
		if i > 0 && f.Kind == c.report.Findings[i-1].Kind && f.ID < c.report.Findings[i-1].ID {
			t.Errorf("%s is behind %s", f.ID, c.report.Findings[i-1].ID)
		}
	}
	if !slices.IsSortedFunc(listed, func(a, b Kind) int { return a.rank() - b.rank() }) || len(listed) != 4 { // the three add nothing to the pair
		t.Errorf("listed %q", listed)
	}
}

// TestTrialsOfInvariants: a long trial of a broken invariant takes turns with findings that
// matter less, and leaves out none that matters more.
func TestTrialsOfInvariants(t *testing.T) {
	c := unrun(t, load(t, "smallbank"), 2, 3)
	c.reduction, c.Tries = t.Context(), 1
	for range 3 {
		f, _ := c.claim(Isolation, AnswersKind, []string{"balance", "amalgamate"}, corpus.RepeatableRead, 1)
		c.queue = append(c.queue, &pending{f: f, in: &mutate.Input{Calls: make([]mutate.Call, 2)}, a: &anomaly{kind: AnswersKind}, level: corpus.RepeatableRead})
	}
	long := func(k Kind) *trial {
		return &trial{f: &Finding{Kind: k}, rate: 1e-6, mends: search{ways: []way{{}}}}
	}
	names := map[*trial]string{long(AnswersKind): "answers", long(invariantKind("x")): "invariant"}
	c.trials = slices.Collect(maps.Keys(names))
	var got []string
	for len(c.queue)+len(c.trials) > 0 {
		before := slices.Clone(c.trials)
		if c.due() == nil {
			t.Fatal("nothing is due")
		}
		what := "finding"
		for _, x := range before {
			if !slices.Contains(c.trials, x) {
				what = names[x]
			}
		}
		got = append(got, what)
	}
	if want := []string{"invariant", "finding", "finding", "finding", "answers"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTurnsOfMended: of a mended workload the sets that look dangerous with its locks have
// half of the turns, if there are any.
func TestTurnsOfMended(t *testing.T) {
	w := load(t, "smallbank")
	c := unrun(t, w, 2, 3)
	c.mends = true
	mine := 0
	const rounds = 600
	for i := range rounds {
		if name := mutate.Names(c.turn(i).set); name == "balance × transact-savings × write-check" || name == "balance × amalgamate × write-check" {
			mine++
		}
	}
	if mine < rounds/2 {
		t.Errorf("%d of %d turns", mine, rounds)
	}
	c.dangerous.sets = nil
	for i := range rounds {
		c.turn(i)
	}
}
