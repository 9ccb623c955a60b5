package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// serverOf is what ran a trial.
func serverOf(r *Trial) history.Server {
	if r.History != nil {
		return r.History.Server
	}
	return r.server
}

// DiffersAlways is in how many of ten more runs a difference must show to count. A server
// may decide by chance what it does, and two of the same build then differ now and then:
// in nine of ten runs in at most one of 30,000 such cases, which is when each does one
// of two things every other time.
const DiffersAlways = 9

// OpenAgainst opens a target that another one is compared with: never the user's own
// build, which is what is looked into.
func OpenAgainst(ctx context.Context, name string, o Options) (*Target, error) {
	if name == Default {
		return nil, &Error{fmt.Sprintf("%s cannot be compared against; make it the --target", name)}
	}
	o.Released = true
	t, err := Open(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("what to compare with: %w", err)
	}
	return t, nil
}

// FreshPair returns instances of two targets on which their differences are confirmed.
func FreshPair(first, second string) *FreshServers {
	open := func(ctx context.Context) (*FreshServer, error) {
		a, err := FreshOf(first).Open(ctx)
		if err != nil {
			return nil, err
		}
		b, err := OpenAgainst(ctx, second, Options{})
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		names := [2]string{Redact(first), Redact(second)}
		judge := func(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
			return Differing(names, Both(ctx, c, levels, a.Judge, b.JudgeFresh))
		}
		return &FreshServer{Judge: judge, Close: func() error { return errors.Join(a.Close(), b.Close()) }}, nil
	}
	return &FreshServers{Open: open, Shared: IsDSN(first) || IsDSN(second)}
}

// Both runs a case in two ways at the same time.
func Both(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, first, second JudgeFunc) Trial {
	done := make(chan Trial, 1)
	twin := c.Clone() // printing a statement may write to its tree
	go func() { done <- second(ctx, twin, levels) }()
	r := first(ctx, c, levels)
	other := <-done
	other.Case = c
	r.Against = &other
	return r
}

// Broken says that a run tells nothing of its server.
func Broken(r *Trial) bool {
	switch v := &r.Verdict; v.Reason {
	case ReasonHarness, ReasonPanic, ReasonCutOff, ReasonRefused, ReasonLost:
		return v.Outcome == oracle.Unknown
	}
	return false
}

// Compare compares a trial with what it is against.
func Compare(names [2]string, r *Trial) against.Comparison {
	o := r.Against
	a := &against.Side{Name: names[0], Server: serverOf(r), History: r.History, Verdict: r.Verdict}
	b := &against.Side{Name: names[1], Server: serverOf(o), History: o.History, Verdict: o.Verdict}
	return against.Compare(r.Case, a, b)
}

// Differing turns the verdict of a trial into one on the two servers: a violation where
// they differ and nothing explains it.
func Differing(names [2]string, r Trial) Trial {
	if Broken(&r) || Broken(r.Against) {
		r.Verdict = judging.Undecided(ReasonHarness, "")
		r.Err = errors.Join(r.Err, r.Against.Err)
		return r
	}
	cmp := Compare(names, &r)
	if d := cmp.Unattributed(); d != nil {
		r.Verdict = VerdictOn(names, &r, d)
		return r
	}
	r.Verdict = judging.Agree()
	return r
}

// Unexplained is the reason given for a difference that has none.
const Unexplained = "nothing that is known of the two servers explains it"

// VerdictOn is the verdict on a difference, in the form of findings.
func VerdictOn(names [2]string, r *Trial, d *against.Difference) oracle.Verdict {
	reason := d.Reason
	if reason == "" {
		reason = Unexplained
	}
	return judging.Differs(string(d.Kind), d.Stmt, names[0]+": "+OneLine(d.First), names[1]+": "+OneLine(d.Second), reason,
		d.Fingerprint(serverOf(r), serverOf(r.Against)))
}
