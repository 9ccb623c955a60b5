package mvcc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Compare holds a statement's answer against its prediction.
func (r *Replay) Compare(i int, kind stmt.Kind, p *Prediction) *Difference {
	st := &r.History.Stmts[i]
	res := &st.Result
	// The texts cost more than the comparison, and nearly every answer agrees.
	differs := func(what, reason string, args ...any) *Difference {
		return &Difference{Stmt: i, Kind: what, Expected: p.String(kind), Actual: history.Describe(kind, res), Reason: fmt.Sprintf(reason, args...)}
	}
	code := ErrCode(st)
	switch {
	case code == ErrInternal:
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
		if SameRows(p.Rows, res.Rows, p.Ordered) {
			return nil
		}
		d := differs("wrong-rows", "the %s returned other rows than it should see", kind)
		if !p.Ordered && len(p.Rows) > 0 {
			d.Expected = ListRows(beside(shownRows(p.Rows), shownCells(res.Rows)), true)
		}
		return d
	}
	// Of a statement that was killed the answer may be missing.
	if got := ChangedRows(res); got >= 0 && p.Changed != got || p.Matched >= 0 && res.Matched >= 0 && p.Matched != res.Matched {
		return differs("wrong-count", "the %s touched another number of rows than it should", kind)
	}
	return nil
}

// ChangedRows counts the rows that a write changed; -1: the answer does not say.
func ChangedRows(r *history.Result) int64 {
	if r.Changed < 0 {
		return r.Affected
	}
	return r.Changed
}

// SameRows compares predicted rows with the server's text, as bags unless the
// order is total.
func SameRows(want [][]sqlvalue.Value, got [][]history.Cell, ordered bool) bool {
	if len(want) != len(got) {
		return false
	}
	if slices.EqualFunc(want, got, sameRow) {
		return true
	}
	w, g := rowTexts(want), CellTexts(got)
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

func rowTexts[R ~[]sqlvalue.Value](rows []R) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = versions.FormatRow(solve.Row(r))
	}
	return out
}

// CellTexts gives rows of an answer as versions.FormatRow prints predicted ones, to be
// compared with them.
func CellTexts(rows [][]history.Cell) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = history.RowText(r, history.Cell.Key)
	}
	return out
}

// shownCells is CellTexts for people.
func shownCells(rows [][]history.Cell) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = history.RowText(r, history.Cell.String)
	}
	return out
}

func shownRows[R ~[]sqlvalue.Value](rows []R) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = versions.ShowRow(solve.Row(r))
	}
	return out
}

// CountTexts returns how many rows of each text an answer has.
func CountTexts(rows [][]history.Cell) map[string]int {
	n := make(map[string]int, len(rows))
	for _, r := range rows {
		n[history.RowText(r, history.Cell.Key)]++
	}
	return n
}

// String prints a prediction on one line, in the words of Describe.
func (p *Prediction) String(kind stmt.Kind) string {
	switch {
	case p.Err != 0:
		return fmt.Sprintf("error %d", p.Err)
	case kind == stmt.Update:
		if p.Matched < 0 {
			return fmt.Sprintf("%d affected", p.Changed)
		}
		return fmt.Sprintf("%d matched, %d changed", p.Matched, p.Changed)
	case kind.Writes(), kind == stmt.Raw && p.Changed >= 0:
		return fmt.Sprintf("%d affected", p.Changed)
	case kind.Control():
		return "ok"
	}
	return ListRows(shownRows(p.Rows), p.Ordered)
}

func ListRows(rows []string, ordered bool) string {
	if len(rows) == 0 {
		return "no rows"
	}
	if !ordered {
		slices.Sort(rows)
	}
	return strings.Join(rows, " ")
}

// Lens is a wrong way to look at the versions.
type Lens struct {
	Store *versions.Store
	View  versions.View
}

// CommittedTxns returns the committed transactions that wrote something, in order
// of commit.
func (r *Replay) CommittedTxns() []*versions.Txn {
	var out []*versions.Txn
	for _, name := range r.Store.Order {
		for _, w := range r.writers(r.Store.Tables[name]) {
			if w.Commit > 0 && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *versions.Txn) int { return cmp.Compare(a.Commit, b.Commit) })
	return out
}

// RolledBack returns the transactions that were undone, in that order.
func (r *Replay) RolledBack() []*versions.Txn {
	var out []*versions.Txn
	for _, u := range r.Store.Undone {
		if u.Tx.Ended > 0 && u.Tx.Commit == 0 && !slices.Contains(out, u.Tx) {
			out = append(out, u.Tx)
		}
	}
	return out
}

// Keeping returns the store as if rolled-back transactions had been committed
// instead.
func (r *Replay) Keeping(txns ...*versions.Txn) *versions.Store {
	kept := make(map[*versions.Txn]*versions.Txn, len(txns))
	for _, tx := range txns {
		k := *tx
		k.Commit = tx.Ended
		kept[tx] = &k
	}
	s := &versions.Store{Tables: make(map[string]*versions.Table, len(r.Store.Tables)), Order: r.Store.Order, Solver: r.Store.Solver}
	for name, t := range r.Store.Tables {
		nt := &versions.Table{Def: t.Def, Clustered: t.Clustered, Moves: t.Moves}
		byChain := make(map[*versions.Chain]*versions.Chain)
		for _, c := range t.Chains {
			byChain[c] = &versions.Chain{ID: c.ID, Versions: slices.Clone(c.Versions)}
			nt.Chains = append(nt.Chains, byChain[c])
		}
		for _, u := range r.Store.Undone {
			if kept[u.Tx] == nil || u.Table != t {
				continue
			}
			c, ok := byChain[u.Chain]
			if !ok {
				c = &versions.Chain{ID: u.Chain.ID}
				byChain[u.Chain] = c
				nt.Chains = append(nt.Chains, c)
			}
			u.Version.Txn = kept[u.Tx]
			c.Versions = append(c.Versions, u.Version)
			slices.SortStableFunc(c.Versions, func(a, b versions.Version) int {
				if (a.Txn == nil) != (b.Txn == nil) {
					return BoolRank(a.Txn != nil) - BoolRank(b.Txn != nil)
				}
				return cmp.Compare(a.Stmt, b.Stmt)
			})
		}
		s.Tables[name] = nt
	}
	return s
}

// WriteStmts returns the statements that wrote versions which still stand.
func (r *Replay) WriteStmts() []int {
	var out []int
	for _, t := range r.Store.Tables {
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

// WouldAnswer reports whether a statement under a view gives the answer; of a
// write, whether it would match as many rows.
func (r *Replay) WouldAnswer(node ast.StmtNode, l Lens, res *history.Result) bool {
	views := &Stored{l.Store, l.View}
	if s, ok := node.(*ast.SelectStmt); ok {
		out, err := r.Solver.Select(s, views)
		return err == nil && SameRows(out.Rows, res.Rows, out.TotalOrder)
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
	t := l.Store.Tables[name.Name.O]
	if t == nil {
		return false
	}
	rows, _ := t.Rows(l.View)
	idx, err := r.Solver.Matches(node, t.Def, rows, views)
	return err == nil && int64(len(idx)) == want
}
