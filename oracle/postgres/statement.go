package postgres

import (
	"errors"
	"fmt"
	"maps"
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

// running is a statement that has begun and not ended.
type running struct {
	i    int
	st   *history.Stmt
	kind stmt.Kind
	node ast.StmtNode
	// counts says that its answer is the number of rows that node returns; merges and upserts, that node is a MERGE or an
	// INSERT … ON CONFLICT of one row.
	counts, merges, upserts bool
	// byPlace is node as it finds its row by a condition, if it finds that by the place in which it lies; ofAll says
	// that it is the first or the last one of the table.
	byPlace *stmt.RawStmt
	ofAll   bool
	tx      *versions.Txn
	// view is the statement's snapshot.
	view versions.View
	// table is what it writes or locks; nil for a plain SELECT.
	table *versions.Table
	// hits are the rows that it found by its snapshot; met are those that an upsert came to, and left as they are.
	hits, met []hit
	// inserted are the rows of an INSERT, failure the SQLSTATE that they come to.
	inserted []solve.Row
	failure  string
	// returned are the rows that an INSERT answers with.
	returned [][]history.Cell
	// refused says that its transaction had failed before.
	refused bool
	// gathers says that it asks several questions, which are answered together.
	gathers bool
	// text and names are what questions about the whole statement have in common.
	text  string
	names []string
}

// hit is a row that a statement found, in the version that it met.
type hit struct {
	chain *versions.Chain
	// txn and stmt wrote the version.
	txn  *versions.Txn
	stmt int
	row  solve.Row
	// first is the mode in which it was locked before its newest version was looked at, 0 for none.
	first versions.Mode
	outcome
}

// begin replays the submission of a statement: what it finds by its snapshot, and whether it
// had a reason to wait.
func (w *world) begin(i int) (*mvcc.Difference, error) {
	st := &w.History.Stmts[i]
	run := &running{i: i, st: st, node: w.Case.Steps[st.Line].Stmt}
	kind := mvcc.KindOf(run.node)
	if raw, ok := run.node.(*stmt.RawStmt); ok {
		if write := raw.Counted(); write != nil {
			run.node, run.counts = write, true
		}
		raw = run.node.(*stmt.RawStmt)
		run.merges, run.upserts, run.byPlace = mergesOne(raw), upsertsOne(raw), raw.ByCondition()
		if all := raw.OfAll(); all != nil {
			run.byPlace, run.ofAll = all, true
		}
	}
	run.kind = kindOf(run.node)
	w.Runs(i)
	w.Steps[i].Kind = kind
	w.running[st.Session] = run
	if run.kind.BesideRows() { // its own judge judges its waits
		return nil, nil
	}
	if run.kind.Control() {
		return w.needlessWait(run), nil
	}
	s := w.session(st.Session)
	if run.refused = s.failed; run.refused {
		return w.needlessWait(run), nil
	}
	if run.tx = s.txn; run.tx == nil {
		var err error
		if run.tx, err = w.open(st); err != nil {
			return nil, err
		}
		run.tx.Auto = true
	}
	run.view = versions.View{Tick: st.Submit, Own: run.tx}
	w.Steps[i].View, w.Steps[i].Level = run.view, run.tx.Level
	if err := w.target(run); err != nil {
		return nil, err
	}
	if err := w.gather(run, func() error { return w.find(run) }); err != nil {
		return nil, err
	}
	return w.needlessWait(run), nil
}

// target sets the table that a statement writes or locks, and refuses what is not known.
func (w *world) target(run *running) error {
	if err := w.Unmodelled[run.i]; err != nil {
		return err
	}
	refuse := func(what string) error { return &mvcc.Loss{Slug: "unsupported: " + what} }
	if strings.HasPrefix(stateOf(&run.st.Result), ofText) {
		return refuse("a text that the server refuses")
	}
	if what := unsupported(run.node); what != "" {
		return refuse(what)
	}
	if run.byPlace == nil && stmt.NamesSystemColumn(run.node) {
		return refuse("a column that tells where a row lies")
	}
	if w.sumsFloats(run.node) {
		return refuse("a sum of floating-point numbers")
	}
	if stmt.TakesEqual(run.node) && (w.hasFloats() || stmt.NamesLooseType(run.node)) {
		return refuse("one of several equal numbers that are written differently")
	}
	if locksWithin(run.node) {
		return refuse("a query within that locks")
	}
	v := stmt.Of(run.node)
	switch n := run.node.(type) {
	case *stmt.RawStmt:
		if run.byPlace != nil {
			n = run.byPlace
		}
		t, refused := w.rawTable(run, n)
		if refused != "" {
			return refuse(refused)
		}
		if run.kind != stmt.Select {
			run.table = t
		}
		return w.takesNoValues(run)
	case *ast.SelectStmt:
		if run.kind == stmt.Select {
			return nil
		}
		if v.Lock.Wait != stmt.Waits && v.Lock.Wait != stmt.Fails || !mvcc.PlainRows(n) {
			return refuse("a locking read with SKIP LOCKED or not of single rows")
		}
	case *ast.InsertStmt:
		if n.IsReplace || n.IgnoreErr || len(n.OnDuplicate) > 0 {
			return refuse("REPLACE, IGNORE or ON DUPLICATE KEY UPDATE")
		}
	case *ast.UpdateStmt, *ast.DeleteStmt:
		if v.Ignore || v.Several || v.Order != nil {
			return refuse("IGNORE, ORDER BY or several tables in a write")
		}
	default:
		return refuse("a statement of unknown effect")
	}
	name := v.Table()
	if name == nil || w.Table(name.Name.O) == nil {
		return refuse("a write or locking read of something else than one table")
	}
	if run.table = w.Table(name.Name.O); readsItself(run.node, run.table) {
		return refuse("a subquery on the table that the statement writes or locks")
	}
	return w.takesNoValues(run)
}

// takesNoValues refuses an INSERT into a table with a column that counts.
func (w *world) takesNoValues(run *running) error {
	makes := run.kind == stmt.Insert || run.merges || run.upserts
	if makes && slices.ContainsFunc(run.table.Def.Columns, func(c solve.Column) bool { return c.Auto }) {
		return &mvcc.Loss{Slug: "unsupported: values of a sequence"}
	}
	return nil
}

// sumsFloats says that a query adds up numbers of which the sum depends on the order.
func (w *world) sumsFloats(n ast.StmtNode) bool {
	return w.hasFloats() && corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		a, ok := n.(*ast.AggregateFuncExpr)
		return ok && (strings.EqualFold(a.F, "sum") || strings.EqualFold(a.F, "avg")), false
	})
}

