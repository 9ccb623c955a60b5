package solve

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// Asking lets a server compute what the solver refuses to: it holds what the server
// has answered, and collects what it is still to be asked. Which rows a statement
// sees is the caller's affair as ever; the server only does the arithmetic, alone.
// The idea to have the tested server compute answers is Troc's (Dou et al., ICSE 2023),
// which guesses the rows, where here they were observed.
type Asking struct {
	answers   map[string]*history.Answer
	questions map[string]history.Question
	used      map[string]bool
	// by is the statement that asks, usedBy holds those that needed an answer.
	by     int
	usedBy map[int]bool
	// all says that the server is to compute whatever it can be asked, missing that an
	// answer was when it was needed last; ahead, that the solver stands in then.
	all, missing, ahead bool
	// silent says that nothing is asked for now.
	silent bool
	// server answers questions at once, as far as it can; nil: nobody does.
	server func(open map[string]history.Question) map[string]*history.Answer
}

// NewAsking takes the answers that a history holds.
func NewAsking(answers map[string]*history.Answer) *Asking {
	return &Asking{answers: answers, questions: map[string]history.Question{}, used: map[string]bool{}, usedBy: map[int]bool{}}
}

// All has the server compute whatever it can be asked, also what the solver knows.
func (a *Asking) All() { a.all = true }

// Ahead has the solver compute, where it can, what the server has yet to: so one replay
// finds more questions. What it comes to is no verdict.
func (a *Asking) Ahead() { a.ahead = true }

// AnsweredBy has a server answer questions at once, as far as it can.
func (a *Asking) AnsweredBy(server func(open map[string]history.Question) map[string]*history.Answer) {
	a.server = server
}

// Settle has what was asked answered at once. It reports whether all of it is.
func (a *Asking) Settle() bool {
	if a.server == nil || a.answers == nil || len(a.questions) == 0 {
		return false
	}
	for key, got := range a.server(a.questions) {
		a.answers[key] = got
		delete(a.questions, key)
	}
	return len(a.questions) == 0
}

// refuses says that there is no answer and that nothing stands in for it.
func (a *Asking) refuses() bool { return a.missing && !a.ahead && !a.silent }

// errToBeAsked refuses what the server is to compute though the solver could.
var errToBeAsked = unsupported("SQL that the server is to compute")

// Questions returns what was asked and has no answer yet, in no particular order, by key.
func (a *Asking) Questions() map[string]history.Question { return a.questions }

// Used counts the answers that were needed.
func (a *Asking) Used() int { return len(a.used) }

// UsedBy reports whether a statement needed an answer.
func (a *Asking) UsedBy(stmt int) bool { return a.usedBy[stmt] }

// AskFor says which statement of a history is computed from now on.
func (s *Solver) AskFor(stmt int) {
	if s.asking != nil {
		s.asking.by = stmt
	}
}

// Silently has the solver compute by itself, as far as it can: what no statement of the
// history does is no affair of the server's.
func (s *Solver) Silently(compute func()) {
	if s.asking != nil {
		defer func(was bool) { s.asking.silent = was }(s.asking.silent)
		s.asking.silent = true
	}
	compute()
}

// ask returns the answer to a question; nil where there is none yet or none that
// settles it.
func (a *Asking) ask(q history.Question) *history.Answer {
	key := q.Key()
	got, ok := a.answers[key]
	switch {
	case !ok && a.silent:
		a.missing = true
		return nil
	case !ok:
		a.questions[key], a.missing = q, true
		return nil
	case got.Open != "":
		return nil
	}
	a.used[key] = true
	if !q.Plan {
		a.usedBy[a.by] = true
	}
	return got
}

// Asking makes the solver ask where it refuses. It returns the solver.
func (s *Solver) Asking(a *Asking) *Solver {
	s.asking = a
	return s
}

// asks tells whether an error is a refusal that the server may be asked about.
func (s *Solver) asks(err error, n ast.Node) bool {
	var u *Unsupported
	return s != nil && s.asking != nil && errors.As(err, &u) && repeatable(n)
}

// leaves tells whether the server is to compute n though the solver may know it.
func (s *Solver) leaves(n ast.Node) bool {
	if s == nil || s.asking == nil || !s.asking.all || !repeatable(n) {
		return false
	}
	s.asking.missing = false
	return true
}

