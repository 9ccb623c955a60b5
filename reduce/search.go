package reduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/foresight"
)

// reducer is the state of one reduction.
type reducer struct {
	ctx    context.Context
	o      Options
	result *Result
	bandit *bandit
	header []corpus.Field

	best    *draft
	verdict oracle.Verdict
	// allowed holds the faults of the original.
	allowed map[string]bool
	// tried holds the text of every draft that ran: a predicate asked twice
	// says the same, or is taken to.
	tried map[string]bool
	// failed holds operations that failed since the closing pass last began.
	failed map[string]bool
	layers [layerCount]Count
	// closing says that the closing pass is on.
	closing bool
	// guesses holds what was foreseen of drafts made of the best one.
	guesses map[string]foresight.Guess
}

// errCut ends a reduction whose budget or context is used up.
var errCut = errors.New("cut off")

func (r *reducer) run() error {
	err := r.check()
	if err == nil {
		err = r.settle(r.untold())
	}
	if err == nil {
		err = r.settle(r.plainly())
	}
	if err == nil {
		err = r.descend()
	}
	if err == nil {
		err = r.close()
	}
	switch {
	case err == nil:
		r.result.Complete = true
		r.result.Minimal = r.o.Repeats < 2
		return nil
	case errors.Is(err, errCut):
		return nil
	}
	return fmt.Errorf("reduce: %w", err)
}

// check makes sure that the case itself shows the bug.
func (r *reducer) check() error {
	same := r.o.Same
	want := r.o.Want.Fingerprint
	r.o.Same = func(v oracle.Verdict) bool {
		if same != nil {
			return same(v)
		}
		if want == "" {
			want = v.Fingerprint
		}
		return want != "" && v.Fingerprint == want
	}
	shows, err := r.shows(r.best)
	if errors.Is(err, ErrRejected) || err == nil && !shows {
		return ErrNotReproduced
	}
	if err != nil {
		return err
	}
	r.step(Step{Kept: true})
	return nil
}

// untold is the header with which the server tells no versions of rows.
func (r *reducer) untold() [][]corpus.Field {
	c := &corpus.Case{Header: r.header}
	if !c.TellsVersions() {
		return nil
	}
	c.SetVersions(false)
	return [][]corpus.Field{c.Header}
}

// plainly are the headers with which the statements are sent as text, or else in fewer ways.
func (r *reducer) plainly() (out [][]corpus.Field) {
	c := &corpus.Case{Header: r.header}
	for _, p := range c.Protocol().Simpler() {
		c.SetProtocol(p)
		out = append(out, c.Header)
	}
	return out
}

// settle keeps the first of some headers with which the bug shows, or else the one that there is.
func (r *reducer) settle(headers [][]corpus.Field) error {
	was := r.header
	for _, h := range headers {
		r.header = h
		shows, err := r.shows(r.best)
		if err == nil && shows {
			return nil
		}
		if err != nil && !errors.Is(err, ErrRejected) {
			r.header = was
			return err
		}
	}
	r.header = was
	return nil
}