// hasFloats says that a table has a column of floating-point numbers.
func (w *world) hasFloats() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(w.Store.Tables)), func(t *versions.Table) bool {
		return slices.ContainsFunc(t.Def.Columns, func(c solve.Column) bool {
			return c.Type.Class == solve.DoubleClass || c.Type.Class == solve.FloatClass
		})
	})
}

// locksWithin says that a query within a statement takes locks.
func locksWithin(n ast.StmtNode) bool {
	root := ast.Node(n)
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		s, ok := n.(*ast.SelectStmt)
		return ok && n != root && stmt.LockOf(s).Mode != stmt.None, false
	})
}

// find evaluates a write or a locking read on its snapshot, one row at a time.
func (w *world) find(run *running) error {
	if run.table == nil {
		return nil
	}
	run.hits, run.met, run.inserted, run.returned, run.failure = nil, nil, nil, nil, ""
	if run.kind == stmt.Insert {
		return w.findInserted(run)
	}
	view := run.view
	if run.upserts {
		view = versions.View{Tick: versions.Latest, Own: run.tx}
	}
	rows, chains := run.table.Rows(view)
	var lacking error
	if run.merges || run.upserts { // an error of the row that it would insert says nothing about one that it finds
		switch a, err := w.ask(run, run.node, nil); {
		case errors.Is(err, errUnanswered):
			lacking = err
		case err != nil:
			return err
		case a.Result.Err != nil:
			return &mvcc.Loss{Slug: "unsupported: a MERGE or an upsert of a row that nobody can insert"}
		}
	}
	var found []bool
	if run.ofAll {
		var err error
		if found, err = w.foundOfAll(run, rows, chains); err != nil {
			return err
		}
	}
	for k, row := range rows {
		if found != nil && !found[k] {
			continue
		}
		out, err := w.on(run, row)
		switch {
		case errors.Is(err, errUnanswered):
			lacking = err // the other rows' questions can be asked together with this one
		case err != nil:
			return err
		case out.matched || out.state != "" || out.met:
			v := view.Version(chains[k])
			h := hit{chain: chains[k], txn: v.Txn, stmt: v.Stmt, row: row, outcome: out}
			if run.upserts {
				h.first = w.upsertMode(run)
			}
			if out.met {
				run.met = append(run.met, h)
			} else {
				run.hits = append(run.hits, h)
			}
		}
	}
	if run.byPlace != nil && len(run.hits) > 1 {
		return &mvcc.Loss{Slug: "unsupported: a query for the place of several rows"}
	}
	if (run.merges || run.upserts) && lacking == nil && len(run.hits)+len(run.met) == 0 {
		return w.findInserted(run)
	}
	return lacking
}

