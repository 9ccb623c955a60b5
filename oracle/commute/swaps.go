package commute

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Swap says that the steps At and At+1 of a case may change places.
type Swap struct {
	At  int
	Why Reason
}

// Reason says why two statements commute.
type Reason string

// The reasons.
const (
	DisjointTables Reason = "they have no table in common"
	OpenSnapshot   Reason = "one reads a snapshot that is open"
)

// Of returns the case with two steps swapped.
func (s Swap) Of(c *corpus.Case) *corpus.Case {
	out := c.Clone()
	out.Steps[s.At], out.Steps[s.At+1] = out.Steps[s.At+1], out.Steps[s.At]
	return out
}

// harmless are errors that leave the transaction as it was: duplicate, out of range,
// overflow, NULL in a column that takes none, division by zero, wrong value.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
var harmless = []uint16{1062, 1264, 1690, 1048, 1365, 1366, 1292}

// Swaps returns what may be swapped of a case, by the run of it that h tells of; nothing if
// the run left the submitted order.
func Swaps(c *corpus.Case, h *history.History) []Swap {
	if h.End != history.Complete || len(h.Stmts) != len(c.Steps) || !plainTables(c.Init) {
		return nil
	}
	for i := range h.Stmts {
		if h.Stmts[i].Line != i {
			return nil
		}
	}
	facts := make([]fact, len(c.Steps))
	for i := range c.Steps {
		facts[i] = factOf(c.Steps[i].Stmt)
		if facts[i].setsLevel {
			return nil
		}
	}
	keyed := keyedTables(c.Init)
	open := openSnapshots(c, h, facts)
	var out []Swap
	for i := 0; i+1 < len(c.Steps); i++ {
		a, b := &h.Stmts[i], &h.Stmts[i+1]
		if a.Session == b.Session || beside(h, i) || !still(a) || !still(b) {
			continue
		}
		f, g := &facts[i], &facts[i+1]
		if !f.rowsAlone() || !g.rowsAlone() {
			continue
		}
		switch {
		case inside(a) && inside(b) && (f.plain && readsSnapshot(h, i, open[i]) || g.plain && readsSnapshot(h, i+1, open[i+1])):
			out = append(out, Swap{i, OpenSnapshot})
		case steady(h, i, f, open[i]) && steady(h, i+1, g, open[i+1]) && f.numbersNone(keyed) && g.numbersNone(keyed) &&
			!slices.ContainsFunc(f.tables, func(t string) bool { return slices.Contains(g.tables, t) }):
			out = append(out, Swap{i, DisjointTables})
		}
	}
	return out
}

// still says that a statement neither waited nor ended anything.
func still(st *history.Stmt) bool {
	return st.Return != 0 && len(st.Waits) == 0 && !st.Parked && (st.Result.Err == nil || slices.Contains(harmless, st.Result.Err.Code))
}

// beside says that another statement ran while the i-th and the next one did.
func beside(h *history.History, i int) bool {
	from, until := h.Stmts[i].Submit, h.Stmts[i+1].Return
	for k := range h.Stmts {
		if st := &h.Stmts[k]; k != i && k != i+1 && st.Submit < until && (st.Return == 0 || st.Return > from) {
			return true
		}
	}
	return h.Stmts[i].Return > h.Stmts[i+1].Submit
}

// inside says that a statement ran in a transaction and left it open.
func inside(st *history.Stmt) bool { return st.InTxn && st.Result.InTxn }

// steady says that a statement neither commits by itself nor may take a snapshot.
func steady(h *history.History, i int, f *fact, open bool) bool {
	st := &h.Stmts[i]
	switch h.Levels[st.Session] {
	case corpus.ReadUncommitted, corpus.ReadCommitted:
		return inside(st) || f.plain && !st.InTxn && !st.Result.InTxn
	case corpus.RepeatableRead:
		return inside(st) && open
	}
	return false
}

func readsSnapshot(h *history.History, i int, open bool) bool {
	return open && h.Levels[h.Stmts[i].Session] == corpus.RepeatableRead
}

// openSnapshots says of each step whether the snapshot of its transaction is surely open
// before it: one with a consistent snapshot, any on TiDB, where BEGIN takes it, or one in
// which a plain SELECT has returned a row of a table.
// https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html
// https://docs.pingcap.com/tidb/stable/transaction-isolation-levels
func openSnapshots(c *corpus.Case, h *history.History, facts []fact) []bool {
	out := make([]bool, len(c.Steps))
	open := map[int]bool{}
	for i := range c.Steps {
		st := &h.Stmts[i]
		out[i] = open[st.Session] && st.InTxn
		switch f := &facts[i]; {
		case !st.Result.InTxn:
			open[st.Session] = false
		case f.begins && st.Result.Err == nil:
			open[st.Session] = f.snapshot || h.Server.DBMS == history.TiDB
		case f.plain && f.returnsRows && len(st.Result.Rows) > 0 && h.Levels[st.Session] == corpus.RepeatableRead:
			open[st.Session] = true
		case f.control:
			open[st.Session] = false
		}
	}
	return out
}