// askedQuery has the server answer a query on the rows of its views; ok is false where
// it cannot be asked or has not answered.
func (s *Solver) askedQuery(stmt *ast.SelectStmt, v Views) (r *Result, err error, ok bool) {
	f := &tableNames{of: stmt}
	stmt.Accept(f)
	_, split := v.(SubqueryViews)
	if split || f.locks || stmt.With != nil && stmt.LockInfo != nil {
		return nil, nil, false // a part of it reads other versions than the rest
	}
	q := history.Question{}
	for _, name := range f.names {
		t, rows, err := v.Table(name)
		if f.with[strings.ToLower(name)] {
			if err == nil {
				return nil, nil, false // which of the two is meant where is not looked into
			}
			continue
		}
		if err != nil {
			return nil, nil, false
		}
		q.Tables = append(q.Tables, contents(t, rows))
	}
	if q.SQL, err = corpus.Format(asWritten(stmt), corpus.Text); err != nil {
		return nil, nil, false
	}
	a := s.asking.ask(q)
	switch {
	case a == nil:
		return nil, nil, false
	case a.Result.Err != nil:
		return nil, &SQLError{a.Result.Err.Means(), a.Result.Err.Message}, true
	}
	r = &Result{Columns: a.Result.Columns, Warnings: a.Result.Warnings, TotalOrder: len(a.Result.Rows) < 2, Rows: textsAsRows(a.Result.Rows)}
	return r, nil, true
}

// textsAsRows makes texts of the cells of an answer.
func textsAsRows(answer [][]history.Cell) [][]sqlvalue.Value {
	var rows [][]sqlvalue.Value
	for _, cells := range answer {
		row := make([]sqlvalue.Value, len(cells))
		for i, c := range cells {
			if !c.Null {
				row[i] = sqlvalue.NewString(c.Text)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// AskedPlan has the server tell the plan of a statement on the rows of its tables; nil where
// it cannot be asked or has not answered.
func (s *Solver) AskedPlan(n ast.StmtNode, on []Found) *history.Result {
	if s.asking == nil || !repeatable(n) {
		return nil
	}
	q := history.Question{Plan: true}
	for _, f := range on {
		q.Tables = append(q.Tables, contents(f.Table, f.Rows))
	}
	var err error
	if q.SQL, err = corpus.Format(n, corpus.Text); err != nil {
		return nil
	}
	if a := s.asking.ask(q); a != nil && a.Result.Err == nil {
		return &a.Result
	}
	return nil
}

// RowsStmt is a statement whose rows another query may read.
type RowsStmt interface {
	ast.StmtNode
	ast.ResultSetNode
}

// QueryOn is a query for the rows of a UNION, EXCEPT or INTERSECT, or of a statement that the
// parser does not read: what judges queries need not know of these then. The server is asked
// for the statement as it was.
func QueryOn(u RowsStmt) *ast.SelectStmt {
	return &ast.SelectStmt{
		SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true},
		Fields:         &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
		From:           &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: u, AsName: model.NewCIStr(ofRows)}}},
	}
}

// ofRows is no name that a case has.
const ofRows = "txnfuzz_rows"

// asWritten undoes QueryOn, and takes the locking clause from others.
func asWritten(stmt *ast.SelectStmt) ast.StmtNode {
	if stmt.From != nil {
		if src, ok := stmt.From.TableRefs.Left.(*ast.TableSource); ok && src.AsName.O == ofRows {
			return src.Source.(RowsStmt)
		}
	}
	bare := *stmt
	bare.LockInfo = nil
	return &bare
}

