package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// role says what a line of an instrumented case is for. The names in notes are those of
// the literature.
type role uint8

const (
	own         role = iota // a statement of the case itself
	versionSet              // VSR: all rows of a table, before a statement that uses it
	match                   // PM, BPM: the rows that satisfy a condition, before it
	versionsNow             // AWR: all rows of the table, after a write
	matchNow                // APM: the rows that satisfy a condition, after a write
)

// step is a line of an instrumented case.
type step struct {
	role role
	// of is the line of the case's own statement that it belongs to, itself of that one.
	of    int
	table string
	// pred is the condition, an index into plan.preds: of an own statement the one by
	// which it chooses rows, of an INSERT that of its row's keys; -1: none.
	pred int
	// limited says that an own statement chooses only some of the rows that match.
	limited bool
}

// before says that a step stands in front of its statement.
func (s *step) before() bool { return s.role == versionSet || s.role == match }

// predicate is a condition on the rows of one table; without where all rows match.
type predicate struct {
	table string
	where ast.ExprNode
	text  string
}

// plan is an instrumented case: what to run, and what each line of it is.
type plan struct {
	c      *corpus.Case
	steps  []step // by line
	preds  []predicate
	tables []*table
}

// notUsable says why a case cannot be instrumented, or a run of it not be used.
type notUsable struct {
	why string
	// finding says that the run is worth keeping all the same.
	finding bool
}

func (e *notUsable) Error() string { return e.why }

func unusable(format string, args ...any) error {
	return &notUsable{why: fmt.Sprintf(format, args...)}
}

// instrument makes the instrumented case of a case: its own statements with the columns
// id and v (see stamper), and around each one the reads that show what it met and what it
// left.
//
// All reads are plain SELECTs in the same session, in front of the statement or behind it
// without anything between. At READ COMMITTED each of them looks anew and locks nothing,
// so none changes what the case's own statements see.
func instrument(c *corpus.Case) (*plan, error) {
	p := &plan{c: &corpus.Case{Init: c.Clone().Init}}
	if err := p.readTables(); err != nil {
		return nil, err
	}
	st := &stamper{p: p}
	if err := st.setUp(); err != nil {
		return nil, err
	}
	lines := c.Clone().Steps
	owns := make([]step, len(lines))
	for i := range lines {
		var err error
		if owns[i], err = st.statement(lines[i].Stmt); err != nil {
			return nil, err
		}
	}
	for i := range lines {
		p.surround(lines[i], owns[i])
	}
	levels := map[int]corpus.Level{}
	for _, s := range p.c.Sessions() {
		levels[s] = corpus.ReadCommitted
	}
	p.c.SetLevels(levels)
	return p, nil
}

// surround adds an own statement and its reads.
func (p *plan) surround(l corpus.Line, s step) {
	at := len(p.steps) + len(p.readsBefore(l, s))
	add := func(reads []step) {
		for _, r := range reads {
			r.of = at
			p.steps = append(p.steps, r)
			p.c.Steps = append(p.c.Steps, corpus.Line{Session: l.Session, Stmt: p.read(r), Note: note(r, s, writes(l.Stmt))})
		}
	}
	add(p.readsBefore(l, s))
	s.of = at
	p.steps = append(p.steps, s)
	l.Above, l.Note = nil, ""
	p.c.Steps = append(p.c.Steps, l)
	add(p.readsAfter(l, s))
}

func (p *plan) readsBefore(l corpus.Line, s step) []step {
	if back(l.Stmt) {
		return p.allTables(versionSet)
	}
	if s.table == "" {
		return nil
	}
	out := []step{{role: versionSet, table: s.table, pred: -1}}
	if writes(l.Stmt) {
		return append(out, p.matches(match, s.table)...)
	}
	if s.pred >= 0 && p.preds[s.pred].where != nil {
		out = append(out, step{role: match, table: s.table, pred: s.pred})
	}
	return out
}

func (p *plan) readsAfter(l corpus.Line, s step) []step {
	if back(l.Stmt) {
		return p.allTables(versionsNow)
	}
	if s.table == "" || !writes(l.Stmt) {
		return nil
	}
	return append([]step{{role: versionsNow, table: s.table, pred: -1}}, p.matches(matchNow, s.table)...)
}

func (p *plan) allTables(r role) []step {
	var out []step
	for _, t := range p.tables {
		out = append(out, step{role: r, table: t.name, pred: -1})
	}
	return out
}

// matches reads each condition of the case on a table: a write may overwrite any.
func (p *plan) matches(r role, table string) []step {
	var out []step
	for i := range p.preds {
		if q := &p.preds[i]; q.table == table && q.where != nil {
			out = append(out, step{role: r, table: table, pred: i})
		}
	}
	return out
}

// read makes the SELECT of a step.
func (p *plan) read(s step) ast.StmtNode {
	sel := selectAll(s.table)
	if s.pred >= 0 {
		sel.Where = corpus.CloneExpr(p.preds[s.pred].where)
	}
	return sel
}

// note names a read for who looks at the case. The rows that a write overwrites are those
// that match its own condition.
func note(r, s step, write bool) string {
	switch {
	case r.role == versionSet:
		return "VSR"
	case r.role == versionsNow:
		return "AWR"
	case r.role == matchNow:
		return "APM"
	case r.pred != s.pred:
		return "BPM"
	case write:
		return "PM, BWR"
	}
	return "PM"
}

// predicate returns the index of a condition.
func (p *plan) predicate(table string, where ast.ExprNode) (int, error) {
	text := ""
	if where != nil {
		var err error
		if text, err = corpus.FormatExpr(where, corpus.Text); err != nil {
			return 0, fmt.Errorf("print a condition: %w", err)
		}
	}
	if i := slices.IndexFunc(p.preds, func(q predicate) bool { return q.table == table && q.text == text }); i >= 0 {
		return i, nil
	}
	p.preds = append(p.preds, predicate{table, corpus.CloneExpr(where), text})
	return len(p.preds) - 1, nil
}

func (p *plan) table(name string) *table {
	i := slices.IndexFunc(p.tables, func(t *table) bool { return strings.EqualFold(t.name, name) })
	if i < 0 {
		return nil
	}
	return p.tables[i]
}

// writes says that a statement may change rows of its table.
func writes(s ast.StmtNode) bool {
	k, _ := mutate.KindOf(s)
	return k.Writes()
}

// back says that a statement goes back to a savepoint.
func back(s ast.StmtNode) bool {
	return stmt.KindOf(s) == stmt.RollbackTo
}

func selectAll(table string) *ast.SelectStmt {
	return &ast.SelectStmt{
		SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true},
		Kind:           ast.SelectStmtKindSelect,
		From:           &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: &ast.TableName{Name: ident(table)}}}},
		Fields:         &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
	}
}
