package findings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// opener opens a target by name for a few runs, and tells how to close it.
type opener func(ctx context.Context, name string) (target.JudgeFunc, func() error, error)

func openForRuns(ctx context.Context, name string) (target.JudgeFunc, func() error, error) {
	t, err := target.Open(ctx, name, target.Options{})
	if err != nil {
		return nil, nil, err
	}
	return t.JudgeFresh, t.Close, nil
}

// onDefaults tells whether a case that was found under a server's options shows the
// same with the vendor's defaults, of several servers on as many. If not, it tells which options it needs: none of
// them can be left out alone. It returns "" for targets without options. Each
// question starts a server, which takes a second or two.
//
// Before it says that the case does not show, it runs it so often that a case as
// sure as this one would be missed at most once in a hundred times.
func onDefaults(ctx context.Context, open opener, on string, r *target.Trial, sure Rate) (string, error) {
	server, options := target.SplitSettings(on)
	if len(options) == 0 || r.Verdict.Kind.OfServer() {
		return "", nil
	}
	shows := func(some []string) (bool, error) {
		name := target.JoinOptions(server, some)
		judge, done, err := open(ctx, name)
		if err != nil {
			return false, fmt.Errorf("look whether a finding shows on %s: %w", name, err)
		}
		for range sure.runsToMiss() {
			again := judge(ctx, r.Case, r.Levels)
			if err = again.Dead; err != nil || ctx.Err() != nil {
				break
			}
			if judging.SameCause(&r.Verdict, &again.Verdict) {
				return true, done()
			}
		}
		return false, errors.Join(err, ctx.Err(), done())
	}
	ok, err := shows(nil)
	if err != nil {
		return "", err
	}
	if ok {
		return "shows, too", nil
	}
	for i := len(options) - 1; i >= 0 && len(options) > 1; i-- {
		less := slices.Delete(slices.Clone(options), i, i+1)
		if ok, err := shows(less); err != nil {
			return "", err
		} else if ok {
			options = less
		}
	}
	return "does not show; needs " + strings.Join(options, ", "), nil
}

// defaultsOf is what a file says of the vendor's defaults: what onDefaults found
// or, since a finding counts without, why that could not be tried.
func defaultsOf(ctx context.Context, open opener, name string, r *target.Trial, sure Rate) string {
	text, err := onDefaults(ctx, open, name, r, sure)
	if err != nil {
		return "not tried: " + target.OneLine(err.Error())
	}
	return text
}

// alsoAt returns the other levels at which a case shows the same cause.
func alsoAt(ctx context.Context, judge target.JudgeFunc, r *target.Trial, levels []corpus.Level) []corpus.Level {
	var out []corpus.Level
	for _, l := range levels {
		same, all := true, map[int]corpus.Level{}
		for s, now := range r.Levels {
			all[s] = l
			same = same && now == l
		}
		if same {
			continue
		}
		if w := judge(ctx, r.Case, all).Verdict; judging.SameCause(&r.Verdict, &w) {
			out = append(out, l)
		}
	}
	return out
}