// descend works the layers off in order, once: arms as the strategy says, each
// operation at most once.
func (r *reducer) descend() error {
	r.failed = map[string]bool{}
	if r.o.Strategy == DeltaDebug {
		if err := r.deltaDebug(); err != nil {
			return err
		}
	}
	for l := layer(0); l < layerCount; l++ {
		for improved := true; improved; {
			var err error
			if improved, err = r.improve(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// improve tries operations of a layer until one succeeds, or none is left.
func (r *reducer) improve(l layer) (bool, error) {
	left := map[arm][]candidate{}
	for _, c := range r.candidates(l) {
		if !r.failed[c.id] && !r.hopeless(c.arm) {
			left[c.arm] = append(left[c.arm], c)
		}
	}
	next := map[arm]*draft{}
	for {
		var open []arm
		for _, a := range layerArms(l) {
			if next[a] != nil && r.tried[next[a].text()] {
				// Another arm had the same candidate.
				next[a] = nil
			}
			for next[a] == nil && len(left[a]) > 0 {
				var known bool
				next[a], known = r.viable(left[a][0])
				if next[a] != nil && r.guess(next[a]) == foresight.Hides {
					// The closing pass asks it, should it still apply then.
					next[a], known = nil, true
				}
				if next[a] == nil {
					r.failed[left[a][0].id] = known
					left[a] = left[a][1:]
				}
			}
			if next[a] != nil {
				open = append(open, a)
			}
		}
		if len(open) == 0 {
			return false, nil
		}
		a := r.bandit.pick(open, func(a arm) float64 { return gain(l, r.best.measure(), next[a].measure()) })
		kept, err := r.ask(a, next[a])
		if err != nil || kept {
			return kept, err
		}
		r.failed[left[a][0].id] = true
		left[a], next[a] = left[a][1:], nil
	}
}

// hopeless says that a class of deletions of many lines has only failed so far.
// What is left of it waits for the closing pass, which asks it once, of a case
// that does not change any more.
func (r *reducer) hopeless(a arm) bool {
	const enough = 3
	switch a {
	case armSession, armTransaction, armRun, armTable:
		m := r.bandit.own[a]
		return m.Count >= enough && m.Mean == 0
	}
	return false
}

// gain is what a candidate takes away in the measure of its layer.
func gain(l layer, from, to Size) float64 {
	if l == layerStatements {
		return float64(from.Statements - to.Statements)
	}
	return float64(max(1, from.Tokens-to.Tokens))
}

// close goes round all layers until none of their operations succeeds on the
// same case. This is what makes a result 1-minimal: it asks every operation that
// applies to the final case, except texts that already failed.
func (r *reducer) close() error {
	r.closing = true
	// The statements come last: what the other layers still find changes their
	// texts, and all of them would have to be asked again.
	for l, quiet := layerStatements+1, 0; quiet < int(layerCount); l = (l + 1) % layerCount {
		kept, err := r.sweep(l)
		if err != nil {
			return err
		}
		quiet++
		if kept {
			quiet = 0
		}
	}
	return nil
}

// sweep goes through the operations of a layer until a whole pass has none that
// succeeds, and reports whether one did before. A success starts the pass over
// on the new case, where it stopped: what failed just before will mostly fail
// again, and is asked last.
func (r *reducer) sweep(l layer) (bool, error) {
	any := false
	all := r.candidates(l)
	for i, left := 0, len(all); left > 0; left-- {
		if i >= len(all) {
			i = 0
		}
		kept, err := r.attempt(all[i])
		if err != nil {
			return any, err
		}
		i++
		if kept {
			any = true
			all = r.candidates(l)
			left = len(all) + 1
		}
	}
	return any, nil
}

// attempt tries one operation, where it gives a candidate.
func (r *reducer) attempt(c candidate) (bool, error) {
	d, _ := r.viable(c)
	if d == nil {
		return false, nil
	}
	return r.ask(c.arm, d)
}

// viable makes a candidate: nil if it is not smaller than the best case, not
// valid, or known, that is, tried before.
func (r *reducer) viable(c candidate) (d *draft, known bool) {
	d = c.make()
	switch {
	case d == nil || d.measure().Compare(r.best.measure()) >= 0:
		return nil, false
	case r.tried[d.text()]:
		r.result.Cached++
		return nil, true
	case !d.within(r.allowed):
		return nil, false
	}
	return d, false
}

// ask runs a candidate, and makes it the best case if it shows the bug.
func (r *reducer) ask(a arm, d *draft) (bool, error) {
	r.tried[d.text()] = true
	shows, err := r.shows(d)
	if err != nil && !errors.Is(err, ErrRejected) {
		return false, err
	}
	kept := shows && err == nil
	count := &r.layers[a.layer()]
	count.Attempts++
	if r.closing {
		count.Closing++
	}
	if kept {
		r.best, r.guesses = d, nil
		r.result.Useful++
		count.Useful++
		if r.closing {
			count.ClosingUseful++
		}
	}
	r.bandit.learn(a, kept)
	r.step(Step{Layer: a.layer().String(), Arm: a.String(), Kept: kept})
	return kept, nil
}

// shows runs a draft, as often as needed, and reports whether it has the bug.
func (r *reducer) shows(d *draft) (bool, error) {
	if r.o.Budget > 0 && r.result.Attempts >= r.o.Budget {
		return false, errCut
	}
	r.result.Attempts++
	c := d.build(r.header)
	for range max(1, r.o.Repeats) {
		if r.ctx.Err() != nil {
			return false, errCut
		}
		r.result.Runs++
		v, err := r.o.Try(r.ctx, c)
		if r.ctx.Err() != nil {
			// Whatever came back, the run may have been disturbed.
			return false, errCut
		}
		if err != nil {
			return false, fmt.Errorf("attempt %d: %w", r.result.Attempts, err)
		}
		if r.o.Same(v) {
			r.verdict = v
			return true, nil
		}
	}
	return false, nil
}

func (r *reducer) step(s Step) {
	s.Attempt = r.result.Attempts
	s.Size, s.Characters = r.best.measure(), r.best.chars()
	r.result.Trace = append(r.result.Trace, s)
	if r.o.Progress != nil {
		r.o.Progress(s)
	}
}

// outcomeKeys begin the header keys that tell what the original's statements
// returned; in a smaller case they would be false.
var outcomeKeys = []string{"observe", "expected", "anomaly", "actual"}

// finish fills in the result.
func (r *reducer) finish(start *draft) {
	out := r.result
	out.After, out.CharactersAfter = r.best.measure(), r.best.chars()
	out.Verdict, out.Fingerprint = r.verdict, r.verdict.Fingerprint
	if r.best != start {
		header := slices.DeleteFunc(slices.Clone(r.header), func(f corpus.Field) bool {
			return slices.ContainsFunc(outcomeKeys, func(k string) bool { return strings.HasPrefix(f.Key, k) })
		})
		out.Case = r.best.build(header).Clone()
	}
	for l := range layerCount {
		r.layers[l].Name = l.String()
	}
	out.PerLayer = r.layers[:]
	for a := range armCount {
		if m := r.bandit.own[a]; m.Count > 0 {
			out.PerArm = append(out.PerArm, Count{Name: a.String(), Attempts: m.Count, Useful: int(m.Mean*float64(m.Count) + 0.5)})
		}
	}
	r.o.Experience.add(r.bandit.own)
}
