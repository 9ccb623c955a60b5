package innodb

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// views returns what the tables of a statement hold for the subqueries in it, or for
// the query of an INSERT; of the table only, if not nil, the given rows.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (x *running) views(only *versions.Table, rows []solve.Row) solve.Views {
	v := &innodbViews{e: x.e, only: only, rows: rows, asked: x.asked, view: versions.View{Tick: versions.Latest, Own: x.tx}}
	switch {
	case !x.asksUnlocked():
	case x.tx.Level == corpus.ReadUncommitted:
		v.view = versions.View{Uncommitted: true, Own: x.tx}
	case x.tx.Level == corpus.ReadCommitted:
		v.view = versions.View{Tick: x.start, Own: x.tx}
	}
	return v
}

// execute runs the statement to its end and returns its answer.
func (x *running) execute() (*mvcc.Prediction, error) {
	p, err := x.perform()
	var changed changedError
	if errors.As(err, &changed) && changed.sure {
		return &mvcc.Prediction{Matched: -1, Changed: -1, Err: mvcc.ErrRecordChanged}, nil
	}
	if mvcc.ErrCode(x.st) == mvcc.ErrRecordChanged && x.kind != stmt.Select && !errors.As(err, new(*mvcc.Loss)) {
		// Somewhere beside the rows that surely had to be locked.
		switch {
		case x.mayBeRefused():
			return changedPerhaps(), nil
		case x.someRecordChanged():
			return nil, &mvcc.Loss{Slug: "unsupported: error 1020 of a record that the statement does not come to"}
		}
	}
	if x.e.EveryAnswer && x.kind != stmt.Select && x.e.isolatesSnapshots(x.tx) && x.mayBeRefused() {
		x.mayRefuse = true
	}
	if err == nil {
		return p, nil
	}
	code, err := mvcc.SQLErrorOf(err)
	if err != nil {
		return nil, err
	}
	return &mvcc.Prediction{Matched: -1, Changed: -1, Err: code}, nil
}

// mayBeRefused reports whether error 1020 is among the answers that are allowed. A statement
// that can but scan the whole table is refused for records only that it comes to, and an
// INSERT for those with a key of its rows. Another one may be for what stands behind the end of
// its range, one that has waited for what came meanwhile, or for the neighbours of its row, and
// one that skips locked rows for these.
func (x *running) mayBeRefused() bool {
	if x.waited || mvcc.HasSubquery(x.node) {
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
	f := &mvcc.TableFinder{}
	x.node.Accept(f)
	for _, name := range f.Names {
		if x.asked != nil && !x.asked.locks && x.asked.names[name] && name != x.ownTable() {
			continue
		}
		if t := x.e.Table(name); t != nil {
			for _, c := range t.Chains {
				if x.recordChanged(c, true) != nil || x.changedBelow(c) {
					return true
				}
			}
		}
	}
	return false
}

// openSnapshot gives the transaction its snapshot where its first statement
// takes it, whatever becomes of that.
func (x *running) openSnapshot() { openSnapshot(x.tx, x.start) }

func openSnapshot(t *versions.Txn, at history.Tick) {
	if t.Rules.Of(rules.SnapshotPoint) == rules.AtFirstStatement && t.Snapshot == 0 {
		t.Snapshot = at
	}
}

func (x *running) perform() (*mvcc.Prediction, error) {
	e := x.e
	if x.kind == stmt.Raw || mvcc.NamesTables(x.node) {
		x.openSnapshot()
	}
	if err := x.ask(); err != nil {
		return nil, err
	}
	if e.UnknownHint(stmt.Of(x.node).From) {
		return nil, &solve.SQLError{Code: mvcc.ErrNoKey, Message: "no such key"}
	}
	if mvcc.WritesSeveral(x.node) {
		return x.several()
	}
	switch s := x.node.(type) {
	case *ast.SelectStmt:
		if x.kind == stmt.Select {
			return x.consistent(s)
		}
		return x.lockingRead(s)
	case *ast.UpdateStmt:
		t, err := e.Target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.update(s, t)
	case *ast.DeleteStmt:
		t, err := e.Target(s.TableRefs)
		if err != nil {
			return nil, err
		}
		return x.delete(s, t)
	case *ast.InsertStmt:
		return x.insert(s)
	case *stmt.RawStmt:
		return x.raw(s)
	}
	return nil, &mvcc.Loss{Slug: "unsupported: a statement of unknown effect", Detail: string(x.kind)}
}

// tested is mvcc.ColumnsIn for a condition, which is looked through once for each case,
// although the scans of all paths ask. The answer is not to be changed.
func (r *engine) tested(t *versions.Table, where ast.ExprNode) map[int]bool {
	if where == nil {
		return nil
	}
	key := conditionOn{where, t.Def}
	cols, ok := r.kept.tested[key]
	if !ok {
		cols = mvcc.ColumnsIn(t.Def, where)
		r.kept.tested[key] = cols
	}
	return cols
}

func (e *engine) touchInnoDB(x *running, t *versions.Table, where ast.ExprNode, write bool, images []solve.Row) {
	e.Touched = append(e.Touched, mvcc.Touch{Stmt: x.i, Session: x.st.Session, Txn: x.tx, At: x.start, Table: t, Where: where, Insert: x.kind == stmt.Insert, Write: write, Images: images})
}
