package foresight

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// initial computes what the set-up of a case puts into its tables: it is run as
// a case of its own with one session. nil: it cannot be told.
func (s *Seer) initial(c *corpus.Case) []history.Table {
	const session = 1
	alone := &corpus.Case{}
	h := &history.History{Server: s.history.Server, Levels: map[int]corpus.Level{session: corpus.RepeatableRead}}
	dialect := solve.DialectOf(h.Server)
	tick := history.Tick(1)
	for _, l := range c.Init {
		if n, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			def, err := solve.NewTable(n, dialect)
			if err != nil {
				return nil
			}
			t := history.Table{Name: def.Name}
			for _, x := range def.Columns {
				t.Columns = append(t.Columns, x.Name)
			}
			h.Initial = append(h.Initial, t)
			alone.Init = append(alone.Init, l)
			continue
		}
		h.Stmts = append(h.Stmts, history.Stmt{
			Line: len(alone.Steps), Session: session, Submit: tick, Return: tick + 1,
			Result: history.Result{Matched: -1, Changed: -1},
		})
		tick += 2
		alone.Steps = append(alone.Steps, corpus.Line{Session: session, Stmt: l.Stmt})
	}
	p := rules.For(h.Server)
	if !answer(alone, h, p) {
		return nil
	}
	for i := range h.Stmts {
		if h.Stmts[i].Result.Err != nil {
			return nil
		}
	}
	r := engines.New(alone, h, p, false)
	h.Final = h.Initial // names the tables to tell
	if _, err := r.Run(); err != nil {
		return nil
	}
	return r.Promised()
}
