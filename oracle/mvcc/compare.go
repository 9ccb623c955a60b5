package mvcc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// compare holds a statement's answer against its prediction.
func (r *Replay) compare(i int, kind stmt.Kind, p *Prediction) *Difference {
	st := &r.h.Stmts[i]
	res := &st.Result
	// The texts cost more than the comparison, and nearly every answer agrees.
	differs := func(what, reason string, args ...any) *Difference {
		return &Difference{Stmt: i, Kind: what, Expected: p.String(kind), Actual: describe(kind, res), Reason: fmt.Sprintf(reason, args...)}
	}
	code := errCode(st)
	switch {
	case code == errInternal:
		return differs("internal-error", "the %s failed with an error that no statement may give", kind)
	case code != 0 && p.Err == 0:
		return differs("unexpected-error", "nothing in the rows that the %s sees makes it fail", kind)
	case code == 0 && p.Err != 0:
		return differs("missing-error", "the %s had to fail with error %d", kind, p.Err)
	case code != p.Err:
		return differs("wrong-error", "the %s had to fail with error %d", kind, p.Err)
	case code != 0:
		return nil
	}
	if kind == stmt.Select || kind == stmt.SelectForShare || kind == stmt.SelectForUpdate || kind == stmt.Raw && len(p.Rows)+len(res.Rows) > 0 {
		if sameRows(p.Rows, res.Rows, p.Ordered) {
			return nil
		}
		d := differs("wrong-rows", "the %s returned other rows than it should see", kind)
		if !p.Ordered && len(p.Rows) > 0 {
			d.Expected = listRows(beside(rowTexts(p.Rows), cellTexts(res.Rows)), true)
		}
		return d
	}
	if p.Changed != changedRows(res) || p.Matched >= 0 && res.Matched >= 0 && p.Matched != res.Matched {
		return differs("wrong-count", "the %s touched another number of rows than it should", kind)
	}
	return nil
}

// changedRows counts the rows that a write changed; -1: the answer does not say.
func changedRows(r *history.Result) int64 {
	if r.Changed < 0 {
		return r.Affected
	}
	return r.Changed
}

// sameRows compares predicted rows with the server's text, as bags unless the
// order is total.
func sameRows(want [][]sqlvalue.Value, got [][]history.Cell, ordered bool) bool {
	if len(want) != len(got) {
		return false
	}
	if slices.EqualFunc(want, got, sameRow) {
		return true
	}
	w, g := rowTexts(want), cellTexts(got)
	if !ordered {
		slices.Sort(w)
		slices.Sort(g)
	}
	return slices.Equal(w, g)
}

// beside lists rows that have no order as an answer has them: a row of the answer
// where the answer has it, and those that the answer lacks in the places of its
// wrong ones, so that a reader sees what differs.
func beside(want, got []string) []string {
	lacking := slices.Sorted(slices.Values(want))
	right := make([]bool, len(got))
	for i, g := range got {
		if k, ok := slices.BinarySearch(lacking, g); ok {
			right[i], lacking = true, slices.Delete(lacking, k, k+1)
		}
	}
	out := make([]string, 0, len(want))
	for i, g := range got {
		switch {
		case right[i]:
			out = append(out, g)
		case len(lacking) > 0:
			out, lacking = append(out, lacking[0]), lacking[1:]
		}
	}
	return append(out, lacking...)
}

// sameRow compares a predicted row with the server's text.
func sameRow(want []sqlvalue.Value, got []history.Cell) bool {
	return slices.EqualFunc(want, got, func(v sqlvalue.Value, c history.Cell) bool {
		text, null := v.Text()
		return null == c.Null && (null || text == c.Text)
	})
}

func rowTexts(rows [][]sqlvalue.Value) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = FormatRow(r)
	}
	return out
}

func cellTexts(rows [][]history.Cell) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = formatCells(r)
	}
	return out
}

func formatCells(r []history.Cell) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, c := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.String())
	}
	b.WriteByte(')')
	return b.String()
}

// String prints a prediction on one line, in the words of describe.
func (p *Prediction) String(kind stmt.Kind) string {
	switch {
	case p.Err != 0:
		return fmt.Sprintf("error %d", p.Err)
	case kind == stmt.Update:
		return fmt.Sprintf("%d matched, %d changed", p.Matched, p.Changed)
	case kind.Writes(), kind == stmt.Raw && p.Changed >= 0:
		return fmt.Sprintf("%d affected", p.Changed)
	case kind.Control():
		return "ok"
	}
	return listRows(rowTexts(p.Rows), p.Ordered)
}

