package target

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// mostQuestions bounds what is asked in one run.
const mostQuestions = 256

// answer asks each question in some layouts and keeps the answers in the history, settled
// with those that are there. It is false if the server could not be asked.
func (t *Target) answer(
	ctx context.Context, c *corpus.Case, into *history.History, open map[string]history.Question, in []layout,
) bool {
	keys := slices.Sorted(maps.Keys(open))
	for len(keys) > 0 {
		some := keys[:min(len(keys), mostQuestions)]
		keys = keys[len(some):]
		for _, how := range in {
			var these []string
			var questions []history.Question
			for _, k := range some {
				if q := open[k]; how.asks(&q) {
					these, questions = append(these, k), append(questions, q)
				}
			}
			if len(these) > 0 && !t.answerIn(ctx, c, into, these, questions, how) {
				return false
			}
		}
	}
	return true
}

func (t *Target) answerIn(
	ctx context.Context, c *corpus.Case, into *history.History, keys []string, questions []history.Question, how layout,
) bool {
	if into.Answers == nil {
		into.Answers = map[string]*history.Answer{}
	}
	s := sheetOf(c, into.Server.DBMS, questions, how)
	if s == nil {
		for _, k := range keys {
			a := cmp.Or(into.Answers[k], &history.Answer{})
			a.Open = cmp.Or(a.Open, "the question cannot be laid out")
			into.Answers[k] = a
		}
		return true
	}
	t.mu.RLock()
	h, err := t.pool.Run(ctx, s.c, harness.Levels{By: map[int]corpus.Level{askingSession: t.Levels()[0]}})
	t.mu.RUnlock()
	if err != nil || len(h.Stmts) != len(s.c.Steps) {
		return false
	}
	for i, got := range s.answers(h) {
		if had := into.Answers[keys[i]]; had == nil {
			into.Answers[keys[i]] = got
		} else {
			settle(had, got)
		}
	}
	return true
}

// asks says that a question is asked in a layout: for its plan, in the case's own only.
func (how layout) asks(q *history.Question) bool {
	if q.Plan {
		return how == layout{}
	}
	return !how.bare || !needsKeys(q)
}

// needsKeys says that a question asks what a statement does with the rows that have keys of
// its own: there is no order or index that could matter.
func needsKeys(q *history.Question) bool {
	n, err := corpus.ParseStatement(q.SQL)
	if err != nil {
		return false
	}
	switch s := n.(type) {
	case *ast.InsertStmt:
		return len(s.OnDuplicate) > 0
	case *stmt.RawStmt:
		words := s.Words()
		return (words[0] == "insert" || words[0] == "replace") && !slices.Contains(words, "select") && !slices.Contains(words, "table")
	}
	return false
}

// settle leaves open what another layout answers differently.
func settle(a, other *history.Answer) {
	a.Open = cmp.Or(a.Open, other.Open)
	if a.Open == "" && (!history.SameAnswer(&a.Result, &other.Result, false) || !slices.EqualFunc(a.After, other.After, sameContents)) {
		a.Open = "the answer depends on the order of rows or on indexes"
	}
}

func sameContents(a, b history.Table) bool {
	return a.Name == b.Name && history.SameRows(a.Rows, b.Rows, false)
}

// layout is a way to lay out the rows of a question.
type layout struct{ backward, bare bool }

// layouts are the ways in which a question is asked: what does not depend on the plan,
// as the manuals promise of all but LIMIT without an order, is the same in all.
var layouts = []layout{{}, {backward: true}, {backward: true, bare: true}}

const askingSession = 1

// sheet is a case that asks questions, one behind the other.
type sheet struct {
	c         *corpus.Case
	questions []history.Question
	at        []slots
}

// slots are the indexes of a question's steps: those that read back the rows that were
// put in, the statement, and those that read the tables behind it.
type slots struct {
	before []int
	stmt   int
	after  []int
}

