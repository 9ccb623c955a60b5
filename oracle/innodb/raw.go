package innodb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// A statement that the parser does not read and that writes or locks is judged by what the
// server makes of the newest rows of the tables that it names. Which rows it looks at, by
// which index, and what it locks besides the rows that it changes, nobody knows. So its locks
// explain the waits of others and are missed by none; and an answer other than the server's
// own is wrong only where nothing that others do meanwhile could have made it that.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html

func rawLoss(what string) *mvcc.Loss { return &mvcc.Loss{Slug: "unsupported: a raw statement " + what} }

// raw runs such a statement.
func (x *running) raw(s *stmt.RawStmt) (*mvcc.Prediction, error) {
	e := x.e
	switch {
	case x.opensSnapshotWithin(s):
		return nil, rawLoss("with a query that takes the transaction's snapshot, or does not")
	case x.watched():
		return nil, rawLoss("whose rows are seen uncommitted while it waits")
	}
	x.waitSomewhere()
	switch {
	case mvcc.ErrCode(x.st) == mvcc.ErrRecordChanged && x.someRecordChanged():
		return changedPerhaps(), nil
	case x.waited && x.overtaken():
		return nil, rawLoss("that waits while others write")
	}
	on, err := x.rawTables(s)
	if err != nil {
		return nil, err
	}
	asked := make([]solve.Found, len(on))
	for i, t := range on {
		asked[i] = solve.Found{Table: t.table.Def, Rows: t.rows}
	}
	effect, err := e.Solver.AskedRaw(s, asked)
	if err != nil {
		return nil, mvcc.LossOf("solver", err)
	}
	p := rawPrediction(effect)
	unsure := p.Err != 0 || mvcc.ErrCode(x.st) != 0 || x.waited || x.besideWrites(on) || x.readsSnapshot(s, on)
	switch {
	case x.readsUnlocked(s, on):
		return nil, rawLoss("whose queries may have read older or uncommitted rows")
	case unsure && x.unlike(p):
		return nil, rawLoss("amid others")
	case unsure:
		p.LeaveOpen("what it has read of what others do meanwhile")
	}
	var changes []mvcc.ChosenRow
	for i, t := range on {
		of, ok := e.rawChanges(s, t, effect.After[i])
		if !ok || len(of) > 0 && !writesTable(s, t.table) {
			return nil, rawLoss("whose effect on single rows is not known")
		}
		changes = append(changes, of...)
		e.Touched = append(e.Touched, mvcc.Touch{Stmt: x.i, Session: x.st.Session, Txn: x.tx, At: x.start, Table: t.table, Wide: true})
	}
	if p.Err == 0 && !accountsFor(s, effect.Result, changes) {
		return nil, rawLoss("that writes what is there already")
	}
	for _, w := range changes {
		if w.Chain != nil {
			p.Read = append(p.Read, w.Chain)
		}
	}
	return p, x.applyRaw(changes)
}

// rawTable is a table that a raw statement names, with the newest rows that are committed or
// its transaction's own.
type rawTable struct {
	table  *versions.Table
	rows   []solve.Row
	chains []*versions.Chain
}

func (x *running) rawTables(s *stmt.RawStmt) ([]rawTable, error) {
	var on []rawTable
	for _, name := range slices.Concat(s.Reads, s.Writes) {
		t := x.e.Table(name.Name.O)
		if t == nil {
			return nil, rawLoss("on what is no table")
		}
		if slices.ContainsFunc(on, func(o rawTable) bool { return o.table == t }) {
			continue
		}
		rows, chains := t.Rows(versions.View{Tick: versions.Latest, Own: x.tx})
		x.e.ScanOrder(t, rows, chains)
		on = append(on, rawTable{t, rows, chains})
	}
	return on, nil
}

func writesTable(s *stmt.RawStmt, t *versions.Table) bool {
	return slices.ContainsFunc(s.Writes, func(n *ast.TableName) bool { return strings.EqualFold(n.Name.O, t.Def.Name) })
}

// rawPrediction is the answer that the server gave alone.
func rawPrediction(a *solve.AskedEffect) *mvcc.Prediction {
	if a.Result.Err != nil {
		return &mvcc.Prediction{Matched: -1, Changed: -1, Err: a.Result.Err.Code}
	}
	return &mvcc.Prediction{Matched: a.Result.Matched, Changed: mvcc.ChangedRows(a.Result), Rows: a.Rows, Ordered: len(a.Rows) < 2}
}

// unlike reports whether the statement's answer is another one.
func (x *running) unlike(p *mvcc.Prediction) bool { return x.e.Compare(x.i, x.kind, p) != nil }

// besideWrites reports whether another open transaction has written to one of the tables.
func (x *running) besideWrites(on []rawTable) bool {
	return slices.ContainsFunc(on, func(t rawTable) bool {
		return slices.ContainsFunc(t.table.Chains, func(c *versions.Chain) bool { return x.e.writer(c, x.tx) != nil })
	})
}

// queriesIn counts the queries within a raw statement, the one that locks not among them,
// and, of one that locks, what it says of the tables that it does not lock (FOR UPDATE OF).
func queriesIn(s *stmt.RawStmt) int {
	n, writes := 0, len(s.Writes) > 0
	for _, w := range s.Words() {
		if w == "select" || w == "table" || w == "of" && !writes {
			n++
		}
	}
	if !writes {
		n--
	}
	return n
}

// readsUnlocked reports whether a query within the statement may have read other rows than
// those that are newest now, without a lock: below REPEATABLE READ those of a write do so.
func (x *running) readsUnlocked(s *stmt.RawStmt, on []rawTable) bool {
	switch {
	case queriesIn(s) <= 0:
		return false
	case x.tx.Level == corpus.ReadUncommitted:
		return x.waited || x.besideWrites(on)
	}
	return x.tx.Level == corpus.ReadCommitted && changedAfter(x.start, x.tx, on)
}

