package campaign

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var twoLevels = []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}

// see marks patterns of two transactions as seen at a level, all but some.
func (p *patterns) see(level corpus.Level, but ...int) {
	for n := range catalog().short {
		p.of[level].seen[n] = !slices.Contains(but, n)
	}
}

func TestPatternsChooseTheUnseen(t *testing.T) {
	p := newPatterns(twoLevels)
	unseen := map[corpus.Level][]int{corpus.ReadCommitted: {7}, corpus.RepeatableRead: {3, 100}}
	for l, but := range unseen {
		p.see(l, but...)
	}
	for seed := range uint64(60) {
		a := p.choose(seed, 2)
		if n := catalog().at[a.pattern.Name()]; !slices.Contains(unseen[a.level], n) {
			t.Fatalf("%s was seen at %s", a.pattern.Name(), a.level.Short())
		}
	}
	for l, but := range unseen {
		for _, n := range but {
			if got, want := p.of[l].tried[n], 30/len(but); got != want {
				t.Errorf("pattern %d was tried %d times at %s, want %d", n, got, l.Short(), want)
			}
		}
	}
	p.see(corpus.ReadCommitted)
	p.see(corpus.RepeatableRead)
	free := map[string]bool{}
	for seed := range uint64(50) {
		free[p.choose(seed, 2).pattern.Name()] = true
	}
	if len(free) < 20 {
		t.Errorf("%d patterns are chosen where all were seen", len(free))
	}
}

// TestPatternsTryAllAlike: one that is never seen does not keep the others from their turn.
func TestPatternsTryAllAlike(t *testing.T) {
	p := newPatterns(twoLevels)
	const rounds = 3
	for seed := range uint64(rounds * 2 * catalog().short) {
		p.choose(seed, 2)
	}
	for _, l := range twoLevels {
		for n, tried := range p.of[l].tried {
			want := rounds
			if n >= catalog().short {
				want = 0 // it takes three transactions
			}
			if tried != want {
				t.Errorf("%s was tried %d times at %s, want %d", catalog().names[n], tried, l.Short(), want)
			}
		}
	}
}

// TestPatternsInVain: what is never seen does not take all turns for ever.
func TestPatternsInVain(t *testing.T) {
	p := newPatterns(twoLevels[:1])
	const never = 7
	p.see(corpus.ReadCommitted, never)
	tries := make([]int, catalog().short)
	for seed := range uint64(inVain + 4*catalog().short) {
		n := catalog().at[p.choose(seed, 2).pattern.Name()]
		if tries[n]++; seed < inVain && n != never {
			t.Fatalf("input %d aims at a pattern that was seen", seed)
		}
	}
	for n, tried := range tries {
		// 4 turns for each of the 126, of which the others take that of the one, too
		if want := 4; n != never && (tried < want || tried > want+1) || n == never && tried != inVain {
			t.Errorf("pattern %d was tried %d times", n, tried)
		}
	}
}

func TestPatternsOfThree(t *testing.T) {
	p := newPatterns(twoLevels)
	long := map[corpus.Level]int{}
	for seed := range uint64(800) {
		if a := p.choose(seed, 3+int(seed%2)); a.pattern.Transactions() == 3 {
			long[a.level]++
		}
	}
	for _, l := range twoLevels { // 800 * 150/256 / 2 = 234
		if long[l] < 200 || long[l] > 270 {
			t.Errorf("%d of 800 inputs aim at three transactions at %s", long[l], l.Short())
		}
	}
}

// TestPatternsOfSeed: the same seeds and sights give the same aims.
func TestPatternsOfSeed(t *testing.T) {
	aims := func(first uint64) (out []string) {
		p := newPatterns(twoLevels)
		for seed := range uint64(300) {
			a := p.choose(first+seed, 2+int(seed%3))
			out = append(out, a.text())
			if seed%3 == 0 {
				p.of[a.level].seen[catalog().at[a.pattern.Name()]] = true
			}
		}
		return out
	}
	if !slices.Equal(aims(1), aims(1)) {
		t.Error("one seed, two sequences")
	}
	if slices.Equal(aims(1), aims(1000)) {
		t.Error("two seeds, one sequence")
	}
}