// findInserted evaluates the rows of an INSERT. Those of value lists are asked for one by one,
// since the first ones can be waited for although a later one fails.
func (w *world) findInserted(run *running) error {
	var lacking error
	for _, part := range rowByRow(run.node) {
		a, err := w.ask(run, part, nil)
		if errors.Is(err, errUnanswered) {
			lacking = err
			continue
		}
		if err != nil {
			return err
		}
		if s, ok := part.(*ast.InsertStmt); a.Result.Err != nil && (!ok || s.Select != nil) {
			return &mvcc.Loss{Slug: "unsupported: an INSERT of which it is not told which row fails"}
		}
		if a.Result.Err != nil {
			run.failure = a.Result.Err.State
			return lacking
		}
		rows, err := w.after(run, a)
		if err != nil {
			return err
		}
		run.inserted, run.returned = append(run.inserted, rows...), append(run.returned, a.Result.Rows...)
	}
	return lacking
}

// rowByRow returns an INSERT for each of its value lists, or itself where it has none.
func rowByRow(n ast.StmtNode) (out []ast.StmtNode) {
	insert, ok := n.(*ast.InsertStmt)
	if !ok || insert.Select != nil {
		return []ast.StmtNode{n}
	}
	for _, list := range insert.Lists {
		one := *insert
		one.Lists = [][]ast.ExprNode{list}
		out = append(out, &one)
	}
	return out
}

