package campaign

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const onFake = "tidb 1.0"

// seen is a run of a case that ended in an error, which is its behaviour.
func seen(t *testing.T, code uint16) *target.Trial {
	t.Helper()
	c := targettest.Case(t, targettest.DirtyRead)
	r := &target.Trial{Case: c, Levels: target.LevelsFor(c, corpus.ReadCommitted), Verdict: oracle.Verdict{Outcome: oracle.OK}}
	r.History = &history.History{Levels: r.Levels}
	for i, l := range c.Steps {
		r.History.Stmts = append(r.History.Stmts, history.Stmt{Line: i, Session: l.Session, Return: 1})
	}
	r.History.Stmts[2].Result.Err = &history.Error{Code: code}
	return r
}

func fresh() []byte { return mutate.InputOf(3, mutate.InputLen) }

func newGuide(t *testing.T, dir, on string) *guide {
	t.Helper()
	g, err := openGuide(dir, on)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuideKeepsWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	g := newGuide(t, dir, onFake)
	for _, code := range []uint16{1213, 1213, 1205, 1213} {
		if err := g.note(seen(t, code), &inputPlan{data: []byte{byte(code)}, variant: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.report(); got.Inputs != 2 {
		t.Errorf("%d inputs kept of four runs with two behaviours", got.Inputs)
	}
	again := newGuide(t, dir, onFake)
	if len(again.waiting) > 0 || len(again.entries) != 2 {
		t.Fatalf("%d entries, %d waiting", len(again.entries), len(again.waiting))
	}
	e := again.entries[0]
	if e.variant != 7 || len(e.data) != 1 || len(e.rarest) == 0 {
		t.Errorf("entry %+v", e)
	}
	if l, ok := e.c.LevelOf(1); !ok || l != corpus.ReadCommitted {
		t.Error("the level is lost")
	}
	for _, k := range e.rarest {
		if again.seen[k] == 0 {
			t.Errorf("class %x is forgotten", k)
		}
	}
}

// What was seen on another server has to be seen here first, as it is.
func TestGuideRunsForeignInputsFirst(t *testing.T) {
	dir := t.TempDir()
	if err := newGuide(t, dir, "mysql 9.7.0").note(seen(t, 1213), &inputPlan{}); err != nil {
		t.Fatal(err)
	}
	g := newGuide(t, dir, onFake)
	r := rand.New(rand.NewPCG(1, 1))
	if p := g.next(r, fresh, 0, new(litter)); !p.again || p.parent == nil {
		t.Errorf("plan %+v", p)
	}
	if p := g.next(r, fresh, 1, new(litter)); p.again || p.parent != nil {
		t.Errorf("the same again: %+v", p)
	}
}

func TestGuideChoosesTheRarest(t *testing.T) {
	g := newGuide(t, t.TempDir(), onFake)
	for _, code := range []uint16{1213, 1205, 1020} {
		if err := g.note(seen(t, code), &inputPlan{data: fresh()}); err != nil {
			t.Fatal(err)
		}
	}
	for range 500 {
		for _, code := range []uint16{1213, 1205} {
			if err := g.note(seen(t, code), &inputPlan{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	rare, r := 0, rand.New(rand.NewPCG(1, 1))
	for range 400 {
		if g.choose(r) == g.entries[2] {
			rare++
		}
	}
	// One of three by chance alone: 133; in a tournament of four, 4 of 5.
	if rare < 250 {
		t.Errorf("the rarest of three was chosen %d times of 400", rare)
	}
}

// TestLitter: consecutive inputs are made in one way, of one kept input.
func TestLitter(t *testing.T) {
	g := newGuide(t, t.TempDir(), onFake)
	for i := range uint16(20) {
		if err := g.note(seen(t, 1000+i), &inputPlan{data: fresh()}); err != nil {
			t.Fatal(err)
		}
	}
	r, parents := rand.New(rand.NewPCG(1, 1)), map[*entry]bool{}
	var l litter
	for n := range 40 * litterSize {
		p := g.next(r, fresh, n, &l)
		if p.parent != l.parent {
			t.Fatalf("input %d has another parent than its litter", n)
		}
		if n%litterSize != 0 {
			continue
		}
		parents[p.parent] = true
	}
	if len(parents) < 8 || !parents[nil] {
		t.Errorf("40 litters have %d parents", len(parents))
	}
}

func TestGuideUsesAllWays(t *testing.T) {
	g := newGuide(t, t.TempDir(), onFake)
	if err := g.note(seen(t, 1213), &inputPlan{data: fresh()}); err != nil {
		t.Fatal(err)
	}
	ways, r := [3]int{}, rand.New(rand.NewPCG(1, 1))
	for n := range 800 {
		switch p := g.next(r, fresh, n, new(litter)); {
		case p.parent == nil:
			ways[0]++
		case p.data != nil:
			ways[1]++
			if len(p.data) != mutate.InputLen {
				t.Fatalf("%d bytes", len(p.data))
			}
		default:
			ways[2]++
		}
	}
	for i, share := range []int{afresh, changeBytes, 16 - afresh - changeBytes} {
		if want := 800 * share / 16; ways[i] < want*3/4 || ways[i] > want*5/4 {
			t.Errorf("way %d was taken %d times of 800, want about %d", i, ways[i], want)
		}
	}
	same, tables := 0, 0
	for range 200 {
		out := g.changed(r, fresh())
		if slices.Equal(out, fresh()) {
			same++ // what is taken of another input is the same here
		}
		for at := range out {
			if mutate.InSchemaLane(at) && out[at] != fresh()[at] {
				tables++
				break
			}
		}
	}
	if same > 100 || tables == 0 || tables > 60 {
		t.Errorf("of 200 changed inputs %d are the same and %d have other tables", same, tables)
	}
}

// What a guide is measured against keeps and chooses without looking.
func TestBlindGuideDoesNotLook(t *testing.T) {
	g := newGuide(t, t.TempDir(), onFake)
	g.blind = true
	for i := range 3 * blindEvery {
		r := seen(t, uint16(1000+i)) // new behaviour each time
		if i >= blindEvery {
			r = seen(t, 1213)
		}
		if err := g.note(r, &inputPlan{data: fresh()}); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.report().Inputs; n != 3 {
		t.Fatalf("%d inputs kept of %d, want one in %d", n, 3*blindEvery, blindEvery)
	}
	chosen, r := map[*entry]int{}, rand.New(rand.NewPCG(1, 1))
	for n := range 2000 {
		if p := g.next(r, fresh, n, new(litter)); p.parent != nil {
			chosen[p.parent]++
		}
	}
	for _, e := range g.entries {
		if n := chosen[e]; n < 300 || n > 550 { // 2000 * 10/16 / 3 = 417
			t.Errorf("one of three was chosen %d times of 2000", n)
		}
	}
}
