package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ReasonSetting begins the reason of a violation that shows only where a server
// variable has another value than the vendor's, and of which no rule speaks.
const ReasonSetting = "setting "

// FileWord makes a reason part of a file's name.
func FileWord(reason string) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(reason)
}

// doubtRuns is how often a case runs at the vendor's defaults before it is said
// not to show there.
const doubtRuns = 3

// doubt is a second server with the vendor's values of what is doubtful of the
// first, started when it is asked for.
type doubt struct {
	mu     sync.Mutex
	target *Target
	err    error
}

func (d *doubt) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.target == nil {
		return nil
	}
	return d.target.Close()
}

// MakeSure looks at a violation once more: one that rests on an order that is not known, on
// what the rules do not speak of, or on how the oracle computes SQL, becomes unknown.
func (t *Target) MakeSure(ctx context.Context, r *Trial) {
	if t.heardAgain(ctx, r); r.Verdict.Outcome != oracle.Violation {
		return
	}
	if t.server.Declared != nil || t.server.DBMS == history.PostgreSQL { // neither rules nor the oracle's SQL had a say
		return
	}
	t.doubted(ctx, r)
	if r.History != nil && r.History.Held() { // nor had they here
		return
	}
	t.answeredAlone(ctx, r)
	t.computedAlone(ctx, r)
}

// doubted looks at a violation on a server with variables that may matter and
// that no rule speaks of: it stays one only if it shows with the vendor's values,
// too.
func (t *Target) doubted(ctx context.Context, r *Trial) {
	v := &r.Verdict
	b, ok := t.backend.(harness.Doubter)
	if !ok || v.Outcome != oracle.Violation || v.Kind == oracle.ServerCrash || v.Kind == oracle.ServerLog {
		return
	}
	names := b.Doubtful()
	if len(names) == 0 {
		return
	}
	why := "and with the vendor's values it does not show"
	at, err := t.atDefaults(ctx, names)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		why = "and with the vendor's values it could not be tried: " + OneLine(err.Error())
	default:
		for range doubtRuns {
			again := at.JudgeFresh(ctx, r.Case, r.Levels)
			if ctx.Err() != nil || SameCause(v, &again.Verdict) {
				return
			}
		}
	}
	*v = oracle.Verdict{
		Outcome: oracle.Unknown, Stmt: -1, Statements: v.Statements, Conflicting: v.Conflicting,
		Reason: ReasonSetting + strings.Join(names, ", "),
		Actual: fmt.Sprintf("no rule speaks of %s: %s where the rules want %s, %s", strings.Join(names, ", "), v.Actual, v.Expected, why),
	}
}

// atDefaults returns a server like this one with the vendor's values of some
// variables.
func (t *Target) atDefaults(ctx context.Context, names []string) (*Target, error) {
	t.doubt.mu.Lock()
	defer t.doubt.mu.Unlock()
	if t.doubt.target != nil || t.doubt.err != nil {
		return t.doubt.target, t.doubt.err
	}
	if IsDSN(t.address) {
		t.doubt.err = fmt.Errorf("the server behind a DSN is not ours to configure")
		return nil, t.doubt.err
	}
	server, options := SplitOptions(t.Name)
	options = slices.DeleteFunc(options, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains(names, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_"))
	})
	other, err := Open(ctx, JoinOptions(server, options), Options{Released: t.released})
	if err != nil && ctx.Err() != nil {
		return nil, err // the next may have the time
	}
	t.doubt.target, t.doubt.err = other, err
	return other, err
}

// SplitOptions cuts the name of a private instance into the server and its
// options. An item without '=' belongs to the value before it, as where a
// target is opened.
func SplitOptions(target string) (server string, options []string) {
	if IsDSN(target) {
		return target, nil
	}
	items := strings.Split(target, ",")
	for _, item := range items[1:] {
		if !strings.Contains(item, "=") && len(options) > 0 {
			options[len(options)-1] += "," + item
			continue
		}
		options = append(options, item)
	}
	return items[0], options
}

// JoinOptions puts together what SplitOptions cuts.
func JoinOptions(server string, options []string) string {
	return strings.Join(append([]string{server}, options...), ",")
}

// SameCause reports whether two verdicts show the same under conditions that
// differ: the same deviations, or the same kind of violation.
func SameCause(v, w *oracle.Verdict) bool {
	return w.Outcome == v.Outcome && (v.Outcome == oracle.Known && slices.Equal(w.Rules, v.Rules) || v.Outcome == oracle.Violation && w.Kind == v.Kind)
}
