package target

import (
	"context"
	"errors"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// RuleByPromise holds a history against what its levels promise, with the server as the calculator:
// what was recorded of it in History.Solos is not asked again, what is asked is kept there. It costs
// the set-up of the case and a few milliseconds for each question, of which PostgreSQL needs one.
// What is plain on PostgreSQL is not asked, unless the promise then is broken.
func (t *Target) RuleByPromise(ctx context.Context, c *corpus.Case, h *history.History) (g promise.Ruling, err error) {
	var plain judging.Plain
	a := &answerer{t: t, ctx: ctx, c: c, h: h}
	defer a.release()
	g, err = judging.Rule(c, h, judging.Options{Solver: t.solver, Witness: t.plain.witness()}, &plain, a.alone)
	t.plain.add(plain)
	return g, err
}

// namesByAsking lets a run of PostgreSQL ask the server, once its anomalies are to be named, for what their
// dependencies rest on; see promise.Dependencies. What is answered is kept in History.Solos.
func (t *Target) namesByAsking(ctx context.Context, r *Trial) {
	if r.History == nil || t.server.DBMS != history.PostgreSQL {
		return
	}
	c, h := r.Case, r.History
	ctx = context.WithoutCancel(ctx)
	r.askForNames = func() {
		ctx, cancel := context.WithTimeout(ctx, caseDeadline)
		defer cancel()
		a := &answerer{t: t, ctx: ctx, c: c, h: h}
		defer a.release()
		_, _ = promise.Dependencies(c, h, a.alone) // without all answers there is no name
	}
}

// cannotLayOut says that an error of RuleByPromise is one of the case and not of the server.
func cannotLayOut(err error) bool {
	var refused *harness.RefusedError
	var init *harness.InitError
	return errors.As(err, &refused) || errors.As(err, &init)
}