// askedTruth compiles an operand of a condition on one table that the solver refuses:
// the server tells of each row whether it passes. It is nil where that cannot be asked.
// own, if not nil, decides on rows of which the server's answer settles nothing.
func (c *compiler) askedTruth(x ast.ExprNode, refusal error, own func(*frame) sqlvalue.Truth) func(*frame) sqlvalue.Truth {
	if c.scope.outer != nil || len(c.scope.sources) != 1 || c.scope.sources[0].table == nil || !c.s.asks(refusal, x) || hasQuery(x) {
		return nil
	}
	t := c.scope.sources[0].table
	where, err := corpus.FormatExpr(x, corpus.Text)
	if err != nil {
		return nil
	}
	sql := choosing(c.stmt, t, aliasFor(x, t)) + " WHERE " + where
	asking := c.s.asking
	return func(f *frame) sqlvalue.Truth {
		asking.missing = false
		a := asking.ask(history.Question{SQL: sql, Tables: []history.Table{contents(t, []Row{f.row})}})
		switch {
		case f.err != nil:
		case a != nil && a.Result.Err == nil:
			if len(a.Result.Rows) == 1 || a.Result.Matched == 1 || c.stmt != nil && a.Result.Matched < 0 && a.Result.Affected == 1 {
				return sqlvalue.True
			}
		case own != nil && !asking.refuses():
			return own(f)
		default:
			// An error's place among those of other rows is not known.
			f.err = refusal
		}
		return sqlvalue.False
	}
}

// askedWhereRefused is own, the condition n of a statement that chooses rows of one table,
// but that the server tells of the rows on which own refuses to.
func (c *compiler) askedWhereRefused(n ast.ExprNode, own func(*frame) sqlvalue.Truth) func(*frame) sqlvalue.Truth {
	if own == nil || !c.s.asks(errToBeAsked, n) {
		return own
	}
	var asked func(*frame) sqlvalue.Truth // not made before it is needed, as it seldom is
	return func(f *frame) sqlvalue.Truth {
		t := own(f)
		var refused *Unsupported
		if !errors.As(f.err, &refused) {
			return t
		}
		if asked == nil {
			if asked = c.askedTruth(n, errToBeAsked, nil); asked == nil {
				return t
			}
		}
		f.err = nil
		if t = asked(f); f.err != nil {
			f.err = refused
		}
		return t
	}
}

// choosing begins a statement that does nothing but choose rows, as a write would whose
// condition it is: servers convert values in another way there. nil stands for a query.
func choosing(stmt ast.StmtNode, t *Table, alias string) string {
	ignore := map[bool]string{true: "IGNORE "}
	switch s := stmt.(type) {
	case *ast.UpdateStmt:
		same := history.Quoted(t.Columns[0].Name)
		return "UPDATE " + ignore[s.IgnoreErr] + history.Quoted(t.Name) + alias + " SET " + same + " = " + same
	case *ast.DeleteStmt:
		return "DELETE " + ignore[s.IgnoreErr] + "FROM " + history.Quoted(t.Name) + alias
	}
	return "SELECT 1 FROM " + history.Quoted(t.Name) + alias
}

// askedUpdate has the server compute what an UPDATE makes of one row that it matched.
func (s *Solver) askedUpdate(stmt *ast.UpdateStmt, t *Table, row Row) (newRow Row, changed bool, err error, ok bool) {
	if slices.ContainsFunc(stmt.List, func(a *ast.Assignment) bool { return hasQuery(a.Expr) }) {
		return nil, false, nil, false
	}
	bare := *stmt
	bare.Where, bare.Order, bare.Limit = nil, nil, nil
	a, err, ok := s.askedWrite(&bare, t, []Row{row})
	if !ok || err != nil {
		return nil, false, err, ok
	}
	if newRow, err = t.ParseRow(a.Rows[0]); err != nil {
		return nil, false, nil, false
	}
	return newRow, !slices.Equal(a.Rows[0], row.Cells()), nil, true
}

// askedRow has the server compute the row of one value list of an INSERT.
func (s *Solver) askedRow(stmt *ast.InsertStmt, t *Table, list []ast.ExprNode) (row Row, err error, ok bool) {
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Auto }) || slices.ContainsFunc(list, func(e ast.ExprNode) bool { return hasQuery(e) }) {
		return nil, nil, false
	}
	one := *stmt
	one.Lists, one.OnDuplicate, one.IsReplace = [][]ast.ExprNode{list}, nil, false
	a, err, ok := s.askedWrite(&one, t, nil)
	if !ok || err != nil {
		return nil, err, ok
	}
	if row, err = t.ParseRow(a.Rows[0]); err != nil {
		return nil, nil, false
	}
	return row, nil, true
}

