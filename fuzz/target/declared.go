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

// rehearsals are what a server whose promise was declared is tried with before it is judged. In the first
// one session is alone; in the others tx2 meets what tx1 writes.
var rehearsals = []struct{ name, text string }{
	{"one session", `
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
`},
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
// progress what it learned. It costs some twenty cases.
func (t *Target) rehearse(ctx context.Context, progress io.Writer) error {
	if progress == nil {
		progress = io.Discard
	}
	fmt.Fprintf(progress, "no rule judges %s, but what was declared:\n", t.Name)
	learned := map[history.Conflict]bool{}
	for _, l := range t.Levels() {
		fmt.Fprintf(progress, "  %s promises %s\n", l.Short(), t.server.Declared.Levels[l])
		for i, r := range rehearsals {
			c, err := corpus.Parse(r.name, []byte(r.text))
			if err != nil {
				return fmt.Errorf("rehearse %s: %w", r.name, err)
			}
			run := t.Run(ctx, c, LevelsFor(c, l))
			if run.History == nil || run.Err != nil {
				return fmt.Errorf("rehearse %s at %s: %w", r.name, l.Short(), errors.Join(run.Err, ctx.Err()))
			}
			if i == 0 {
				if err := t.aloneAsPromised(ctx, c, run.History); err != nil {
					return fmt.Errorf("at %s: %w", l.Short(), err)
				}
				continue
			}
			fmt.Fprintf(progress, "    %s: %s\n", r.name, behaved(run.History, learned))
		}
	}
	t.server.Declared.Conflicts = slices.SortedFunc(maps.Keys(learned), func(a, b history.Conflict) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Begins, b.Begins))
	})
	fmt.Fprintln(progress, "  who waits for whom, and which of two transactions fails, is not judged")
	return nil
}

// aloneAsPromised fails where the judge by promise cannot follow a session that has the server for itself.
func (t *Target) aloneAsPromised(ctx context.Context, c *corpus.Case, h *history.History) error {
	open := false
	for i := range h.Stmts {
		switch i {
		case 0, 7: // the two BEGINs
			open = true
		case 5, 10: // ROLLBACK and COMMIT
			open = false
		}
		if st := &h.Stmts[i]; st.Result.InTxn != open {
			return fmt.Errorf("the server does not tell whether a transaction is open: it says %t behind %s", st.Result.InTxn, c.Steps[st.Line].Stmt.Text())
		}
	}
	g, err := t.RuleByPromise(ctx, c, h)
	switch {
	case err != nil:
		return fmt.Errorf("run statements alone: %w", err)
	case g.Broken:
		return fmt.Errorf("a session alone does not do what it does in a copy of its tables: expected %s, got %s", g.Expected, g.Actual)
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