func TestPatternsBesideEachOther(t *testing.T) {
	p := newPatterns(corpus.Levels)
	_, level := hermitageRun(t, "gsingle RC")
	w := weavingOf(t, "r1x w2x w2y c2 r1y c1", 2, 5, 6, 7, 8, 9)
	const workers, each = 4, 63
	var all sync.WaitGroup
	for worker := range workers {
		run, _ := hermitageRun(t, "gsingle RC") // as each worker has cases of its own
		all.Go(func() {
			for n := range each {
				p.choose(inputSeed(1, worker, n), 2)
				if n%21 == 0 {
					p.note(run, w)
				}
			}
		})
	}
	all.Wait()
	inputs := 0
	for _, l := range p.report() {
		inputs += l.Inputs
		if want := l.Level == level.Short(); (l.Seen == 1) != want {
			t.Errorf("%d patterns seen at %s", l.Seen, l.Level)
		}
	}
	if inputs != workers*each {
		t.Errorf("%d inputs, want %d", inputs, workers*each)
	}
}

func TestPatternsNote(t *testing.T) {
	p := newPatterns(twoLevels)
	w := weavingOf(t, "r1x w2x w2y c2 r1y c1", 2, 5, 6, 7, 8, 9)
	n := catalog().at[w.Pattern.Name()]
	for _, at := range []string{"RR", "RU", "RC"} { // RU is not among the levels
		r, _ := hermitageRun(t, "gsingle "+at)
		p.note(r, w)
		p.note(r, nil)
	}
	for _, l := range twoLevels {
		if want := l == corpus.ReadCommitted; p.of[l].seen[n] != want {
			t.Errorf("seen at %s: %t", l.Short(), !want)
		}
	}
	(*patterns)(nil).note(nil, w)
	if a := (*patterns)(nil).choose(1, 2); a != nil {
		t.Errorf("no patterns choose %s", a.text())
	}
}

// TestAimedInput: an input of a campaign gives one case that follows the chosen pattern,
// all of its sessions at the chosen level.
func TestAimedInput(t *testing.T) {
	c := &campaign{
		s: Settings{Conflict: mutate.Pattern, Seed: 1}, target: target.Through("", aMariaDB{}, nil),
		levels: corpus.Levels, patterns: newPatterns(corpus.Levels),
	}
	followed, long, at := 0, 0, map[corpus.Level]int{}
	const inputs = 160
	for n := range inputs {
		p, cases := c.input(0, n)
		if len(cases) != 1 || p.aim == nil {
			t.Fatalf("input %d: %d cases, aim %v", n, len(cases), p.aim)
		}
		for _, s := range cases[0].Sessions() {
			if l, _ := cases[0].LevelOf(s); l != p.aim.level {
				t.Errorf("input %d: tx%d is at %s, not %s", n, s, l, p.aim.level)
			}
		}
		if from := c.originOf(&p, 0, n, 0).Input; !strings.Contains(from, "pattern "+p.aim.pattern.Name()+" at "+p.aim.level.Short()) {
			t.Errorf("input %d: %s", n, from)
		}
		at[p.aim.level]++
		if p.weaving == nil {
			continue
		}
		followed++
		if p.weaving.Pattern != p.aim.pattern {
			t.Errorf("input %d: follows %s, not %s", n, p.weaving.Pattern.Name(), p.aim.pattern.Name())
		}
		if p.aim.pattern.Transactions() == 3 {
			long++
		}
	}
	if followed < inputs*8/10 || long == 0 {
		t.Errorf("%d of %d inputs follow their pattern, %d one of three", followed, inputs, long)
	}
	for _, l := range corpus.Levels {
		if at[l] < inputs/4-2 || at[l] > inputs/4+2 {
			t.Errorf("%d of %d inputs at %s", at[l], inputs, l.Short())
		}
	}
}

