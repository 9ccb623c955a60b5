package campaign

import (
	"math/rand/v2"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// longShare is how many, out of 256, of the inputs with three transactions aim at a
// pattern of three: among the others a third transaction meets what two do.
const longShare = 150

// inVain is how many tries a pattern gets before those that were seen. In about as many,
// MariaDB 11.8 showed at READ COMMITTED all that docs/anomalies.md lists for it.
const inVain = 32

// patterns chooses for inputs a pattern that was not seen at a level yet. It is safe for
// several goroutines; nil chooses none.
type patterns struct {
	levels []corpus.Level

	mu sync.Mutex
	of map[corpus.Level]*levelPatterns
}

// levelPatterns is what a campaign knows of the patterns at one level, by their places in
// the catalog.
type levelPatterns struct {
	tried []int
	seen  []bool
	// inputs counts those that aimed at a pattern of two transactions, and of three.
	inputs [2]int
}

func newPatterns(levels []corpus.Level) *patterns {
	p := &patterns{levels: levels, of: map[corpus.Level]*levelPatterns{}}
	n := len(catalog().all)
	for _, l := range levels {
		p.of[l] = &levelPatterns{tried: make([]int, n), seen: make([]bool, n)}
	}
	return p
}

// choose returns what an input aims at, which is counted as a try: the level at which the
// fewest inputs of its kind aimed, and of the patterns that were not seen there one that
// was tried least. What a server forbids is never seen, so tries decide, and in the end
// the others have their turn again. Of equals the seed chooses.
func (p *patterns) choose(seed uint64, transactions int) *aim {
	if p == nil {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, 2))
	kind, from, to := 0, 0, catalog().short
	if transactions > 2 && r.IntN(256) < longShare {
		kind, from, to = 1, catalog().short, len(catalog().all)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	level := p.levels[least(r, 0, len(p.levels), func(i int) (int, bool) { return p.of[p.levels[i]].inputs[kind], true })]
	l := p.of[level]
	n := least(r, from, to, func(i int) (int, bool) { return l.tried[i], !l.seen[i] && l.tried[i] < inVain })
	if n < 0 {
		n = least(r, from, to, func(i int) (int, bool) { return l.tried[i], true })
	}
	l.tried[n]++
	l.inputs[kind]++
	return &aim{catalog().all[n], level}
}

// least returns one of the numbers from one to another whose count is smallest, each of
// these equally often; -1: none is allowed.
func least(r *rand.Rand, from, to int, count func(int) (n int, allowed bool)) int {
	best, lowest, equals := -1, 0, 0
	for i := from; i < to; i++ {
		n, allowed := count(i)
		switch {
		case !allowed || best >= 0 && n > lowest:
			continue
		case best < 0 || n < lowest:
			best, lowest, equals = i, n, 1
		default:
			if equals++; r.IntN(equals) == 0 {
				best = i
			}
		}
	}
	return best
}

// note looks whether a judged run shows the pattern that its case follows. That costs a
// replay, so what was seen is not looked for again.
func (p *patterns) note(r *target.Trial, w *mutate.Weaving) {
	if p == nil || w == nil {
		return
	}
	level := r.Levels[r.Case.Steps[w.Lines[0]].Session]
	n := catalog().at[w.Pattern.Name()]
	p.mu.Lock()
	l := p.of[level]
	known := l == nil || l.seen[n]
	p.mu.Unlock()
	if known || !showsPattern(r, w, level) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.seen[n] = true
}

// remember takes over what an earlier part of a campaign has seen.
func (p *patterns) remember(r PatternsReport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range r {
		level, err := corpus.ParseLevel(r[i].Level)
		l := p.of[level]
		if err != nil || l == nil {
			continue // a level that this part does not run
		}
		for _, name := range r[i].Names {
			if n, ok := catalog().at[name]; ok {
				l.seen[n] = true
			}
		}
	}
}

func (p *patterns) report() PatternsReport {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out PatternsReport
	for _, level := range p.levels {
		l := p.of[level]
		r := LevelPatterns{Level: level.Short(), Inputs: l.inputs[0], LongInputs: l.inputs[1], Names: []string{}}
		for n, seen := range l.seen {
			if seen {
				r.Names = append(r.Names, catalog().names[n])
			}
		}
		r.count()
		out = append(out, r)
	}
	return out
}