// Describe prints a server's answer on one line.
func Describe(n ast.StmtNode, res *history.Result) string { return describe(KindOf(n), res) }

func describe(kind stmt.Kind, res *history.Result) string {
	switch {
	case res.Err != nil:
		return describeError(res.Err)
	case kind == stmt.Update && res.Matched >= 0:
		return fmt.Sprintf("%d matched, %d changed", res.Matched, res.Changed)
	case kind.Writes(), kind == stmt.Raw && res.Affected >= 0 && len(res.Columns) == 0:
		return fmt.Sprintf("%d affected", res.Affected)
	case kind.Control():
		return "ok"
	}
	return listRows(cellTexts(res.Rows), true)
}

func describeError(e *history.Error) string {
	return fmt.Sprintf("error %d (%s)", e.Code, strings.Join(strings.Fields(e.Message), " "))
}

func listRows(rows []string, ordered bool) string {
	if len(rows) == 0 {
		return "no rows"
	}
	if !ordered {
		slices.Sort(rows)
	}
	return strings.Join(rows, " ")
}

// lens is a wrong way to look at the versions.
type lens struct {
	store *Store
	view  View
}

// anomaly is a set of wrong ways that a difference may be named after.
type anomaly struct {
	kind, reason string
	lenses       func(r *Replay, tx *Txn, st *history.Stmt) []lens
}

// anomalies are tried in order; the first that yields the answer names the
// difference. Definitions: Adya, Weak Consistency (1999), sections 3.1, 4.
var anomalies = []anomaly{
	{"non-repeatable-read", "it saw what was committed after the transaction's snapshot",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			if tx.Rules.of(rules.ConsistentRead) != rules.Snapshot || KindOf(r.c.Steps[st.Line].Stmt) != stmt.Select {
				return nil
			}
			return []lens{{&r.store, View{Tick: st.Submit, Own: tx}}, {&r.store, View{Tick: st.Return, Own: tx}}}
		}},
	{"dirty-read", "it saw what another transaction had not committed",
		func(r *Replay, tx *Txn, _ *history.Stmt) []lens {
			return []lens{{&r.store, View{Uncommitted: true, Own: tx}}}
		}},
	{"kept-rollback", "it saw what a transaction had written that was rolled back",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			var out []lens
			for _, u := range r.rolledBack() {
				out = append(out, lens{r.keeping(u), View{Tick: st.Return, Own: tx}})
			}
			return out
		}},
	{"stale-read", "it saw an older state than the level allows",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			var out []lens
			for _, t := range r.commitTicks() {
				if t < st.Submit {
					out = append(out, lens{&r.store, View{Tick: t, Own: tx}})
				}
			}
			slices.Reverse(out)
			return out
		}},
	{"lost-commit", "it did not see what a committed transaction had written",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			var out []lens
			for _, w := range r.committed() {
				v := r.viewOf(tx, st)
				v.WithoutTxn = w
				out = append(out, lens{&r.store, v})
			}
			return out
		}},
	{"lost-own-write", "it did not see the transaction's own writes",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			v := r.viewOf(tx, st)
			v.Own = nil
			return []lens{{&r.store, v}, {&r.store, View{Tick: st.Submit}}}
		}},
	{"lost-write", "it did not see what one earlier statement had written",
		func(r *Replay, tx *Txn, st *history.Stmt) []lens {
			var out []lens
			for _, w := range r.writeStmts() {
				v := r.viewOf(tx, st)
				v.Without = w + 1
				out = append(out, lens{&r.store, v})
			}
			return out
		}},
}

// viewOf is the view that a statement has, as far as naming needs it.
func (r *Replay) viewOf(tx *Txn, st *history.Stmt) View {
	v := View{Tick: st.Submit, Own: tx}
	if tx.Snapshot > 0 && tx.Rules.of(rules.ConsistentRead) == rules.Snapshot && KindOf(r.c.Steps[st.Line].Stmt) == stmt.Select {
		v.Tick = tx.Snapshot
	}
	return v
}

// committed returns the committed transactions that wrote something, in order
// of commit.
func (r *Replay) committed() []*Txn {
	var out []*Txn
	for _, name := range r.store.Order {
		for _, w := range r.writers(r.store.Tables[name]) {
			if w.Commit > 0 && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *Txn) int { return cmp.Compare(a.Commit, b.Commit) })
	return out
}

