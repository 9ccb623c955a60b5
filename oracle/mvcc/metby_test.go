package mvcc_test

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// model tells from the times of a history alone which version of each row a statement
// met. What it says is used only where it gives the recorded answer.
type model struct {
	c     *corpus.Case
	h     *history.History
	f     *mvcc.Facts
	ended []history.Tick // by transaction: when it committed or was rolled back
}

func newModel(c *corpus.Case, h *history.History, f *mvcc.Facts) *model {
	m := &model{c: c, h: h, f: f, ended: make([]history.Tick, len(f.Committed))}
	for t := range m.ended {
		m.ended[t] = 1 << 40
		last := -1
		for i, of := range f.Txns {
			if of == t {
				last = i
			}
		}
		for j := max(last, 0); j < len(h.Stmts); j++ {
			s := &h.Stmts[j]
			if last >= 0 && s.Session == h.Stmts[last].Session && j > last && f.Txns[j] >= 0 {
				m.ended[t] = s.Submit - 1 // ROLLBACK TO before its first statement ended it
				break
			}
			begins := j > last && m.isBegin(j) && s.Result.Err == nil
			if last >= 0 && s.Session == h.Stmts[last].Session && (begins || !s.Result.InTxn) {
				m.ended[t] = m.effect(j)
				break
			}
		}
	}
	return m
}

func (m *model) stmt(i int) ast.StmtNode { return m.c.Steps[m.h.Stmts[i].Line].Stmt }

func (m *model) isBegin(i int) bool { _, ok := m.stmt(i).(*ast.BeginStmt); return ok }

// effect is when a statement took effect: when it was sent, since the sending is serial,
// or, if it waited, when it returned.
func (m *model) effect(i int) history.Tick {
	if s := &m.h.Stmts[i]; len(s.Waits) > 0 {
		return s.Return
	}
	return m.h.Stmts[i].Submit
}

// overlapped says that another statement was waiting, on its way, while this one ran.
func (m *model) overlapped(i int) bool {
	a := &m.h.Stmts[i]
	return slices.ContainsFunc(m.h.Stmts, func(b history.Stmt) bool {
		return b.Session != a.Session && len(b.Waits) > 0 && b.Submit < a.Return && (b.Return == 0 || a.Submit < b.Return)
	})
}

// version returns the version of a row that shows at a moment: the last of the committed,
// or any with dirty, or the transaction's own.
func (m *model) version(row, i int, at history.Tick, dirty bool) int {
	met := -1
	for k, v := range m.f.Rows[row].Versions {
		switch {
		case v.Txn < 0:
		case v.Stmt == i || m.effect(v.Stmt) >= at && !(v.Txn == m.f.Txns[i] && m.effect(v.Stmt) < m.effect(i)):
			continue
		case v.Txn == m.f.Txns[i]:
			if v.Undone && m.f.Committed[v.Txn] {
				return -2 // a savepoint took it back, then or later
			}
		case dirty:
			if v.Undone && m.f.Committed[v.Txn] {
				return -2
			}
			if v.Undone && m.ended[v.Txn] < at {
				continue
			}
		case v.Undone || !m.f.Committed[v.Txn] || m.ended[v.Txn] >= at:
			continue
		}
		met = k
	}
	return met
}