// sheetOf is nil where a case's tables cannot be laid out so.
func sheetOf(c *corpus.Case, dbms history.DBMS, questions []history.Question, how layout) *sheet {
	s := &sheet{c: &corpus.Case{}, questions: questions}
	for _, l := range judging.Unfilled(c).Init {
		switch def := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			if how.bare {
				bare := withoutKeys(def)
				if bare == nil {
					return nil
				}
				l.Stmt = bare
			}
		case *ast.CreateIndexStmt, *ast.AlterTableStmt, *stmt.RawStmt:
			if how.bare {
				return nil
			}
		}
		s.c.Init = append(s.c.Init, l)
	}
	ok := true
	add := func(sql string) int {
		stmt, err := corpus.ParseStatement(sql)
		if err != nil {
			ok = false
			return -1
		}
		s.c.Steps = append(s.c.Steps, corpus.Line{Session: askingSession, Stmt: stmt})
		return len(s.c.Steps) - 1
	}
	for i := range questions {
		q := &questions[i]
		var at slots
		for _, t := range q.Tables {
			add("DELETE FROM " + history.Quoted(t.Name))
			if len(t.Rows) > 0 {
				if how.backward {
					t.Rows = slices.Clone(t.Rows)
					slices.Reverse(t.Rows)
				}
				add(t.Insert(history.WrittenFor(c, t.Name)))
			}
			at.before = append(at.before, add("SELECT * FROM "+history.Quoted(t.Name)))
		}
		if q.Plan {
			at.stmt = s.explains(q, dbms)
		} else {
			at.stmt = add(q.SQL)
		}
		if ok && stmt.KindOf(s.c.Steps[at.stmt].Stmt) != stmt.Select {
			for _, t := range q.Tables {
				at.after = append(at.after, add("SELECT * FROM "+history.Quoted(t.Name)))
			}
		}
		s.at = append(s.at, at)
	}
	if !ok {
		return nil
	}
	s.c = s.c.Clone()
	return s
}

// explains adds a step that asks for a plan, in words of the server's own.
func (s *sheet) explains(q *history.Question, dbms history.DBMS) int {
	raw := &stmt.RawStmt{SQL: harness.Explain(dbms, q.SQL), Plan: true}
	for _, t := range q.Tables {
		raw.Reads = append(raw.Reads, &ast.TableName{Name: model.NewCIStr(t.Name)})
	}
	s.c.Steps = append(s.c.Steps, corpus.Line{Session: askingSession, Stmt: raw})
	return len(s.c.Steps) - 1
}

// answers reads the answers off the history of a sheet.
func (s *sheet) answers(h *history.History) []*history.Answer {
	var out []*history.Answer
	for i, at := range s.at {
		a := &history.Answer{}
		for j, step := range at.before {
			if h.Stmts[step].Result.Err != nil || !history.SameRows(h.Stmts[step].Result.Rows, s.questions[i].Tables[j].Rows, false) {
				a.Open = "the rows of table " + s.questions[i].Tables[j].Name + " could not be laid out"
			}
		}
		r := h.Stmts[at.stmt].Result
		a.Result = history.Result{Columns: r.Columns, Rows: r.Rows, Matched: r.Matched, Changed: r.Changed, Affected: r.Affected, Warnings: r.Warnings, Err: r.Err}
		for j, step := range at.after {
			t := s.questions[i].Tables[j]
			a.After = append(a.After, history.Table{Name: t.Name, Columns: t.Columns, Rows: h.Stmts[step].Result.Rows})
		}
		out = append(out, a)
	}
	return out
}

// withoutKeys is a table without its keys, save one that AUTO_INCREMENT needs; nil where
// it cannot be.
func withoutKeys(t *ast.CreateTableStmt) *ast.CreateTableStmt {
	bare := *t
	bare.Constraints, bare.Cols = nil, nil
	for _, c := range t.Constraints {
		switch c.Tp {
		case ast.ConstraintCheck:
			bare.Constraints = append(bare.Constraints, c)
		case ast.ConstraintForeignKey:
			return nil
		case ast.ConstraintPrimaryKey:
			// Its columns are NOT NULL, which the column need not say.
			for _, k := range c.Keys {
				if k.Column == nil || !slices.ContainsFunc(t.Cols, func(col *ast.ColumnDef) bool { return col.Name.Name.L == k.Column.Name.L }) {
					return nil
				}
			}
		}
	}
	for _, col := range t.Cols {
		own := *col
		own.Options = nil
		for _, o := range col.Options {
			switch o.Tp {
			case ast.ColumnOptionReference:
				return nil
			case ast.ColumnOptionAutoIncrement: // which needs a key, if only this one
				own.Options = append(own.Options, o)
				bare.Constraints = append(bare.Constraints, &ast.Constraint{Tp: ast.ConstraintIndex, Keys: []*ast.IndexPartSpecification{{Column: col.Name, Length: types.UnspecifiedLength}}})
			case ast.ColumnOptionUniqKey:
			case ast.ColumnOptionPrimaryKey:
				own.Options = append(own.Options, &ast.ColumnOption{Tp: ast.ColumnOptionNotNull})
			default:
				own.Options = append(own.Options, o)
			}
		}
		bare.Cols = append(bare.Cols, &own)
	}
	return &bare
}
