package promise

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// beside is a row that a transaction has made with a key which its snapshot gives to another row: behind the snapshot
// that key became free, and PostgreSQL checks keys on the newest rows. The transaction sees both rows then, and no
// table can hold them beside each other.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
type beside struct {
	table int
	key   string
	row   entry
	// commits is on how many of them the row was made: what these did to the key is no write of the same row.
	commits int
}

const besideSnapshot = "a table in which the transaction has made a row beside the one that its snapshot shows"

// eachAlone is what a statement is held against that comes to rows beside the snapshot.
const eachAlone = "its transaction's snapshot and its own writes, each alone and then taken together,"

// madeBeside is what a transaction has done behind an INSERT of rows that the statement names, which succeeds on the
// newest rows and fails on the snapshot's, or finds its keys taken there; ok is false for any other statement. did is
// what the statement does on the newest rows.
func (j *judge) madeBeside(e *event, w *world, o own, did write) (next own, ok bool) {
	next = o
	for i, changes := range did {
		for key, row := range changes {
			if row.n <= 0 || !e.mayName(j, i) {
				return o, false
			}
			if _, had := w.committed[w.newest()][i][key]; had && len(j.layout[i].key) > 0 {
				return o, false
			}
			next.beside = append(slices.Clip(next.beside), beside{i, key, row, w.newest()})
		}
	}
	next.write = j.layout.then(o.write, did)
	return next, true
}

// insertsNamed says that a statement is an INSERT of rows that it names: of one if that may find a key taken.
func insertsNamed(n ast.StmtNode) bool {
	switch s := n.(type) {
	case *stmt.RawStmt:
		return insertsRows(s) > 0 && (!upserts(s) || insertsOne(s))
	case *ast.InsertStmt:
		return s.Select == nil && !s.IsReplace && len(s.OnDuplicate) == 0 && !subquery(s) && (!s.IgnoreErr || len(s.Lists) == 1)
	}
	return false
}

// meetsBeside says that a statement may come to a row beside the snapshot.
func (j *judge) meetsBeside(e *event, o own) bool {
	return slices.ContainsFunc(o.beside, func(b beside) bool { return j.names(e, b.table) })
}

// amidBeside is a statement that may come to rows beside the snapshot. A query that goes by each row alone gives what it
// does on the one and the others, taken together, and an INSERT of rows that it names goes by the newest ones. Nothing
// else is judged.
func (j *judge) amidBeside(e *event, w world, o own, commits []int) ([]world, error) {
	o.touched = o.touched || j.touches(e)
	if next, ok, err := j.onNewestAlone(e, &w, o, commits); ok || err != nil {
		return next, err
	}
	if e.writes() && e.st.Result.Err == nil {
		switch next, first, ok, err := j.byRows(e, &w, o, commits); {
		case err != nil:
			return nil, err
		case len(next) > 0:
			j.held[e.index] = true
			return next, nil
		case ok:
			j.held[e.index] = true
			return nil, j.differs(e, first, eachAlone)
		case e.st.Result.Affected != 0 || e.st.Result.Matched > 0:
			return nil, unjudgedError(besideSnapshot)
		}
	}
	if duplicate(&e.st.Result) {
		if met, err := j.meetsKey(e, &w, o, commits); err != nil || met {
			j.held[e.index] = err == nil
			return []world{w.with(e.unit, o)}, err
		}
	}
	if !e.plain() && !e.kind.LocksRead() || !byEachRow(e.node) || e.st.Result.Err != nil {
		j.skipped[e.index] = besideSnapshot
		return []world{w.with(e.unit, o)}, nil
	}
	made, _ := j.layout.apart(o)
	var fits []int
	var first *history.Result
	for _, k := range commits {
		before, err := j.beyond(w.committed[k], o)
		if err != nil {
			return nil, err
		}
		shown, _, err := j.ask(before, e)
		if err != nil {
			return nil, err
		}
		also, _, err := j.ask(made, e)
		if err != nil {
			return nil, err
		}
		if shown.Results[0].Err != nil || also.Results[0].Err != nil {
			j.skipped[e.index] = besideSnapshot
			return []world{w.with(e.unit, o)}, nil
		}
		both := shown.Results[0]
		both.Rows = slices.Concat(both.Rows, also.Results[0].Rows)
		if first == nil {
			first = &both
		}
		if history.SameRows(both.Rows, e.st.Result.Rows, false) {
			fits = append(fits, k)
		}
	}
	j.held[e.index] = true
	if len(fits) == 0 {
		return nil, j.differs(e, first, eachAlone)
	}
	o.snapshots = fits
	return []world{w.with(e.unit, o)}, nil
}

// apart parts what a transaction has written into the rows beside its snapshot, as tables of their own, and the rest.
func (l layout) apart(o own) (made state, others write) {
	rows, taken := l.nothing(), slices.Clone(o.write)
	for _, b := range o.beside {
		only := l.nothing()
		only[b.table][b.key] = b.row
		rows = l.then(rows, only)
		rest := changes{}
		for key, row := range taken[b.table] {
			if key == b.key {
				if row.n -= b.row.n; len(l[b.table].key) > 0 || row.n == 0 {
					continue
				}
			}
			rest[key] = row
		}
		taken[b.table] = rest
	}
	made, _ = l.plus(l.empty(), rows)
	return made, taken
}

// beyond is what a transaction sees of some tables without the rows that stand beside its snapshot.
func (j *judge) beyond(s state, o own) (state, error) {
	if len(o.beside) > 0 {
		_, o.write = j.layout.apart(o)
	}
	return j.sight(s, o)
}

// byEachRow says that a query answers for each row of a table alone whether that is shown, and as what.
func byEachRow(n ast.StmtNode) bool {
	s, ok := n.(*ast.SelectStmt)
	if !ok || stmt.SoleTable(s.From) == nil || s.With != nil || s.Distinct || s.GroupBy != nil || s.Having != nil || s.Limit != nil ||
		subquery(s) {
		return false
	}
	return !corpus.Contains(s, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
			return true, false
		}
		return false, false
	})
}

// freed says that a transaction has made a row whose key some commits had freed behind its snapshot.
func (o *own) freed(table int, key string, commits int) bool {
	return slices.ContainsFunc(o.beside, func(b beside) bool {
		return b.table == table && b.key == key && commits <= b.commits
	})
}