// readsSnapshot reports whether a query within a locking read may have read other rows than
// the newest from its transaction's snapshot. Those of a write lock what they read.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html ("does not lock the rows of a
// table in a nested subquery")
func (x *running) readsSnapshot(s *stmt.RawStmt, on []rawTable) bool {
	return len(s.Writes) == 0 && queriesIn(s) > 0 && x.tx.Snapshot != 0 && changedAfter(x.tx.Snapshot, x.tx, on)
}

// opensSnapshotWithin reports whether a query within a locking read may be the first read of
// its transaction's snapshot: when it does so, if at all, is not known.
func (x *running) opensSnapshotWithin(s *stmt.RawStmt) bool {
	return len(s.Writes) == 0 && queriesIn(s) > 0 && x.tx.Level == corpus.RepeatableRead && x.tx.Snapshot == 0
}

// changedAfter reports whether a view of that time sees other rows than the newest.
func changedAfter(at history.Tick, tx *versions.Txn, on []rawTable) bool {
	was, is := versions.View{Tick: at, Own: tx}, versions.View{Tick: versions.Latest, Own: tx}
	return slices.ContainsFunc(on, func(t rawTable) bool {
		return slices.ContainsFunc(t.table.Chains, func(c *versions.Chain) bool { return was.Version(c) != is.Version(c) })
	})
}

// rawChanges tells which rows a statement changed, from what a table held before and behind
// it; false where that does not tell which row became which.
func (e *engine) rawChanges(s *stmt.RawStmt, t rawTable, after []solve.Row) (changes []mvcc.ChosenRow, ok bool) {
	key := versions.FormatRow
	if t.table.Clustered != nil {
		key = func(r solve.Row) string { return e.Store.ClusteredKeyOf(t.table, r) }
	}
	before := map[string][]int{}
	for i, row := range t.rows {
		before[key(row)] = append(before[key(row)], i)
	}
	kept := map[string]bool{}
	deleted, inserted := 0, 0
	for _, row := range after {
		k := key(row)
		at := before[k]
		if len(at) == 0 {
			changes = append(changes, mvcc.ChosenRow{Table: t.table, Chain: nil, Old: nil, Row: row, Changed: true})
			inserted++
			continue
		}
		before[k], kept[k] = at[1:], true
		if old := t.rows[at[0]]; !versions.EqualRows(old, row) {
			changes = append(changes, mvcc.ChosenRow{Table: t.table, Chain: t.chains[at[0]], Old: old, Row: row, Changed: true})
		}
	}
	for k, left := range before {
		if len(left) > 0 && kept[k] {
			return nil, false // one of several equal rows
		}
		deleted += len(left)
	}
	for i, row := range t.rows {
		if slices.Contains(before[key(row)], i) {
			changes = append(changes, mvcc.ChosenRow{Table: t.table, Chain: t.chains[i], Old: row, Row: nil, Changed: true})
		}
	}
	generates := slices.ContainsFunc(t.table.Def.Columns, func(c solve.Column) bool { return c.Auto })
	return changes, (deleted == 0 || inserted == 0 || verbOf(s) == "replace") && (inserted == 0 || !generates)
}

// verbOf is the word that says what a raw statement does, behind its WITH if it has one.
func verbOf(s *stmt.RawStmt) string {
	words := s.Words()
	if i := slices.IndexFunc(words, func(w string) bool { return w == "update" || w == "delete" }); words[0] == "with" && i > 0 {
		return words[i]
	}
	return words[0]
}

// accountsFor reports whether the changes are all that a statement did: one that writes a
// row as it is makes a version of it or none, and which row that is, its count does not tell.
func accountsFor(s *stmt.RawStmt, r *history.Result, changes []mvcc.ChosenRow) bool {
	if len(s.Writes) == 0 {
		return true
	}
	deleted, changed, inserted := 0, 0, 0
	for _, c := range changes {
		switch {
		case c.Row == nil:
			deleted++
		case c.Chain == nil:
			inserted++
		default:
			changed++
		}
	}
	n := mvcc.ChangedRows(r)
	returns := n < 0 // RETURNING: a row for each that it has written
	if returns {
		n = int64(len(r.Rows))
	}
	switch verb := verbOf(s); {
	case returns && (verb == "insert" || verb == "replace"):
		return n == int64(inserted+changed)
	case verb == "insert" || verb == "replace":
		// One for each row that is new, two for each that it has changed.
		// https://dev.mysql.com/doc/c-api/9.7/en/mysql-affected-rows.html
		return n == int64(inserted+deleted+2*changed)
	case verb == "delete":
		return n == int64(deleted)
	}
	return r.Matched == int64(changed+deleted) && n == r.Matched
}

// applyRaw writes the rows that a raw statement has changed.
func (x *running) applyRaw(changes []mvcc.ChosenRow) error {
	x.e.TouchChosen(x.i, x.tx, x.start, changes)
	var there, fresh []mvcc.ChosenRow
	for _, w := range changes {
		if w.Chain == nil {
			fresh = append(fresh, w)
			continue
		}
		x.overrunsUnwaited(w.Chain)
		there = append(there, w)
	}
	if err := x.applyChosen(there); err != nil {
		return err
	}
	x.table = soleOf(changes)
	for _, w := range fresh {
		x.images = append(x.images, image{nil, w.Row})
		switch _, dup, _, err := x.put(w.Table, w.Row); {
		case err != nil:
			return err
		case dup != nil:
			return rawLoss("that inserts a row beside one with its key")
		}
	}
	return nil
}
