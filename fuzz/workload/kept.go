package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Kept says whether a run of a saved finding kept the invariant in its header. Its JSON
// keys are part of the command line's contract.
type Kept struct {
	Name   string `json:"name"`
	Broken bool   `json:"broken"`
	// Answer is what the invariant's SELECT gives behind the run.
	Answer string `json:"answer"`
	// NotKnown says why it cannot be told.
	NotKnown string `json:"not_known,omitempty"`
}

// String says it for people.
func (k *Kept) String() string {
	switch {
	case k.NotKnown != "":
		return fmt.Sprintf("invariant %s: not known (%s)", k.Name, k.NotKnown)
	case k.Broken:
		return fmt.Sprintf("invariant %s: broken (its SELECT gives %s)", k.Name, orNothing(k.Answer))
	}
	return fmt.Sprintf("invariant %s: kept", k.Name)
}

// Keeps asks a server, which run gives cases to, whether a run of a case kept the
// invariant in the case's header; nil: there is none. The run itself stays as it was: the
// invariant is read from tables filled with the state that it ended in.
func Keeps(ctx context.Context, c *corpus.Case, h *history.History, run func(context.Context, *corpus.Case) (*history.History, error)) *Kept {
	text, ok := c.Get(keyInvariant)
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(text, ":")
	k := &Kept{Name: strings.TrimSpace(name)}
	v, err := workload.ParseInvariant(text)
	if err == nil {
		k.Name = v.Name
		err = k.ask(ctx, v, c, h, run)
	}
	if err != nil {
		k.NotKnown = err.Error()
	}
	return k
}

func (k *Kept) ask(ctx context.Context, v *workload.Invariant, c *corpus.Case, h *history.History, run func(context.Context, *corpus.Case) (*history.History, error)) error {
	if h == nil || h.End != history.Complete {
		return errors.New("the run did not end")
	}
	read := func(tables []history.Table) (*history.Result, error) {
		got, err := run(ctx, &corpus.Case{Init: filled(c, tables), Steps: []corpus.Line{{Session: 1, Stmt: v.Query}}})
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the invariant: %w", err)
		case got.End != history.Complete:
			return nil, fmt.Errorf("read the invariant: %s", got.Detail)
		}
		if e := got.Stmts[0].Result.Err; e != nil {
			return nil, fmt.Errorf("the server refuses its SELECT with error %d: %s", e.Code, e.Message)
		}
		return &got.Stmts[0].Result, nil
	}
	now, err := read(h.Final)
	if err != nil {
		return err
	}
	var before *history.Result
	if v.Judge == workload.Constant {
		if before, err = read(h.Initial); err != nil {
			return err
		}
	}
	k.Broken, k.Answer = !holds(v, now, before), rowsText(now, false)
	return nil
}

// filled is the set-up of a case with other rows.
func filled(c *corpus.Case, tables []history.Table) []corpus.Line {
	var out []corpus.Line
	computed := map[string][]string{} // columns that take no value, by table
	var order []string
	for _, l := range c.Init {
		if _, ok := l.Stmt.(*ast.InsertStmt); ok {
			continue
		}
		out = append(out, l)
		if t, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			order = append(order, t.Table.Name.L)
			for _, col := range t.Cols {
				if slices.ContainsFunc(col.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionGenerated }) {
					computed[t.Table.Name.L] = append(computed[t.Table.Name.L], col.Name.Name.L)
				}
			}
		}
	}
	// What is referred to comes first, as in the set-up.
	tables = slices.Clone(tables)
	slices.SortStableFunc(tables, func(a, b history.Table) int {
		return slices.Index(order, strings.ToLower(a.Name)) - slices.Index(order, strings.ToLower(b.Name))
	})
	for i := range tables {
		t := &tables[i]
		ins := &ast.InsertStmt{Table: &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: &ast.TableName{Name: model.NewCIStr(t.Name)}}}}}
		var places []int
		for k, name := range t.Columns {
			if !slices.Contains(computed[strings.ToLower(t.Name)], strings.ToLower(name)) {
				places = append(places, k)
				ins.Columns = append(ins.Columns, &ast.ColumnName{Name: model.NewCIStr(name)})
			}
		}
		for _, row := range t.Rows {
			var list []ast.ExprNode
			for _, k := range places {
				list = append(list, literal(row[k], true))
			}
			ins.Lists = append(ins.Lists, list)
		}
		if len(ins.Lists) > 0 {
			out = append(out, corpus.Line{Session: corpus.InitSession, Stmt: ins})
		}
	}
	return out
}
