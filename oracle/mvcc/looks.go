package mvcc

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// look is one statement's look at one table, by a condition: a predicate read with its
// version set (Adya, "Weak Consistency", 1999, section 4.3).
type look struct {
	table *versions.Table
	// holds is the condition, nil where it is the statement's own.
	holds func(solve.Row) bool
	// keyOnly says that it asked no more than whether a row with some key is there.
	keyOnly bool
	// plain says that it locked nothing: it looked through a snapshot, or at uncommitted
	// versions, too.
	plain bool
	// some says that it promises nothing of the rows that it did not return, those
	// included that come later.
	some bool
	// columns are those that a SELECT names, nil: all.
	columns []int
	met     []met
}

// met is what a look met of one row: the version in its view, and whether the row is
// among those that it chose.
type met struct {
	chain *versions.Chain
	// by and stmt tell the version: who wrote it, and with which statement; none if
	// the row had no version yet.
	by   *versions.Txn
	stmt int
	none bool
	// unknown says that it is not known which version it was, or that the look ended
	// before it came there.
	unknown bool
	// matched says that the condition holds for the version; hidden, that it does not,
	// but did for what stood beneath the writes of the version's transaction.
	matched, hidden bool
}

// Obstacle is a row that stood in the way of another with one of its unique keys.
type Obstacle struct {
	Table *versions.Table
	Row   solve.Row // the one that was to be written
}

// Observed makes the replay keep what each statement met, for Dependencies. It costs
// one evaluation of the condition for each row and statement.
func (r *Replay) Observed() *Replay {
	r.KeepsLooks = true
	return r
}

// Observe keeps what a statement met that has just ended. start is when it was sent. One
// that failed tells nothing of what it met but, if that is why, a row with its key.
func (r *Replay) Observe(i int, tx *versions.Txn, start history.Tick) {
	s := &r.Steps[i]
	s.txn, s.looks = tx, nil
	node := r.Case.Steps[r.History.Stmts[i].Line].Stmt
	if s.Expected == nil || s.Kind == stmt.Raw { // what that looked at, nobody knows
		return
	}
	insert, _ := node.(*ast.InsertStmt)
	newest := versions.View{Tick: versions.Latest, Own: tx, Current: i + 1}
	switch {
	case s.Expected.Err == ErrDup && insert != nil:
		for _, o := range r.InTheWay { // with ON DUPLICATE KEY UPDATE more than one
			r.keyLook(s, o, newest, true)
		}
	case s.Expected.Err == ErrDup && len(r.InTheWay) > 0: // the order in which rows were tried last
		r.keyLook(s, r.InTheWay[len(r.InTheWay)-1], newest, true)
	case s.Expected.Err != 0:
		return
	case insert != nil:
		for _, o := range r.InTheWay {
			r.keyLook(s, o, newest, insert.IgnoreErr && !insert.IsReplace && len(insert.OnDuplicate) == 0)
		}
	}
	if s.Expected.Err != 0 {
		return
	}
	view := s.View
	current := view == (versions.View{}) || s.Kind != stmt.Select && s.Kind != stmt.Insert
	if current {
		view = newest
	}
	view.Current = i + 1
	skips := stmt.Of(node).Lock.Wait == stmt.Skips
	var done []*versions.Table
	for _, name := range tablesRead(node) {
		t := r.Table(name)
		if t == nil || slices.Contains(done, t) {
			continue
		}
		done = append(done, t)
		// At READ UNCOMMITTED a plain SELECT has no snapshot.
		l := look{table: t, plain: !current || s.Kind == stmt.Select, some: skips, columns: columnsRead(node, t)}
		coarse := r.coarse
		r.coarse = false
		holds := r.condition(node, t, &r.Store, view)
		exact := !r.coarse && insert == nil
		r.coarse = r.coarse || coarse
		_, shown := t.Rows(view)
		for _, c := range t.Chains {
			m := metIn(view, c, holds)
			switch {
			case m.matched && !current && !slices.Contains(shown, c):
				m = met{chain: c, unknown: true} // a row of its own with the same key hides it
			case current && !m.matched && insert == nil && view.Seen(c) != nil && slices.Contains(s.Expected.Read, c):
				m.matched = true // a subquery saw other rows than the newest
			}
			if skips && !slices.Contains(s.Expected.Read, c) {
				m = met{chain: c, unknown: true}
			} else if current && exact && m.matched && !slices.Contains(s.Expected.Read, c) {
				// A LIMIT ended it before; or it passed the row while this version was
				// not committed yet.
				before := versions.View{Tick: start, Own: tx, Current: i + 1}
				if m = metIn(before, c, holds); m.matched || stmt.Of(node).Limit != nil {
					m = met{chain: c, unknown: true}
				}
			}
			l.met = append(l.met, m)
		}
		if q, ok := node.(*ast.SelectStmt); ok {
			r.leaveOut(&l, q, view, s.Expected.Rows)
		}
		s.looks = append(s.looks, l)
	}
}

