package postgres

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// errUnanswered is the loss of a history that lacks answers.
var errUnanswered = &mvcc.Loss{Slug: "unsupported: a question that the history does not answer"}

// outcome is what a statement does with one row, alone.
type outcome struct {
	matched bool
	// met says that an upsert comes to the row and leaves it as it is, since its WHERE says so.
	met bool
	// after is the row behind an UPDATE, rows what a SELECT returns of it.
	after solve.Row
	rows  [][]history.Cell
	// state is the SQLSTATE of its error.
	state string
}

// on asks what a statement does with one row of its table.
func (w *world) on(run *running, row solve.Row) (outcome, error) {
	a, err := w.ask(run, run.node, []solve.Row{row})
	switch {
	case err != nil:
		return outcome{}, err
	case (run.merges || run.upserts) && stateOf(&a.Result) == uniqueViolation:
		// The row is none of its own, and in the way of the one that it makes.
		return outcome{}, nil
	case a.Result.Err != nil:
		return outcome{state: a.Result.Err.State}, nil
	}
	out := outcome{matched: a.Result.Affected == 1, rows: a.Result.Rows}
	out.met = run.upserts && !out.matched
	if run.kind == stmt.Update && out.matched {
		after, err := w.after(run, a)
		if err != nil {
			return out, err
		}
		if (run.merges || run.upserts) && len(after) == 2 { // the row is there, and the one that was made
			return outcome{}, nil
		}
		if len(after) != 1 {
			return out, &mvcc.Loss{Slug: "an answer that is not about one row"}
		}
		out.after = after[0]
	}
	return out, nil
}

// after reads the rows of the statement's table behind it.
func (w *world) after(run *running, a *history.Answer) ([]solve.Row, error) {
	var out []solve.Row
	for _, t := range a.After {
		if !strings.EqualFold(t.Name, run.table.Def.Name) {
			continue
		}
		for _, cells := range t.Rows {
			row, err := run.table.Def.ParseRow(cells)
			if err != nil {
				return nil, mvcc.LossOf("value that cannot be read", err)
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// ask returns the answer to a statement, or a part of it, that finds the given rows in its own
// table, if it has one, and in all others what its snapshot sees.
func (w *world) ask(run *running, node ast.StmtNode, own []solve.Row) (*history.Answer, error) {
	text, names, err := run.asked(node)
	if err != nil {
		return nil, err
	}
	q := history.Question{SQL: text}
	for _, name := range names {
		t := w.Table(name)
		if t == nil {
			return nil, &mvcc.Loss{Slug: "table that no set-up line creates", Detail: name}
		}
		rows := own
		if t != run.table {
			rows, _ = t.Rows(run.view)
		}
		q.Tables = append(q.Tables, contents(t.Def, rows))
	}
	key := q.Key()
	a := w.History.Answers[key]
	if a == nil {
		w.asking.Questions()[key] = q
		if !run.gathers && w.asking.Settle() {
			a = w.History.Answers[key]
		}
	}
	switch {
	case a == nil:
		return nil, errUnanswered
	case a.Open != "":
		return nil, &mvcc.Loss{Slug: "an answer that settles nothing", Detail: a.Open}
	}
	return a, nil
}

// asked returns the text of a statement, or a part of it, and the tables that it names, each once.
func (run *running) asked(node ast.StmtNode) (text string, names []string, err error) {
	if node == run.node && run.text != "" {
		return run.text, run.names, nil
	}
	find := &mvcc.TableFinder{}
	node.Accept(find)
	slices.Sort(find.Names)
	names = slices.Compact(find.Names)
	if text, err = corpus.Format(node, corpus.Text); err != nil {
		return "", nil, mvcc.LossOf("print", err)
	}
	if node == run.node {
		run.text, run.names = text, names
	}
	return text, names, nil
}

// gather takes a step that asks several questions of which none depends on another's answer: where a server answers at
// once, it is asked all of them together.
func (w *world) gather(run *running, step func() error) error {
	run.gathers = true
	err := step()
	run.gathers = false
	if errors.Is(err, errUnanswered) && w.asking.Settle() {
		return step()
	}
	return err
}

func contents(t *solve.Table, rows []solve.Row) history.Table {
	out := history.Table{Name: t.Name}
	for i := range t.Columns {
		out.Columns = append(out.Columns, t.Columns[i].Name)
	}
	for _, row := range rows {
		out.Rows = append(out.Rows, row.Cells())
	}
	return out
}

// asValues makes texts of the cells of an answer.
func asValues(cells [][]history.Cell) [][]sqlvalue.Value {
	out := make([][]sqlvalue.Value, len(cells))
	for i, row := range cells {
		out[i] = make([]sqlvalue.Value, len(row))
		for j, c := range row {
			if !c.Null {
				out[i][j] = sqlvalue.NewString(c.Text)
			}
		}
	}
	return out
}

// unsupported says what of a statement the rules here do not know, "" for nothing.
func unsupported(n ast.StmtNode) string {
	what := ""
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.FuncCallExpr:
			if stmt.Unrepeatable[x.FnName.L] {
				what = "function " + x.FnName.L
			}
		case *ast.Limit:
			what = "LIMIT"
		case *ast.WindowFuncExpr:
			what = "a window"
		case *ast.VariableExpr, *ast.SelectIntoOption, *ast.WithClause:
			what = "a variable, INTO or WITH"
		}
		return what != "", false
	})
	return what
}

// rejoins reports whether a statement's condition has a subquery that PostgreSQL turns into a
// join: then the re-check goes by the rows that were joined at first, rather than by all that
// the subquery finds.
func rejoins(n ast.StmtNode) bool {
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.PatternInExpr:
			found = x.Sel != nil
		case *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr:
			found = true
		}
		return found, false
	})
}

// errPlan is the loss where an answer and the rules differ in an error that a part of a
// condition raises: whether that part is evaluated is the plan's affair.
var errPlan = &mvcc.Loss{Slug: "an error that depends on the plan"}

// failsByPlan reports whether of two SQLSTATEs of a statement, "" for none, each may be right
// because of its plan: one is an error of computing a value, which PostgreSQL calls a data
// exception, and the condition has parts.
func failsByPlan(n ast.StmtNode, got, want string) bool {
	if got != "" && want != "" || !strings.HasPrefix(got+want, "22") {
		return false
	}
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.BinaryOperationExpr:
			found = x.Op == opcode.LogicAnd || x.Op == opcode.LogicOr
		case *stmt.RawStmt:
			found = slices.ContainsFunc(x.Words(), func(w string) bool { return w == "and" || w == "or" })
		}
		return found, false
	})
}

// readsItself reports whether a statement names its own table more than once: a question
// cannot give one table two contents.
func readsItself(n ast.StmtNode, t *versions.Table) bool {
	names := &mvcc.TableFinder{}
	n.Accept(names)
	count := 0
	for _, name := range names.Names {
		if strings.EqualFold(name, t.Def.Name) {
			count++
		}
	}
	return count > 1
}
