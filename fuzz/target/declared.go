package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// EnvPromise, if it is set, says what the levels of the target promise, as in "RR=SI,SER=S": no rule
// judges it then.
const EnvPromise = "TXNFUZZ_PROMISE"

// declaredPromise reads EnvPromise; nil: it is not set.
func declaredPromise() (*history.Declared, error) {
	text := os.Getenv(EnvPromise)
	if text == "" {
		return nil, nil
	}
	levels, err := promise.ParseDeclared(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvPromise, err)
	}
	return &history.Declared{Levels: levels}, nil
}

// promisedByCluster returns what the levels of a cluster promise to transactions on different members, which no rule of
// one server knows; nil where all sessions are on one server.
func promisedByCluster(b harness.Backend) *history.Declared {
	levels := harness.PromisedAcross(b)
	if levels == nil {
		return nil
	}
	// Each member draws values of its own for AUTO_INCREMENT.
	return &history.Declared{Levels: levels, OwnCounters: true}
}

// alone is what a server whose promise was declared is tried with first: a session that has it for itself.
const alone = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ UPDATE t SET b = b + 1 WHERE a = 1;
/* tx1 */ DELETE FROM t WHERE a = 2;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
/* tx1 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 0);
/* tx1 */ UPDATE t SET b = b + 1;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t FOR UPDATE;
`

// counted has a statement that takes AUTO_INCREMENT values.
const counted = `
/* init */ CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
/* tx1 */ INSERT INTO t (b) VALUES (10), (20);
`

// rehearsals are what it is tried with then: tx2 meets what tx1 writes.
var rehearsals = []struct{ name, text string }{
	{"two that change a row", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
	{"two that change what both have read", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 22 WHERE a = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
	{"two that insert a key", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 11);
/* tx2 */ INSERT INTO t VALUES (1, 12);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
	{"two that insert a value of a unique key", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 10);
/* tx2 */ INSERT INTO t VALUES (2, 10);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
	{"two that wait for each other", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 22 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 12 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 21 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
}

// rehearse learns how a server whose promise was declared behaves: whether a session alone does as the judge
// by promise needs it, and with which errors transactions fail that were set against each other. It tells
// progress what it learned. It costs six cases a level.
func (t *Target) rehearse(ctx context.Context, progress io.Writer) error {
	if progress == nil {
		progress = io.Discard
	}
	if len(t.Levels()) == 0 {
		return fmt.Errorf("it has none of the levels of which something is promised (%s): it has %s",
			promise.Text(t.server.Declared.Levels), strings.Join(LevelNames(harness.LevelsOf(t.backend)), ", "))
	}
	fmt.Fprintf(progress, "no rule judges %s, but what was declared:\n", t.Name)
	var err error
	if !t.server.Declared.OwnCounters {
		if t.server.Declared.OwnCounters, err = t.countsItself(ctx); err != nil {
			return err
		}
	}
	if t.server.Declared.OwnCounters {
		fmt.Fprintln(progress, "  cases with AUTO_INCREMENT are not judged: a session cannot choose the next value")
	}
	learned := map[history.Conflict]bool{}
	for _, l := range t.Levels() {
		fmt.Fprintf(progress, "  %s promises %s\n", l.Short(), t.server.Declared.Levels[l])
		if h, c, err := t.rehearseOne(ctx, alone, l); err != nil {
			return err
		} else if err := t.aloneAsPromised(ctx, c, h); err != nil {
			return fmt.Errorf("at %s: %w", l.Short(), err)
		}
		for _, r := range rehearsals {
			h, _, err := t.rehearseOne(ctx, r.text, l)
			if err != nil {
				return err
			}
			fmt.Fprintf(progress, "    %s: %s\n", r.name, behaved(h, learned))
		}
	}
	t.server.Declared.Conflicts = slices.SortedFunc(maps.Keys(learned), func(a, b history.Conflict) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Begins, b.Begins))
	})
	fmt.Fprintln(progress, "  who waits for whom, and which of two transactions fails, is not judged")
	return nil
}

// countsItself reports whether a statement that is run twice with the same SET insert_id makes other rows.
func (t *Target) countsItself(ctx context.Context) (bool, error) {
	h, c, err := t.rehearseOne(ctx, counted, t.Levels()[0])
	if err != nil {
		return false, err
	}
	x, err := t.pool.Scratch(ctx, c, h.Levels)
	if err != nil {
		return false, fmt.Errorf("rehearse AUTO_INCREMENT: %w", err)
	}
	defer x.Close()
	var made [2][]history.Table
	for i := range made {
		a, err := x.Alone(ctx, &history.Solo{Tables: h.Initial, Steps: []int{0}, IDs: map[int]int64{0: 7}, InTxn: true})
		if err != nil {
			return false, fmt.Errorf("rehearse AUTO_INCREMENT: %w", err)
		}
		if made[i] = a.After; a.Open != "" || len(a.After) != 1 || a.Results[0].Err != nil {
			return true, nil
		}
	}
	return !history.SameRows(made[0][0].Rows, made[1][0].Rows, false) || made[0][0].Rows[0][0].Text != "7", nil
}

func (t *Target) rehearseOne(ctx context.Context, text string, l corpus.Level) (*history.History, *corpus.Case, error) {
	c, err := corpus.Parse("rehearsal", []byte(text))
	if err != nil {
		return nil, nil, fmt.Errorf("rehearse: %w", err)
	}
	run := t.Run(ctx, c, LevelsFor(c, l))
	if run.History == nil || run.Err != nil {
		return nil, nil, fmt.Errorf("rehearse at %s: %w", l.Short(), errors.Join(run.Err, ctx.Err()))
	}
	return run.History, c, nil
}

// aloneAsPromised fails where the judge by promise cannot follow a session that has the server for itself.
func (t *Target) aloneAsPromised(ctx context.Context, c *corpus.Case, h *history.History) error {
	open := false
	for i := range h.Stmts {
		st := &h.Stmts[i]
		node := c.Steps[st.Line].Stmt
		switch stmt.KindOf(node) {
		case stmt.Begin:
			open = true
		case stmt.Commit, stmt.Rollback:
			open = false
		}
		if st.Result.InTxn != open {
			return fmt.Errorf("the server does not tell whether a transaction is open: it says %t behind %s",
				st.Result.InTxn, node.Text())
		}
	}
	g, err := t.RuleByPromise(ctx, c, h)
	switch {
	case err != nil:
		return fmt.Errorf("run statements alone: %w", err)
	case g.Broken:
		return fmt.Errorf("a session alone does not do what it does in a copy of its tables: expected %s, got %s",
			g.Expected, g.Actual)
	case g.Unjudged != "":
		return fmt.Errorf("a session alone cannot be judged: %s", g.Unjudged)
	}
	return nil
}

// behaved tells how two transactions fared, and notes the errors that came of their meeting.
func behaved(h *history.History, learned map[history.Conflict]bool) string {
	var out []string
	for i := range h.Stmts {
		st := &h.Stmts[i]
		if len(st.Waits) > 0 {
			out = append(out, fmt.Sprintf("tx%d waits", st.Session))
		}
		if e := st.Result.Err; e != nil {
			out = append(out, fmt.Sprintf("tx%d fails with error %d (%s)", st.Session, e.Code, OneLine(e.Message)))
			if !promise.OfConstraint(e) {
				learned[history.ConflictOf(e)] = true
			}
		}
	}
	if len(out) == 0 {
		return "both commit, and nobody waits"
	}
	return strings.Join(out, ", ")
}