// askedDuplicate has the server compute what ON DUPLICATE KEY UPDATE makes of the row that
// is in the way of the only one that is inserted.
func (s *Solver) askedDuplicate(stmt *ast.InsertStmt, t *Table, inTheWay Row) (row Row, changed bool, err error, ok bool) {
	if len(stmt.Lists) != 1 || stmt.Select != nil || stmt.IgnoreErr || hasQuery(stmt) || slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Auto }) {
		return nil, false, nil, false
	}
	a, err, ok := s.askedWrite(stmt, t, []Row{inTheWay})
	if !ok || err != nil {
		return nil, false, err, ok
	}
	if row, err = t.ParseRow(a.Rows[0]); err != nil {
		return nil, false, nil, false
	}
	return row, !slices.Equal(a.Rows[0], inTheWay.Cells()), nil, true
}

// askedWrite has the server run a write on a table that then holds one row.
func (s *Solver) askedWrite(stmt ast.StmtNode, t *Table, rows []Row) (after *history.Table, err error, ok bool) {
	sql, err := corpus.Format(stmt, corpus.Text)
	if err != nil || s.d.mayStamp(stmt, t) {
		return nil, nil, false
	}
	a := s.asking.ask(history.Question{SQL: sql, Tables: []history.Table{contents(t, rows)}})
	switch {
	case a == nil:
		return nil, nil, false
	case a.Result.Err != nil:
		return nil, &SQLError{a.Result.Err.Means(), a.Result.Err.Message}, true
	case len(a.After) != 1 || len(a.After[0].Rows) != 1:
		return nil, nil, false
	}
	return &a.After[0], nil, true
}

func contents(t *Table, rows []Row) history.Table {
	out := history.Table{Name: t.Name}
	for i := range t.Columns {
		out.Columns = append(out.Columns, t.Columns[i].Name)
	}
	for _, row := range rows {
		cells := row.Cells()
		if t.HasFloats() {
			exactFloats(t, row, cells)
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// aliasFor names a table as a condition calls it.
func aliasFor(x ast.ExprNode, t *Table) string {
	alias := ""
	corpus.Contains(x, func(n ast.Node) (found, skip bool) {
		if c, ok := n.(*ast.ColumnName); ok && c.Table.O != "" {
			alias = c.Table.O
		}
		return alias != "", false
	})
	if alias == "" || strings.EqualFold(alias, t.Name) {
		return ""
	}
	return " AS " + history.Quoted(alias)
}

// tableNames finds the tables that a query names, each once, and the common table
// expressions.
type tableNames struct {
	of    *ast.SelectStmt
	names []string
	with  map[string]bool
	locks bool // some query within has a locking clause of its own
}

func (f *tableNames) Enter(n ast.Node) (ast.Node, bool) {
	if s, ok := n.(*ast.SelectStmt); ok && s != f.of && stmt.LockOf(s).Mode != stmt.None {
		f.locks = true
	}
	if c, ok := n.(*ast.CommonTableExpression); ok {
		if f.with == nil {
			f.with = map[string]bool{}
		}
		f.with[c.Name.L] = true
	}
	if t, ok := n.(*ast.TableName); ok && !slices.ContainsFunc(f.names, func(x string) bool { return strings.EqualFold(x, t.Name.O) }) {
		f.names = append(f.names, t.Name.O)
	}
	return n, false
}

func (f *tableNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// hasQuery reports whether an expression holds a subquery, which may read other rows
// than its statement.
func hasQuery(n ast.Node) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		_, found = n.(*ast.SelectStmt)
		return found, false
	})
}

// ordered are the words of what depends on the order of rows.
var ordered = []string{
	"limit", "row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value", "group_concat", "json_arrayagg", "json_objectagg",
}

// takesRowsAsTheyCome reports whether the order of rows matters for a statement that gives
// none: that is the plan's affair, which layouts do not always show.
func takesRowsAsTheyCome(n *stmt.RawStmt) bool {
	words := n.Words()
	return !slices.Contains(words, "order") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ordered, w) })
}

// repeatable tells whether a statement answers the same in another session and at
// another time, given the same rows.
func repeatable(n ast.Node) bool {
	return !corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch n := n.(type) {
		case *ast.FuncCallExpr:
			found = stmt.Unrepeatable[n.FnName.L]
		case *stmt.RawStmt:
			found = n.Calls(stmt.Unrepeatable) || slices.Contains(n.Words(), "@") || takesRowsAsTheyCome(n)
		case *ast.VariableExpr, *ast.SelectIntoOption:
			found = true
		}
		return found, false
	})
}
