package campaign

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/signal"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// Header keys of a kept input.
const (
	keyBytes   = "bytes"   // the input that it was decoded from, base64
	keyVariant = "variant" // the n of generatorOptions that it was decoded with
	keyPattern = "pattern" // the pattern that it was decoded for, at its level
)

// guide keeps inputs that show behaviour which no input before them showed, and
// makes new ones of those whose behaviour is rarest. It is safe for several
// goroutines.
type guide struct {
	dir string // of inputs
	on  string // family and version
	// blind keeps one case in blindEvery and chooses among all alike.
	blind bool

	mu sync.Mutex
	// seen counts the cases that showed a class.
	seen    map[signal.Class]int
	cases   int
	entries []*entry
	// waiting holds inputs that were stored without what they show on this
	// server: of people, of another version, of another machine.
	waiting []*entry
}

// entry is a kept input.
type entry struct {
	c       *corpus.Case
	data    []byte // nil: it was not decoded from bytes
	variant int
	aim     *aim
	rarest  []signal.Class
	chosen  int
}

// inputPlan says how the next input is made: it is data or, if that is nil, it comes
// from parent, changed or once more as it is.
type inputPlan struct {
	parent  *entry // nil: afresh
	again   bool
	data    []byte
	variant int
	aim     *aim // nil: none, or the input has its own
	// weaving says where the first case follows a pattern; nil: it follows none.
	weaving *mutate.Weaving
}

// openGuide reads the inputs that a folder holds, which is made if missing.
func openGuide(dir, on string) (*guide, error) {
	g := &guide{dir: filepath.Join(dir, findings.InputsDir), on: on, seen: map[signal.Class]int{}}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("campaign's corpus: %w", err)
	}
	stored, err := corpus.LoadDir(g.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign's corpus: %w", err)
	}
	for _, s := range stored {
		e := &entry{c: s.Case}
		if text, ok := s.Case.Get(keyBytes); ok {
			if e.data, err = base64.StdEncoding.DecodeString(text); err != nil {
				return nil, fmt.Errorf("campaign's corpus: %s: bytes: %w", s.Path, err)
			}
		}
		if text, ok := s.Case.Get(keyVariant); ok {
			if e.variant, err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("campaign's corpus: %s: variant: %w", s.Path, err)
			}
		}
		if e.aim, err = aimOf(s.Case); err != nil {
			return nil, fmt.Errorf("campaign's corpus: %s: %w", s.Path, err)
		}
		if at, _ := s.Case.Get(findings.KeyServer); at != on {
			g.waiting = append(g.waiting, e)
			continue
		}
		text, _ := s.Case.Get(findings.KeySignal)
		for _, word := range strings.Fields(text) {
			k, err := strconv.ParseUint(word, 16, 32)
			if err != nil {
				return nil, fmt.Errorf("campaign's corpus: %s: signal: %w", s.Path, err)
			}
			e.rarest = append(e.rarest, signal.Class(k))
			g.seen[signal.Class(k)]++
		}
		g.entries = append(g.entries, e)
	}
	return g, nil
}

// Shares of inputs, out of 16, that are made afresh, of changed bytes, and of a
// changed case: fresh ones find what mutation does not reach, and without them
// a campaign would stay near what it met first.
const (
	afresh      = 6
	changeBytes = 4
	tournament  = 4 // entries among which the rarest is chosen
)

// blindEvery is one over the share of cases that a blind guide keeps.
const blindEvery = 16

// next decides how the n-th input is made; r is its source of choices, and l is what
// was decided for those before it. Inputs that wait come first, as they are.
func (g *guide) next(r *rand.Rand, fresh func() []byte, n int, l *litter) inputPlan {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		e := g.waiting[0]
		g.waiting = g.waiting[1:]
		return inputPlan{parent: e, again: true, variant: e.variant}
	}
	if n%litterSize == 0 || !l.begun {
		*l = litter{begun: true, what: r.IntN(16)}
		if l.what >= afresh && len(g.entries) > 0 {
			l.parent = g.entries[r.IntN(len(g.entries))]
			if !g.blind {
				l.parent = g.choose(r)
			}
		}
	}
	e := l.parent
	if e == nil {
		return inputPlan{data: fresh(), variant: n}
	}
	e.chosen++
	if l.what < afresh+changeBytes && e.data != nil {
		return inputPlan{parent: e, data: g.changed(r, e.data), variant: e.variant, aim: e.aim}
	}
	return inputPlan{parent: e, variant: n}
}

