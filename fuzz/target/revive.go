package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// restarter is a backend whose server can be replaced by a fresh one.
type restarter interface {
	Restart(context.Context) error
}

// revive replaces a dead server that is ours, once for all who saw it die: seen
// is the number of revivals when their case began.
func (t *Target) revive(ctx context.Context, seen int) error {
	b, ok := t.backend.(restarter)
	if !ok {
		return errors.New("the server died and is not ours to start")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revived != seen {
		return nil
	}
	// The new one may die, too, before it has served a case.
	var err error
	for range revivals {
		if err = t.replace(ctx, b); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	t.revived++
	return nil
}

// revivals is how often a fresh server is tried.
const revivals = 3

func (t *Target) replace(ctx context.Context, b restarter) error {
	if err := b.Restart(ctx); err != nil {
		return fmt.Errorf("restart the server: %w", err)
	}
	_ = t.pool.Close() // its databases went down with the server
	t.remember(t.pool.Stats())
	pool, err := harness.NewPool(ctx, t.backend, t.options)
	if err != nil {
		return fmt.Errorf("prepare the restarted server: %w", err)
	}
	t.pool = pool
	return nil
}

// Restarts is how often the server died and was replaced.
func (t *Target) Restarts() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.revived
}

// logReader is a backend whose server's error log can be read.
type logReader interface {
	// LogProblems returns the lines that no earlier call returned and that a
	// sound server never writes.
	LogProblems() []string
}

// readLog makes a finding of what a living server complained of while a case
// ran: that outranks what the oracle has to say. The server is replaced, since
// its data may be damaged. With several workers the line may be another case's;
// the reruns of the finding tell.
func (t *Target) readLog(ctx context.Context, r *Trial, seen int) {
	b, ok := t.backend.(logReader)
	if !ok {
		return
	}
	lines := b.LogProblems()
	if len(lines) == 0 {
		return
	}
	r.Log, r.Err = t.backend.Log(), nil
	r.Verdict = judging.OfServer(oracle.ServerLog, "nothing of that sort in the server's error log", OneLine(lines[0]),
		"the server wrote this while the case ran, and went on", logFingerprint(lines[0]))
	r.Dead = t.revive(ctx, seen)
}

// judgeLost tells a server that died, or a session that it dropped on an
// internal error, from a connection that broke for a reason of its own.
//
// A dead server that is ours is replaced; else dead says that no case can be
// run any more.
func (t *Target) judgeLost(ctx context.Context, r *Trial, seen int) (v oracle.Verdict, dead error) {
	v = judging.Undecided(ReasonLost, judging.PlainSQL(OneLine(r.Err.Error())))
	alive := t.backend.Alive(ctx)
	log := t.backend.Log() // of the server that died, before it is replaced
	var left *harness.LeftError
	if errors.As(r.Err, &left) && ctx.Err() == nil {
		why := cmp.Or(leftCluster(log), OneLine(ownDatabase.ReplaceAllString(left.Error(), "db.")))
		r.Log = log
		return judging.OfServer(oracle.ReplicaStopped, "each member applies what another one has committed", why,
			"a member of the cluster has left it", string(oracle.ReplicaStopped)+"/left/"+logFingerprint(why)), t.revive(ctx, seen)
	}
	cause := crashLines(log)
	if alive != nil && ctx.Err() == nil {
		dead = t.revive(ctx, seen)
	}
	if alive == nil && cause == "" || ctx.Err() != nil {
		return v, dead
	}
	if r.Log = log; ofGo(cause) {
		r.Log = cause
	}
	seenText, ended := crashLine(cause), "the server died while the case ran"
	switch {
	case cause == "" && alive != nil:
		seenText = OneLine(alive.Error()) + "; the connection broke: " + OneLine(r.Err.Error())
	case cause == "":
		seenText = "the connection broke: " + OneLine(r.Err.Error())
	}
	if alive == nil {
		ended = "the server ended the session on an internal error"
	}
	return crashVerdict(cause, seenText, ended), dead
}
