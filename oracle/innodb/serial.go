package innodb

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// maxSerialSteps bounds the statements that are executed again in search of a
// serial order. Beyond it nothing is claimed.
const maxSerialSteps = 4000

// serialOrders looks for a serial order of the committed transactions that
// explains every answer and the final state, in the order of their commits
// first; one whose answers differ is given up at the first of them.
// An autocommit statement is a transaction of its own. Where a statement misses what
// is committed, or reads what is rolled back, which only a deviation predicts, no order
// is asked for.
func (r *paths) serialOrders() (*mvcc.Difference, error) {
	for _, l := range mvcc.Levels(r.Case, r.History) {
		if l != corpus.Serializable {
			return nil, nil
		}
	}
	if r.History.End != history.Complete || len(r.History.Final) == 0 || len(r.units) == 0 || r.partial || r.missed {
		return nil, nil
	}
	units := slices.Clone(r.units)
	slices.SortStableFunc(units, func(a, b *versions.Txn) int { return cmp.Compare(a.Commit, b.Commit) })
	s := &serial{r: r, units: units, left: maxSerialSteps}
	found, err := s.search(nil)
	if err != nil || found || s.left <= 0 {
		return nil, err
	}
	return &mvcc.Difference{Stmt: s.deepest, Kind: "not-serializable", Expected: s.expected, Actual: s.actual,
		Reason: fmt.Sprintf("no serial order of the %d committed transactions gives all of their answers and the final state", len(units))}, nil
}

// serial is the search for a serial order.
type serial struct {
	r     *paths
	units []*versions.Txn
	left  int
	// depth is how many statements agreed in the best order, deepest the one
	// that did not.
	depth, deepest   int
	expected, actual string
}

// search extends a prefix of an order that explains its own answers.
func (s *serial) search(prefix []*versions.Txn) (bool, error) {
	if s.left <= 0 {
		return false, nil
	}
	ok, err := s.explains(prefix)
	if !ok || err != nil {
		return false, err
	}
	if len(prefix) == len(s.units) {
		return true, nil
	}
	for i, u := range s.units {
		if slices.Contains(prefix, u) || s.outOfOrder(prefix, i) {
			continue
		}
		if found, err := s.search(append(slices.Clone(prefix), u)); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// outOfOrder reports whether an earlier transaction of the same session is not
// yet in the prefix.
func (s *serial) outOfOrder(prefix []*versions.Txn, i int) bool {
	for _, u := range s.units[:i] {
		if u.Session == s.units[i].Session && !slices.Contains(prefix, u) {
			return true
		}
	}
	return false
}

// explains executes transactions one after another from the initial state; where
// the order of the rows decides, any index may have been the one gone by.
func (s *serial) explains(order []*versions.Txn) (bool, error) {
	ch := &mvcc.Choices{}
	for {
		ok, err := s.explainsAlong(order, ch)
		if ok || err != nil || s.left <= 0 || !ch.Next() {
			return ok, err
		}
	}
}

func (s *serial) explainsAlong(order []*versions.Txn, ch *mvcc.Choices) (bool, error) {
	r := s.r
	e := r.engine(ch)
	e.loose = true
	agreed := 0
	differs := func(i int, d *mvcc.Difference) {
		if agreed >= s.depth {
			s.depth, s.deepest, s.expected, s.actual = agreed, i, d.Expected, d.Actual
		}
	}
	for _, u := range order {
		tx := &versions.Txn{Session: u.Session, Level: u.Level, Rules: r.RulesAt(u.Level), Begin: e.now()}
		for _, i := range u.Stmts {
			s.left--
			st := &r.History.Stmts[i]
			node := r.Case.Steps[st.Line].Stmt
			kind := mvcc.KindOf(node)
			if kind == stmt.Select {
				kind = stmt.SelectForShare
			}
			x := &running{e: e, i: i, st: st, tx: tx, kind: kind, node: node, start: e.now(), mark: len(tx.Writes)}
			p, err := x.execute()
			if err != nil {
				return false, err
			}
			if p.Err != 0 {
				e.undo(tx, x.mark)
			}
			// Which error comes first is no answer that a serial order must give: the
			// rows that an INSERT takes back when a later one fails take their locks
			// with them, so that another transaction may insert their keys.
			// https://dev.mysql.com/doc/refman/en/innodb-error-handling.html
			bothFail := p.Err != 0 && mvcc.ErrCode(st) != 0
			if x.generatesTaken() {
				e.undo(tx, x.mark)
				bothFail = true
			}
			if d := e.Compare(i, kind, p); d != nil && !bothFail {
				differs(i, d)
				return false, nil
			}
			agreed++
		}
		tx.Commit = e.now()
		tx.Ended = tx.Commit
	}
	if len(order) < len(s.units) {
		return true, nil
	}
	d, err := e.finishInnoDB()
	if d != nil {
		differs(-1, d)
	}
	return d == nil, err
}

// generatesTaken reports whether an INSERT failed for a duplicate and generates a value.
// It takes its value before it waits, and another transaction may insert that meanwhile;
// the counter belongs to no transaction, so that no order need give the error.
// https://dev.mysql.com/doc/refman/en/innodb-auto-increment-handling.html
func (x *running) generatesTaken() bool {
	s, ok := x.node.(*ast.InsertStmt)
	if !ok || mvcc.ErrCode(x.st) != mvcc.ErrDup {
		return false
	}
	name := stmt.SoleTable(s.Table)
	if name == nil {
		return false
	}
	t := x.e.Table(name.Name.O)
	auto := mvcc.AutoColumn(t)
	if auto < 0 {
		return false
	}
	rows, err := x.e.Solver.Insert(s, t.Def, x.views(nil, nil))
	return err == nil && slices.ContainsFunc(rows, func(r solve.Row) bool { return r[auto].IsGenerated() })
}