// metIn returns what a view meets of a row.
func metIn(view versions.View, c *versions.Chain, holds func(solve.Row) bool) met {
	v := view.Version(c)
	if v == nil {
		return met{chain: c, none: true}
	}
	m := met{chain: c, by: v.Txn, stmt: v.Stmt, matched: holds(v.Row)}
	if !m.matched && v.Txn != nil && v.Txn != view.Own {
		for j := len(c.Versions) - 1; j >= 0; j-- {
			if o := &c.Versions[j]; o.Txn != v.Txn && (o.Txn == nil || o.Txn.Commit > 0) {
				m.hidden = holds(o.Row)
				break
			}
		}
	}
	return m
}

// keyLook adds the look that met a row with a key of the one that was to be written: a
// predicate read of that key, and where the row was then replaced or changed a read of
// the row, too.
func (r *Replay) keyLook(s *Step, o Obstacle, view versions.View, keyOnly bool) {
	l := look{table: o.Table, keyOnly: keyOnly, holds: func(row solve.Row) bool {
		if row == nil {
			return false
		}
		for ki := range o.Table.Def.Keys {
			k := &o.Table.Def.Keys[ki]
			if !k.Unique && !k.Primary {
				continue
			}
			a, null := r.Store.KeyOf(o.Table.Def, k, o.Row)
			if b, n := r.Store.KeyOf(o.Table.Def, k, row); !null && !n && a == b {
				return true
			}
		}
		return false
	}}
	for _, c := range o.Table.Chains {
		l.met = append(l.met, metIn(view, c, l.holds))
	}
	s.looks = append(s.looks, l)
}

// tablesRead names the tables that a statement reads: not the one that an INSERT adds
// rows to.
func tablesRead(node ast.StmtNode) []string {
	f := &TableFinder{}
	insert, ok := node.(*ast.InsertStmt)
	if !ok {
		node.Accept(f)
		return f.Names
	}
	if insert.Select != nil {
		insert.Select.Accept(f)
	}
	for _, list := range insert.Lists {
		for _, e := range list {
			e.Accept(f)
		}
	}
	for _, a := range insert.OnDuplicate {
		a.Expr.Accept(f)
	}
	return f.Names
}

// columnsRead returns the columns of a table that a SELECT names, nil if it may read all.
func columnsRead(node ast.StmtNode, t *versions.Table) []int {
	sel, ok := node.(*ast.SelectStmt)
	if !ok || sel.Fields == nil || slices.ContainsFunc(sel.Fields.Fields, func(f *ast.SelectField) bool { return f.WildCard != nil }) {
		return nil
	}
	f := &columnFinder{}
	node.Accept(f)
	out := []int{}
	for i := range t.Def.Columns {
		if slices.Contains(f.names, strings.ToLower(t.Def.Columns[i].Name)) {
			out = append(out, i)
		}
	}
	return out
}

type columnFinder struct{ names []string }

func (f *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		f.names = append(f.names, c.Name.L)
	}
	return n, false
}

func (f *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// condition returns a test for rows of a table: is a row, deletions are none, one that
// the statement's condition chooses? Where the statement reads other tables, too, every
// row is.
func (r *Replay) condition(node ast.StmtNode, t *versions.Table, store *versions.Store, view versions.View) func(solve.Row) bool {
	if insert, ok := node.(*ast.InsertStmt); ok {
		node = nil
		if sel, ok := insert.Select.(*ast.SelectStmt); ok {
			node = sel
		}
	}
	of := stmt.Of(node)
	name := stmt.SoleTable(of.From)
	if name == nil || !strings.EqualFold(name.Name.O, t.Def.Name) {
		r.coarse = true
		return func(row solve.Row) bool { return row != nil }
	}
	views := &Stored{store, view}
	return func(row solve.Row) bool {
		if row == nil {
			return false
		}
		if of.Where == nil {
			return true
		}
		ok, _, err := r.Solver.Where(of.Where, t.Def, row, views)
		if err != nil {
			r.coarse = true
			return true
		}
		return ok == sqlvalue.True
	}
}