// TestAimIsKept: what an input aimed at is kept with its bytes, which alone do not decide
// the case, and goes on to what is made of them.
func TestAimIsKept(t *testing.T) {
	dir := t.TempDir()
	a := &aim{catalog().all[catalog().at["r1x w2x c2 w1x c1"]], corpus.ReadCommitted}
	if err := newGuide(t, dir, onFake).note(seen(t, 1213), &inputPlan{data: fresh(), variant: 7, aim: a}); err != nil {
		t.Fatal(err)
	}
	g := newGuide(t, dir, onFake)
	if got := g.entries[0].aim; got == nil || *got != *a {
		t.Errorf("aim%s, want%s", got.text(), a.text())
	}
	l := litter{begun: true, what: afresh, parent: g.entries[0]}
	if p := g.next(rand.New(rand.NewPCG(1, 1)), fresh, 1, &l); p.data == nil || p.aim == nil || *p.aim != *a {
		t.Errorf("of changed bytes: %+v", p)
	}
	c := targettest.Case(t, "-- pattern: w1x w2y\n"+targettest.DirtyRead)
	if _, err := aimOf(c); err == nil {
		t.Error("a pattern that is none is read")
	}
	if a, err := aimOf(targettest.Case(t, targettest.DirtyRead)); a != nil || err != nil {
		t.Errorf("no pattern: %v, %v", a, err)
	}
}

// TestAimNarrows: options of another strategy, or without the level, are left.
func TestAimNarrows(t *testing.T) {
	a := &aim{catalog().all[0], corpus.ReadCommitted}
	o := mutate.Options{Conflict: mutate.Mix, Levels: twoLevels}
	a.narrow(&o)
	if o.Pattern != nil || len(o.Levels) != 2 || o.Orders != 0 {
		t.Errorf("under another strategy: %+v", o)
	}
	o = mutate.Options{Conflict: mutate.Pattern, Levels: twoLevels[1:]}
	a.narrow(&o)
	if o.Pattern != a.pattern || !slices.Equal(o.Levels, twoLevels[1:]) {
		t.Errorf("without the level: %+v", o)
	}
}

// aMariaDB is a backend that only says what it is.
type aMariaDB struct{ harness.Wired }

func (aMariaDB) Server() history.Server { return history.Server{DBMS: history.MariaDB} }

func TestPatternsReport(t *testing.T) {
	p := newPatterns(twoLevels)
	p.of[corpus.ReadCommitted].seen[0], p.of[corpus.ReadCommitted].seen[5] = true, true
	p.choose(1, 2)
	text := func(r PatternsReport) string {
		var b strings.Builder
		r.WriteText(&b)
		return b.String()
	}
	r := p.report()
	if got, want := text(r), "patterns seen: RC 2 of 126, RR 0 of 126\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	q := newPatterns(twoLevels[:1])
	q.of[corpus.ReadCommitted].seen[5], q.of[corpus.ReadCommitted].seen[6] = true, true
	q.of[corpus.ReadCommitted].seen[catalog().short] = true
	q.of[corpus.ReadCommitted].inputs = [2]int{10, 4}
	both := r.merged(q.report())
	if got, want := text(both), "patterns seen: RC 3 of 126, RR 0 of 126; of three transactions: RC 1 of 3240, RR 0 of 3240\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := r[0].Inputs + r[1].Inputs; n != 1 || both[0].Inputs != r[0].Inputs+10 || len(r[0].Names) != 2 {
		t.Errorf("inputs %d and %d, %d names left", n, both[0].Inputs, len(r[0].Names))
	}
	if got := text(PatternsReport(nil).merged(nil)); got != "" {
		t.Errorf("of other campaigns: %q", got)
	}
	again := newPatterns(corpus.Levels)
	again.remember(both)
	if got := text(again.report()); !strings.Contains(got, "RU 0 of 126, RC 3 of 126") {
		t.Errorf("remembered: %s", got)
	}
	data, err := json.Marshal(&Report{Patterns: r})
	if err != nil || !strings.Contains(string(data), `"patterns":[{"level":"RC","seen":2,"of":126,`) {
		t.Errorf("JSON: %s, %v", data, err)
	}
}