// snapshot is the moment that a plain SELECT shows, and whether it shows what is not
// committed, too; 0: it is no read of a snapshot.
func (m *model) snapshot(i int) (at history.Tick, dirty bool) {
	s := &m.h.Stmts[i]
	for j := range m.h.Stmts[:i] {
		if k := mvcc.KindOf(m.stmt(j)); m.h.Stmts[j].Session == s.Session && (k == stmt.SetLevel || k == stmt.SetVariable) {
			return 0, false // at which level it runs is not in the history
		}
	}
	promised := rules.For(m.h.Server)
	set := promised.At(m.h.Levels[s.Session])
	switch set[rules.ConsistentRead] {
	case rules.Newest:
		return s.Submit, true
	case rules.Snapshot:
	default:
		return s.Submit, false
	}
	if m.stmt(i).(*ast.SelectStmt).LockInfo != nil {
		return 0, false
	}
	first := i
	for j := i; j >= 0 && s.InTxn; j-- {
		o := &m.h.Stmts[j]
		switch {
		case o.Session != s.Session:
			continue
		case m.isBegin(j):
			if set[rules.SnapshotPoint] == rules.AtBegin || stmt.KindOf(m.stmt(j)) == stmt.BeginSnapshot {
				return m.h.Stmts[j].Submit, false
			}
			return m.h.Stmts[first].Submit, false
		case j < i && !o.Result.InTxn:
			return m.h.Stmts[first].Submit, false
		case stmt.KindOf(m.stmt(j)) == stmt.Select, set[rules.SnapshotPoint] == rules.AtFirstStatement && mvcc.KindOf(m.stmt(j)).TouchesRows():
			first = j
		}
	}
	return m.h.Stmts[first].Submit, false
}

// reads returns what a statement met of each row, for those of which the model can tell.
func (m *model) reads(i int) []read {
	s, node := &m.h.Stmts[i], m.stmt(i)
	if m.f.Txns[i] < 0 || s.Result.Err != nil || s.Return == 0 {
		return m.keyReads(i)
	}
	var from *ast.TableRefsClause
	var limit *ast.Limit
	plain := false
	switch n := node.(type) {
	case *ast.SelectStmt:
		from, limit, plain = n.From, n.Limit, n.LockInfo == nil
	case *ast.UpdateStmt:
		from, limit = n.TableRefs, n.Limit
	case *ast.DeleteStmt:
		from, limit = n.TableRefs, n.Limit
	default:
		return nil
	}
	table := onlyTable(from)
	if table == "" || limit != nil || nested(node) {
		return nil
	}
	at, dirty := m.effect(i), false
	if plain {
		if at, dirty = m.snapshot(i); at == 0 || dirty && m.overlapped(i) {
			return nil
		}
		if len(s.Waits) > 0 { // SERIALIZABLE makes it a locking one
			at, plain = m.effect(i), false
		}
	}
	var out []read
	met := map[int]int{}
	for row := range m.f.Rows {
		r := &m.f.Rows[row]
		if !strings.EqualFold(r.Table.Name, table) {
			continue
		}
		for _, v := range r.Versions {
			if v.Row == nil {
				continue
			}
			if _, err := m.f.Solver.Test(node, r.Table, v.Row, m.views(nil)); err != nil {
				return nil // whether a row matches that makes the statement fail is no question
			}
		}
		met[row] = m.version(row, i, at, dirty)
		if met[row] == -2 {
			return nil
		}
		known := true
		if !plain && len(s.Waits) > 0 {
			known = m.version(row, i, s.Submit, false) == met[row]
		}
		for k, v := range r.Versions {
			if v.Stmt == i && v.Txn >= 0 { // what it wrote over is what it met
				known = m.before(row, k) == met[row]
				break
			}
		}
		if !known {
			continue
		}
		out = append(out, read{stmt: i, txn: m.f.Txns[i], row: row, met: met[row], holds: func(version int) bool {
			x := m.f.Rows[row].Versions[version].Row
			if x == nil {
				return false
			}
			ok, err := m.f.Solver.Test(node, r.Table, x, m.views(met))
			return err == nil && ok == sqlvalue.True
		}})
	}
	if !m.answers(i, met, out) {
		return nil
	}
	return out
}

// before returns the version on which one was written.
func (m *model) before(row, version int) int {
	of := m.f.Rows[row].Versions
	for k := version - 1; k >= 0; k-- {
		if !of[k].Undone {
			return k
		}
	}
	return -1
}

