package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Answered puts, for Dependencies, in the place of what each wrong answer should rest on
// what it does rest on: the versions whose rows came. Where those are none or not the only
// ones, nothing is known of what the statement met. It reports false where a statement
// went wrong whose effect is not known either, as that of a write: then no version behind
// it counts. The replay must have been Observed and have gone on behind its first
// difference.
func (r *Replay) Answered() bool {
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Diff == nil {
			continue
		}
		switch s.Kind {
		case stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate:
		default:
			return false
		}
		l, ok := r.answered(i)
		if s.looks = nil; ok {
			s.looks = []look{l}
		}
	}
	return true
}

// Unanswered forgets what wrong answers should rest on.
func (r *Replay) Unanswered() {
	for i := range r.Steps {
		if r.Steps[i].Diff != nil {
			r.Steps[i].looks = nil
		}
	}
}

// shown is a version and the row that a query makes of it.
type shown struct {
	chain   *versions.Chain
	version *versions.Version
	text    string
}

// answered reads off a query's answer which version of each row it met.
func (r *Replay) answered(i int) (look, bool) {
	st, s := &r.History.Stmts[i], &r.Steps[i]
	q, ok := r.Case.Steps[st.Line].Stmt.(*ast.SelectStmt)
	if !ok || st.Result.Err != nil || s.txn == nil || q.Limit != nil || q.GroupBy != nil || q.Distinct || Aggregates(q) || HasSubquery(q) {
		return look{}, false
	}
	name := stmt.SoleTable(q.From)
	if name == nil || r.Table(name.Name.O) == nil {
		return look{}, false
	}
	store := r.rows()
	t := store.Tables[r.Table(name.Name.O).Def.Name]
	all, unmatched, ok := r.showable(t, store, q, st)
	if !ok {
		return look{}, false
	}
	came, chosen := CountTexts(st.Result.Rows), map[string]int{}
	l := look{table: t}
	cameOf := map[*versions.Chain]bool{}
	for _, v := range all {
		if came[v.text] == 0 {
			continue
		}
		chosen[v.text]++
		cameOf[v.chain] = true
		l.met = append(l.met, metOf(v.chain, v.version, true))
	}
	for text, n := range came {
		if chosen[text] != n {
			return look{}, false
		}
	}
	// Of a row that did not come, the version met is known if there was one only that
	// the condition does not choose.
	for c, list := range unmatched {
		switch {
		case cameOf[c]:
		case len(list) == 0:
			return look{}, false
		case len(list) == 1:
			l.met = append(l.met, metOf(c, list[0], false))
		default:
			l.met = append(l.met, due(s, c))
		}
	}
	slices.SortStableFunc(l.met, func(a, b met) int { return a.chain.ID - b.chain.ID })
	return l, true
}

// showable returns the versions of a table's rows that a query may have shown, those
// included that were rolled back, and of each row those, nil for none yet, that it may
// have met and not shown.
func (r *Replay) showable(t *versions.Table, store *versions.Store, q *ast.SelectStmt, st *history.Stmt) (all []shown, unmatched map[*versions.Chain][]*versions.Version, ok bool) {
	had := map[*versions.Chain][]*versions.Version{}
	var order []*versions.Chain
	add := func(c *versions.Chain, v *versions.Version) {
		if v.Txn != nil && r.History.Stmts[v.Stmt].Submit > st.Return {
			return // it came later
		}
		if had[c] == nil {
			order = append(order, c)
		}
		had[c] = append(had[c], v)
	}
	for _, c := range t.Chains {
		for k := range c.Versions {
			add(c, &c.Versions[k])
		}
	}
	for k := range store.Undone {
		if u := &store.Undone[k]; u.Table == t && !u.Chain.Has(u.Tx, u.Version.Stmt) {
			add(u.Chain, &u.Version)
		}
	}
	views := &Stored{store, versions.View{Tick: versions.Latest}}
	bare := *q
	bare.OrderBy = nil
	unmatched = map[*versions.Chain][]*versions.Version{}
	for _, c := range order {
		unmatched[c] = nil
		if !slices.ContainsFunc(had[c], func(v *versions.Version) bool { return v.Txn == nil }) {
			unmatched[c] = append(unmatched[c], nil)
		}
		for _, v := range had[c] {
			var rows []int
			var err error
			if v.Row != nil {
				if rows, err = r.Solver.Matches(&bare, t.Def, []solve.Row{v.Row}, views); err != nil {
					return nil, nil, false
				}
			}
			if len(rows) == 0 {
				unmatched[c] = append(unmatched[c], v)
				continue
			}
			res, err := r.Solver.Project(&bare, t.Def, []solve.Row{v.Row}, views)
			if err != nil || len(res.Rows) != 1 {
				return nil, nil, false
			}
			all = append(all, shown{c, v, versions.FormatRow(res.Rows[0])})
		}
	}
	return all, unmatched, true
}

// due returns what a statement should have met of a row, if it should not have shown it.
func due(s *Step, c *versions.Chain) met {
	for i := range s.looks {
		for _, m := range s.looks[i].met {
			if m.chain == c && !m.matched {
				return m
			}
		}
	}
	return met{chain: c, unknown: true}
}

func metOf(c *versions.Chain, v *versions.Version, matched bool) met {
	if v == nil {
		return met{chain: c, none: true}
	}
	return met{chain: c, by: v.Txn, stmt: v.Stmt, matched: matched}
}

func Aggregates(q *ast.SelectStmt) bool {
	return corpus.Contains(q.Fields, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
			return true, false
		}
		return false, false
	})
}