// rolledBack returns the transactions that were undone, in that order.
func (r *Replay) rolledBack() []*Txn {
	var out []*Txn
	for _, u := range r.store.undone {
		if u.tx.Ended > 0 && u.tx.Commit == 0 && !slices.Contains(out, u.tx) {
			out = append(out, u.tx)
		}
	}
	return out
}

// keeping returns the store as if rolled-back transactions had been committed
// instead.
func (r *Replay) keeping(txns ...*Txn) *Store {
	kept := make(map[*Txn]*Txn, len(txns))
	for _, tx := range txns {
		k := *tx
		k.Commit = tx.Ended
		kept[tx] = &k
	}
	s := &Store{Tables: make(map[string]*Table, len(r.store.Tables)), Order: r.store.Order, solver: r.store.solver}
	for name, t := range r.store.Tables {
		nt := &Table{Def: t.Def, Clustered: t.Clustered}
		byChain := make(map[*Chain]*Chain)
		for _, c := range t.Chains {
			byChain[c] = &Chain{ID: c.ID, Versions: slices.Clone(c.Versions)}
			nt.Chains = append(nt.Chains, byChain[c])
		}
		for _, u := range r.store.undone {
			if kept[u.tx] == nil || u.table != t {
				continue
			}
			c, ok := byChain[u.chain]
			if !ok {
				c = &Chain{ID: u.chain.ID}
				byChain[u.chain] = c
				nt.Chains = append(nt.Chains, c)
			}
			u.version.Txn = kept[u.tx]
			c.Versions = append(c.Versions, u.version)
			slices.SortStableFunc(c.Versions, func(a, b Version) int {
				if (a.Txn == nil) != (b.Txn == nil) {
					return boolRank(a.Txn != nil) - boolRank(b.Txn != nil)
				}
				return cmp.Compare(a.Stmt, b.Stmt)
			})
		}
		s.Tables[name] = nt
	}
	return s
}

// commitTicks returns the points at which what is committed changed, ascending.
func (r *Replay) commitTicks() []history.Tick {
	var out []history.Tick
	for _, t := range r.store.Tables {
		for _, c := range t.Chains {
			for i := range c.Versions {
				if w := c.Versions[i].Txn; w != nil && w.Commit > 0 && !slices.Contains(out, w.Commit) {
					out = append(out, w.Commit)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// writeStmts returns the statements that wrote versions which still stand.
func (r *Replay) writeStmts() []int {
	var out []int
	for _, t := range r.store.Tables {
		for _, c := range t.Chains {
			for i := range c.Versions {
				if v := &c.Versions[i]; v.Txn != nil && !slices.Contains(out, v.Stmt) {
					out = append(out, v.Stmt)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// name refines a difference in rows or counts: which wrong view yields the
// answer?
func (r *Replay) name(d *Difference, i int, tx *Txn, kind stmt.Kind, node ast.StmtNode) {
	if d.Kind != "wrong-rows" && d.Kind != "wrong-count" {
		return
	}
	st := &r.h.Stmts[i]
	for _, a := range anomalies {
		for _, l := range a.lenses(r, tx, st) {
			l.view.Current = i + 1
			if r.wouldAnswer(node, l, &st.Result) {
				d.Kind, d.Reason = a.kind, fmt.Sprintf("tx%d's %s: %s", st.Session, kind, a.reason)
				return
			}
		}
	}
}

// wouldAnswer reports whether a statement under a view gives the answer; of a
// write, whether it would match as many rows.
func (r *Replay) wouldAnswer(node ast.StmtNode, l lens, res *history.Result) bool {
	views := &stored{l.store, l.view}
	if s, ok := node.(*ast.SelectStmt); ok {
		out, err := r.solver.Select(s, views)
		return err == nil && sameRows(out.Rows, res.Rows, out.TotalOrder)
	}
	v := stmt.Of(node)
	want := res.Affected
	if v.Kind == stmt.Update && res.Matched >= 0 {
		want = res.Matched
	}
	name := stmt.SoleTable(v.From)
	if name == nil {
		return false
	}
	t := l.store.Tables[name.Name.O]
	if t == nil {
		return false
	}
	rows, _ := t.Rows(l.view)
	idx, err := r.solver.Matches(node, t.Def, rows, views)
	return err == nil && int64(len(idx)) == want
}