// answers says whether a statement that met these versions gives the recorded answer.
func (m *model) answers(i int, met map[int]int, reads []read) bool {
	chosen := int64(0)
	for _, r := range reads {
		if r.met >= 0 && r.holds(r.met) {
			chosen++
		}
	}
	res := &m.h.Stmts[i].Result
	switch n := m.stmt(i).(type) {
	case *ast.SelectStmt:
		got, err := m.f.Solver.Select(n, m.views(met))
		if err != nil || len(got.Rows) != len(res.Rows) {
			return false
		}
		var a, b []string
		for k := range got.Rows {
			a = append(a, versions.FormatRow(got.Rows[k]))
			var cells []string
			for _, c := range res.Rows[k] {
				cells = append(cells, c.String())
			}
			b = append(b, "("+strings.Join(cells, ",")+")")
		}
		slices.Sort(a)
		slices.Sort(b)
		return slices.Equal(a, b)
	case *ast.UpdateStmt:
		return len(reads) < len(met) || res.Matched < 0 || res.Matched == chosen
	case *ast.DeleteStmt:
		return len(reads) < len(met) || res.Affected == chosen
	}
	return false
}

// keyReads returns what an INSERT of one row met that failed because of a key: a read of
// the rows with one of its keys, if the row in the way was there.
func (m *model) keyReads(i int) []read {
	s := &m.h.Stmts[i]
	n, ok := m.stmt(i).(*ast.InsertStmt)
	if !ok || m.f.Txns[i] < 0 || s.Result.Err == nil || s.Result.Err.Code != 1062 || len(n.Lists) != 1 || len(n.OnDuplicate) > 0 || nested(n) || len(s.Waits) > 0 || m.overlapped(i) {
		return nil
	}
	table := onlyTable(n.Table)
	var out []read
	there := false
	for row := range m.f.Rows {
		r := &m.f.Rows[row]
		if !strings.EqualFold(r.Table.Name, table) {
			continue
		}
		rows, err := m.f.Solver.Insert(n, r.Table, m.views(nil))
		if err != nil || len(rows) != 1 || slices.ContainsFunc(rows[0], sqlvalue.Value.IsGenerated) {
			return nil
		}
		x := read{stmt: i, txn: m.f.Txns[i], row: row, met: m.version(row, i, m.effect(i), false), keyOnly: true, holds: func(version int) bool {
			old := m.f.Rows[row].Versions[version].Row
			return old != nil && slices.ContainsFunc(r.Table.Keys, func(k solve.Key) bool {
				a, null, err := m.f.Solver.KeyOf(r.Table, &k, rows[0])
				b, n, e := m.f.Solver.KeyOf(r.Table, &k, old)
				return (k.Unique || k.Primary) && !null && !n && err == nil && e == nil && a == b
			})
		}}
		if x.met == -2 {
			return nil
		}
		there = there || x.met >= 0 && x.holds(x.met)
		out = append(out, x)
	}
	if !there {
		return nil
	}
	return out
}

// views gives the solver the rows of the versions met.
func (m *model) views(met map[int]int) solve.Views { return &metRows{m, met} }

type metRows struct {
	m   *model
	met map[int]int
}

// Table implements solve.Views.
func (v *metRows) Table(name string) (*solve.Table, []solve.Row, error) {
	var t *solve.Table
	var rows []solve.Row
	for row := range v.m.f.Rows {
		r := &v.m.f.Rows[row]
		if !strings.EqualFold(r.Table.Name, name) {
			continue
		}
		t = r.Table
		if k, ok := v.met[row]; ok && k >= 0 && r.Versions[k].Row != nil {
			rows = append(rows, r.Versions[k].Row)
		}
	}
	if t == nil {
		return nil, nil, &solve.SQLError{Code: 1146}
	}
	return t, rows, nil
}

func onlyTable(from *ast.TableRefsClause) string {
	if from == nil || from.TableRefs == nil || from.TableRefs.Right != nil {
		return ""
	}
	src, ok := from.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return ""
	}
	if name, ok := src.Source.(*ast.TableName); ok {
		return name.Name.O
	}
	return ""
}

// nested says that a statement has a subquery.
func nested(n ast.Node) bool {
	f := &subqueries{}
	n.Accept(f)
	return f.found
}

type subqueries struct{ found bool }

func (f *subqueries) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SubqueryExpr); ok {
		f.found = true
	}
	return n, false
}

func (f *subqueries) Leave(n ast.Node) (ast.Node, bool) { return n, true }
