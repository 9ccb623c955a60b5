package mvcc

import (
	"slices"
)

// What the manuals leave to the server makes a set of the answers that a statement may
// have: by which index it goes, when it goes on behind a wait, in which order it meets
// rows that have each other's keys. Where such a thing is a choice of a replay's path, each
// path that fits the history up to a statement tells one answer of it. An answer that is
// the only one of its set is the strictest that can be asked for.

// maxAlternatives bounds the paths that are tried to learn what else is allowed.
const maxAlternatives = 1000

const (
	// moreWays is why a set is open whose statement stands behind a choice of which not
	// every path was tried.
	moreWays = "there are more ways through the history than were tried"
	// ChangedOrNot is why error 1020 is allowed beside another answer.
	ChangedOrNot = "whether it meets a record that was changed after its snapshot"
	// StrayOrNot is why an error is allowed beside another answer.
	StrayOrNot = "whether it evaluates its condition on a row that an index leaves out"
)

// Only reports whether no other answer than this one is allowed.
func (p *Prediction) Only() bool { return len(p.Or) == 0 && p.Open == "" }

// AddAnswer adds to the set of allowed answers, unless it is the prediction itself.
func (p *Prediction) AddAnswer(answer, self string) {
	if answer != self && !slices.Contains(p.Or, answer) {
		p.Or = append(p.Or, answer)
	}
}

// LeaveOpen says that there may be answers beside those listed, and why.
func (p *Prediction) LeaveOpen(why string) {
	if p.Open == "" {
		p.Open = why
	}
}

// TryOtherWays tries the other paths, and adds to each step's set what they answer. fit holds the
// choices of the path that the steps are of; run replays one.
func (r *Replay) TryOtherWays(fit *Choices, run func(*Choices) ([]Step, *Difference, error)) {
	if !fit.free() {
		return
	}
	ch := &Choices{AsTold: true}
	for range maxAlternatives {
		steps, d, err := run(ch)
		if err != nil {
			break
		}
		r.addWay(steps, d)
		if !ch.Next() {
			return
		}
	}
	first := fit.first()
	for i := range r.Steps {
		if p := r.Steps[i].Expected; p != nil && r.Steps[i].Chosen > first {
			p.LeaveOpen(moreWays)
		}
	}
}

// addWay adds to each step's set what it has on another path, which ends at the difference.
func (r *Replay) addWay(others []Step, d *Difference) {
	for i := range r.Steps {
		p, other := r.Steps[i].Expected, &others[i]
		switch {
		case p == nil:
		case other.Unproved:
			p.LeaveOpen("whether it closes a cycle of waits")
		case d != nil && d.Stmt == i && d.Kind == "missing-wait":
			// There it would have to wait: that is no answer.
		case d != nil && d.Stmt == i:
			p.AddAnswer(d.Expected, "")
		case other.Expected != nil:
			for _, a := range other.Expected.Or {
				p.AddAnswer(a, p.String(r.Steps[i].Kind))
			}
			if other.Expected.Open != "" {
				p.LeaveOpen(other.Expected.Open)
			}
		}
	}
}

// AddWay adds what is expected at the same statement on another path, which went as far.
func (d *Difference) AddWay(other *Difference) {
	if other.Stmt == d.Stmt && other.Expected != d.Expected && !slices.Contains(d.Or, other.Expected) {
		d.Or = append(d.Or, other.Expected)
	}
}
