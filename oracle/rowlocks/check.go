package rowlocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Check returns the first difference of a history of PostgreSQL, nil for none. Of a case that has triggers or views,
// ends sessions, or has statements that lock more than rows it claims nothing.
func Check(c *corpus.Case, h *history.History) *history.Difference {
	if h.End != history.Complete || h.Held() {
		return nil
	}
	s, ok := setUpOf(c)
	if !ok {
		return nil
	}
	f := follow(c, h, &s)
	if f == nil {
		return nil
	}
	for i := range h.Stmts {
		if d := f.waited(i); d != nil {
			return d
		}
		if d := f.answered(i); d != nil {
			return d
		}
	}
	return nil
}

// waited judges the waits of a statement: when one of them was noticed, another transaction that had not ended before
// the statement was sent must have asked for a lock that conflicts with what the statement can ask for. Who waits is in
// the way of who comes later.
func (f *follower) waited(i int) *history.Difference {
	st := &f.h.Stmts[i]
	for _, w := range st.Waits {
		// The server names no holder of the case if it is a prepared transaction, or was gone when it was asked.
		if w.Kind != history.RowLock || len(w.Holders) == 0 || !onRows(f.node(i)) {
			continue
		}
		if !slices.ContainsFunc(f.all, func(t *transaction) bool {
			return t != f.of[i] && t.gone >= st.Submit && t.askedFor(f.asks[i], w.From)
		}) {
			return &history.Difference{Stmt: i, Kind: "unjustified-wait", Expected: "no wait",
				Actual: fmt.Sprintf("a wait for %s", sessions(w.Holders)),
				Reason: "nobody else can have locked a row of this table in a mode that conflicts"}
		}
	}
	return nil
}

// onRows says that a statement is a query or a write. A COMMIT may wait for what a deferred constraint needs.
func onRows(n ast.StmtNode) bool {
	switch n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *stmt.RawStmt:
		return true
	}
	return false
}

// askedFor reports whether a transaction can have asked, before a moment, for a lock that conflicts with one of another
// statement.
func (t *transaction) askedFor(other asks, before history.Tick) bool {
	return slices.ContainsFunc(t.asked, func(a asked) bool { return a.at <= before && a.conflicts(other) })
}

func (f *follower) node(i int) ast.StmtNode { return f.c.Steps[f.h.Stmts[i].Line].Stmt }

// answered judges the answer of a statement: a row that it has surely locked was not locked by another transaction, in
// a mode that conflicts, from before the statement was sent until after it had answered, nor at the moment of the answer
// if its transaction goes on. A row of a key is the same for both: who locks the row keeps its key, and a second row
// cannot have it meanwhile.
func (f *follower) answered(i int) *history.Difference {
	st := &f.h.Stmts[i]
	l := f.lockedBy(f.node(i), &st.Result)
	for _, t := range f.all {
		for _, h := range t.holds {
			if t == f.of[i] || h.table != l.table || !h.mode.Conflicts(l.mode) || h.gives <= st.Return {
				continue
			}
			if h.has >= st.Submit && !(h.has < st.Return && st.Result.InTxn) {
				continue
			}
			for _, key := range l.keys {
				if slices.Contains(h.keys, key) {
					return f.shared(i, t, h, &l, key)
				}
			}
		}
	}
	return nil
}

// shared is the difference of a row that two transactions have locked.
func (f *follower) shared(i int, t *transaction, h *holding, l *locked, key string) *history.Difference {
	key = strings.ReplaceAll(key, between, ", ")
	d := &history.Difference{Stmt: i, Kind: "missing-wait", Expected: "a wait",
		Actual: history.Describe(stmt.KindOf(f.node(i)), &f.h.Stmts[i].Result)}
	if l.skips {
		d.Kind, d.Expected = "locked-row-returned", fmt.Sprintf("no row (%s)", key)
	}
	d.Reason = fmt.Sprintf("tx%d, which has not ended, has locked the row (%s) of %s %s, and this statement locks it %s",
		t.session, key, l.table, modes[h.mode], modes[l.mode])
	return d
}

var modes = map[versions.Mode]string{
	versions.KeyShare: "FOR KEY SHARE", versions.Share: "FOR SHARE", versions.NoKeyExclusive: "FOR NO KEY UPDATE",
	versions.Exclusive: "FOR UPDATE",
}

// sessions names sessions.
func sessions(numbers []int) string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = fmt.Sprintf("tx%d", n)
	}
	return strings.Join(out, " and ")
}
