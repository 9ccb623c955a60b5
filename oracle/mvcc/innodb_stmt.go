package mvcc

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

const (
	// errRecordChanged is MariaDB's ER_CHECKREAD.
	errRecordChanged = 1020
	// errKeyNotFound is ER_KEY_NOT_FOUND.
	errKeyNotFound = 1032
)

// views returns what the tables of a statement hold for the subqueries in it, or for
// the query of an INSERT; of the table only, if not nil, the given rows.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) views(only *Table, rows []solve.Row) solve.Views {
	v := &innodbViews{e: x.e, only: only, rows: rows, rule: rules.SameRow, asked: x.asked, view: View{Tick: latest, Own: x.tx}}
	switch {
	case !x.asksUnlocked():
	case x.tx.Level == corpus.ReadUncommitted:
		v.view = View{Uncommitted: true, Own: x.tx}
	case x.tx.Level == corpus.ReadCommitted:
		v.view = View{Tick: x.start, Own: x.tx}
	}
	return v
}

// execute runs the statement to its end and returns its answer.
func (x *running) execute() (*Prediction, error) {
	p, err := x.perform()
	var changed changedError
	if errors.As(err, &changed) && changed.sure {
		return &Prediction{Matched: -1, Changed: -1, Err: errRecordChanged}, nil
	}
	if errCode(x.st) == errRecordChanged && x.kind != stmt.Select && !errors.As(err, new(*Loss)) {
		// Somewhere beside the rows that surely had to be locked.
		switch {
		case x.mayBeRefused():
			return changedPerhaps(), nil
		case x.someRecordChanged():
			return nil, &Loss{Slug: "unsupported: error 1020 of a record that the statement does not come to"}
		}
	}
	if x.e.counting && x.kind != stmt.Select && x.e.isolatesSnapshots(x.tx) && x.mayBeRefused() {
		x.mayRefuse = true
	}
	if err == nil {
		return p, nil
	}
	code, err := sqlError(err)
	if err != nil {
		return nil, err
	}
	return &Prediction{Matched: -1, Changed: -1, Err: code}, nil
}

// mayBeRefused reports whether error 1020 is among the answers that are allowed. A statement
// that can but scan the whole table is refused for records only that it comes to, and an
// INSERT for those with a key of its rows. Another one may be for what stands behind the end of
// its range, one that has waited for what came meanwhile, or for the neighbours of its row, and
// one that skips locked rows for these.
func (x *running) mayBeRefused() bool {
	if x.waited || HasSubquery(x.node) {
		return x.someRecordChanged()
	}
	switch s := x.node.(type) {
	case *ast.InsertStmt:
		if s.Select == nil {
			return x.metChanged
		}
	case *ast.SelectStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		if x.scansAll && x.skip == nil && stmt.SoleTable(stmt.Of(s).From) != nil {
			return x.metChanged
		}
	}
	return x.someRecordChanged()
}

// someRecordChanged reports whether any record that the statement may have
// locked was changed and committed after the snapshot.
func (x *running) someRecordChanged() bool {
	f := &tableFinder{}
	x.node.Accept(f)
	for _, name := range f.names {
		if x.asked != nil && !x.asked.locks && x.asked.names[name] && name != x.ownTable() {
			continue
		}
		if t := x.e.table(name); t != nil {
			for _, c := range t.Chains {
				if x.recordChanged(c, true) != nil || x.changedBelow(c) {
					return true
				}
			}
		}
	}
	return false
}

type tableFinder struct{ names []string }

func (f *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok {
		f.names = append(f.names, t.Name.O)
	}
	return n, false
}

func (f *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// openSnapshot gives the transaction its snapshot where its first statement
// takes it, whatever becomes of that.
func (x *running) openSnapshot() { x.tx.openSnapshot(x.start) }

func (t *Txn) openSnapshot(at history.Tick) {
	if t.Rules.of(rules.SnapshotPoint) == rules.AtFirstStatement && t.Snapshot == 0 {
		t.Snapshot = at
	}
}

func (x *running) perform() (*Prediction, error) {
	e := x.e
	if x.kind == stmt.Raw || namesTables(x.node) {
		x.openSnapshot()
	}
	if err := x.ask(); err != nil {
		return nil, err
	}
	if e.unknownHint(stmt.Of(x.node).From) {
		return nil, &solve.SQLError{Code: errNoKey, Message: "no such key"}
	}
	if writesSeveral(x.node) {
		return x.several()
	}
	switch s := x.node.(type) {
	case *ast.SelectStmt:
		if x.kind == stmt.Select {
			return x.consistent(s)
		}
		return x.lockingRead(s)
	case *ast.UpdateStmt:
		t, err := e.target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.update(s, t)
	case *ast.DeleteStmt:
		t, err := e.target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.delete(s, t)
	case *ast.InsertStmt:
		return x.insert(s)
	case *stmt.RawStmt:
		return x.raw(s)
	}
	return nil, &Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(x.kind)}
}

// columnsIn returns the columns that a node mentions, by index, and -1 for those
// of other tables; none for nil.
func columnsIn(t *solve.Table, n ast.Node) map[int]bool {
	cols := map[int]bool{}
	if n != nil {
		n.Accept(&columnCollector{t: t, cols: cols})
	}
	return cols
}

// tested is columnsIn for a condition, which is looked through once for each case,
// although the scans of all paths ask. The answer is not to be changed.
func (r *Replay) tested(t *Table, where ast.ExprNode) map[int]bool {
	if where == nil {
		return nil
	}
	key := conditionOn{where, t.Def}
	cols, ok := r.testedBy[key]
	if !ok {
		cols = columnsIn(t.Def, where)
		r.testedBy[key] = cols
	}
	return cols
}

// conditionOn is a condition on the rows of a table.
type conditionOn struct {
	where ast.ExprNode
	t     *solve.Table
}

type columnCollector struct {
	t    *solve.Table
	cols map[int]bool
}

func (f *columnCollector) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnName); ok {
		f.cols[f.t.ColumnIndex(c.Name.O)] = true
	}
	return n, false
}

func (f *columnCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (e *engine) touchInnoDB(x *running, t *Table, where ast.ExprNode, write bool, images []solve.Row) {
	e.touched = append(e.touched, touch{stmt: x.i, session: x.st.Session, txn: x.tx, at: x.start, table: t, where: where, insert: x.kind == stmt.Insert, write: write, images: images})
}