// recheck evaluates a statement again on the rows that were changed since its snapshot, and
// leaves out those that are gone. passed holds the rows that do not match any more: these
// stay locked.
func (w *world) recheck(run *running) (hits, passed []hit, err error) {
	if run.upserts {
		err := w.gather(run, func() error { return w.find(run) })
		return run.hits, run.met, err
	}
	now := versions.View{Tick: versions.Latest, Own: run.tx}
	for _, h := range run.hits {
		v := now.Version(h.chain)
		switch {
		case h.state != "":
			hits = append(hits, h)
		case v == nil || v.Row == nil:
			if err := w.unmatched(run); err != nil {
				return nil, nil, err
			}
		case v.Txn == h.txn && v.Stmt == h.stmt:
			hits = append(hits, h)
		case run.byPlace != nil: // its newest version lies elsewhere
			h.first = run.mode(&h)
			passed = append(passed, h)
		case len(run.st.Waits) > 0 && run.mode(&h) == versions.KeyShare && !changesKey(run.table, h.row, v.Row):
			return nil, nil, &mvcc.Loss{Slug: "unsupported: FOR KEY SHARE of a row that changed while the query waited for another one"}
		case rejoins(run.node):
			return nil, nil, &mvcc.Loss{Slug: "unsupported: re-check of a condition with IN, EXISTS, ANY or ALL of a subquery"}
		default:
			h.first = run.mode(&h)
			h.txn, h.stmt, h.row = v.Txn, v.Stmt, v.Row
			if h.outcome, err = w.on(run, v.Row); err != nil {
				return nil, nil, err
			}
			if h.matched || h.state != "" {
				hits = append(hits, h)
			} else {
				passed = append(passed, h)
				if err := w.unmatched(run); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return hits, passed, nil
}

// needlessWait judges a wait: somebody must have stood in the way when the statement was
// submitted, or run a statement himself, of which it is not known what it had locked by then.
func (w *world) needlessWait(run *running) *mvcc.Difference {
	if len(run.st.Waits) == 0 || run.failure != "" && run.kind == stmt.Insert {
		return nil // of rows before one that fails a query does not tell
	}
	var inTheWay []int
	if run.table != nil {
		for n := range w.running {
			if n != run.st.Session {
				inTheWay = append(inTheWay, n)
			}
		}
		for i := range run.hits {
			inTheWay = append(inTheWay, w.holders(run.st.Session, run.hits[i].chain, run.mode(&run.hits[i]))...)
		}
		for i := range run.met {
			inTheWay = append(inTheWay, w.holders(run.st.Session, run.met[i].chain, run.mode(&run.met[i]))...)
		}
		inTheWay = append(inTheWay, w.duplicatesOf(run.table, run.tx, makes(run, run.hits)).waits...)
	}
	told := run.st.Waits[0].Holders
	if len(inTheWay) > 0 && (len(told) == 0 || slices.ContainsFunc(told, func(n int) bool { return slices.Contains(inTheWay, n) })) {
		return nil
	}
	return &mvcc.Difference{Stmt: run.i, Kind: "unjustified-wait", Expected: "no wait", Actual: fmt.Sprintf("waited for %v", told),
		Reason: fmt.Sprintf("nobody had locked what the %s needs", run.kind)}
}

// makes returns the rows that a statement makes.
func makes(run *running, hits []hit) (out []moved) {
	for _, row := range run.inserted {
		out = append(out, moved{new: row})
	}
	for i := range hits {
		if h := &hits[i]; h.after != nil {
			out = append(out, moved{h.chain, h.row, h.after})
		}
	}
	return out
}

// end replays the end of a statement and holds its answer against the rules.
func (w *world) end(i int) (*mvcc.Difference, error) {
	run := w.running[w.History.Stmts[i].Session]
	if run == nil || run.i != i {
		return nil, &mvcc.Loss{Slug: "statements of one session that overlap"}
	}
	delete(w.running, run.st.Session)
	w.Runs(i)
	w.Steps[i].Chosen = w.ends.Pos
	var d *mvcc.Difference
	var err error
	switch {
	case run.kind.Control():
		d, err = w.control(i, run.kind, run.node)
	case run.refused:
		w.Steps[i].Expected = &mvcc.Prediction{Matched: -1, Changed: -1, Err: history.NumberOf(inFailedTxn)}
		if stateOf(&run.st.Result) != syntaxError { // the text is read before the state of the transaction is asked for
			d = w.compareError(i, inFailedTxn)
		}
	case run.table == nil:
		d, err = w.read(run)
	default:
		d, err = w.current(run)
	}
	if d == nil && err == nil {
		d = w.compareStatus(i)
	}
	return d, err
}

// read judges a plain SELECT.
func (w *world) read(run *running) (*mvcc.Difference, error) {
	a, err := w.ask(run, run.node, nil)
	if err != nil {
		return nil, err
	}
	want := stateOf(&a.Result)
	p := &mvcc.Prediction{Matched: -1, Changed: -1, Rows: asValues(a.Result.Rows), Ordered: w.ordered(run.node)}
	if a.Result.Err != nil {
		p.Err = a.Result.Err.Code
	}
	w.Steps[run.i].Expected = p
	if failsByPlan(run.node, stateOf(&run.st.Result), want) {
		return nil, errPlan
	}
	d := w.compareError(run.i, want)
	if d == nil && want == "" {
		d = w.Compare(run.i, run.kind, p)
	}
	w.settle(run)
	return d, nil
}

// ordered reports whether a query says in which order its rows come: by a column of a single
// table that is its primary key.
func (w *world) ordered(n ast.StmtNode) bool {
	v := stmt.Of(n)
	if v.Order == nil || v.Table() == nil || len(v.Order.Items) == 0 || w.Table(v.Table().Name.O) == nil {
		return false
	}
	by, ok := v.Order.Items[0].Expr.(*ast.ColumnNameExpr)
	if !ok {
		return false
	}
	t := w.Table(v.Table().Name.O).Def
	return slices.ContainsFunc(t.Keys, func(k solve.Key) bool {
		return k.Primary && len(k.Columns) == 1 && strings.EqualFold(t.Columns[k.Columns[0]].Name, by.Name.Name.O)
	})
}

// settle ends a statement: an error undoes it and more; outside of BEGIN, success commits it.
func (w *world) settle(run *running) {
	s := w.session(run.st.Session)
	switch {
	case run.st.Result.Err != nil:
		w.abort(s, run.tx, w.effect(run.i))
	case run.tx.Auto:
		w.Commit(run.tx, w.effect(run.i))
		s.leave()
	}
}