// choose takes, of a few entries, the one with the rarest class; of equals the
// one chosen less often.
func (g *guide) choose(r *rand.Rand) *entry {
	var best *entry
	lowest := 0
	for range tournament {
		e := g.entries[r.IntN(len(g.entries))]
		if score := g.rarity(e) * (1 + e.chosen); best == nil || score < lowest {
			best, lowest = e, score
		}
	}
	return best
}

// rarity is how often the rarest class of an entry was seen.
func (g *guide) rarity(e *entry) int {
	out := 0
	for i, k := range e.rarest {
		if n := g.seen[k]; i == 0 || n < out {
			out = n
		}
	}
	return max(out, 1)
}

// changed changes some bytes of an input, or takes whole blocks of another,
// which have all lanes of a part of it.
func (g *guide) changed(r *rand.Rand, data []byte) []byte {
	out := append([]byte(nil), data...)
	if len(out) == 0 {
		return mutate.InputOf(r.Uint64(), mutate.InputLen)
	}
	if r.IntN(4) == 0 {
		if other := g.entries[r.IntN(len(g.entries))].data; len(other) > 0 {
			at, n := r.IntN(min(len(out), len(other))), 1+r.IntN(64)
			copy(out[at:min(at+n, len(out))], other[at:])
			keepSchema(r, out, data)
			return out
		}
	}
	for range 1 + r.IntN(6) {
		// Most decisions lie at the front.
		at := min(r.IntN(len(out)), r.IntN(len(out)))
		switch r.IntN(3) {
		case 0:
			out[at] ^= 1 << r.IntN(8)
		case 1:
			out[at] = byte(r.Uint64())
		default:
			out[at] += byte(r.IntN(7)) - 3
		}
	}
	keepSchema(r, out, data)
	return out
}

// others returns cases whose transactions may be spliced in.
func (g *guide) others(r *rand.Rand) []*corpus.Case {
	g.mu.Lock()
	defer g.mu.Unlock()
	const most = 16
	var out []*corpus.Case
	for range min(most, len(g.entries)) {
		out = append(out, g.entries[r.IntN(len(g.entries))].c)
	}
	return out
}

// note counts what a case showed, and keeps it if a class is new.
func (g *guide) note(t *target.Trial, p *inputPlan) error {
	classes := signal.Of(t.Case, t.History, &t.Verdict)
	e := &entry{data: p.data, variant: p.variant, aim: p.aim}
	if p.again {
		e.data, e.aim = p.parent.data, p.parent.aim
	}
	g.mu.Lock()
	for _, k := range classes {
		if g.seen[k] == 0 {
			e.rarest = append(e.rarest, k)
		}
		g.seen[k]++
	}
	g.cases++
	keep := len(e.rarest) > 0
	if g.blind {
		keep = g.cases%blindEvery == 0
	}
	if !keep {
		g.mu.Unlock()
		return nil
	}
	e.c = t.Case.Clone()
	e.c.SetLevels(t.Levels)
	g.entries = append(g.entries, e)
	g.mu.Unlock()
	return g.save(e)
}

func (g *guide) save(e *entry) error {
	words := make([]string, len(e.rarest))
	for i, k := range e.rarest {
		words[i] = strconv.FormatUint(uint64(k), 16)
	}
	c := e.c.Clone()
	c.Header = nil
	if levels := target.LevelsFor(e.c, corpus.RepeatableRead); len(levels) > 0 {
		c.SetLevels(levels)
	}
	c.Set(findings.KeyServer, g.on)
	c.Set(findings.KeySignal, strings.Join(words, " "))
	if e.data != nil {
		c.Set(keyBytes, base64.StdEncoding.EncodeToString(e.data))
		c.Set(keyVariant, strconv.Itoa(e.variant))
		if e.aim != nil {
			c.Set(keyPattern, e.aim.pattern.Name())
		}
	}
	// One case may be kept twice, at other levels or for another class.
	name := corpus.ID(c)
	if len(words) > 0 {
		name += "-" + words[0]
	}
	if _, err := corpus.Save(g.dir, name, c); err != nil {
		return fmt.Errorf("campaign's corpus: %w", err)
	}
	return nil
}

func (g *guide) report() *GuideReport {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &GuideReport{Inputs: len(g.entries), Behaviours: len(g.seen)}
}
