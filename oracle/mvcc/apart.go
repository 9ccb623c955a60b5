package mvcc

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// apart reports whether no statement of the case reaches a table: none names it, nor a table that it refers
// to. Then it stays as it is, whatever its definition says. Where there are views nothing is claimed.
func (r *Replay) apart(t *history.Table) bool {
	n, err := corpus.ParseStatement(t.Create)
	def, ok := n.(*ast.CreateTableStmt)
	if err != nil || !ok || len(r.History.Views) > 0 {
		return false
	}
	own := &TableFinder{}
	def.Accept(own)
	return !slices.ContainsFunc(r.Case.Steps, func(l corpus.Line) bool {
		return slices.ContainsFunc(own.Names, func(name string) bool { return corpus.Names(l.Stmt, name) })
	})
}

// leftAlone reports whether a table that has no model stands apart and holds in the end what it held before.
func (r *Replay) leftAlone(end *history.Table) bool {
	i := slices.IndexFunc(r.History.Initial, func(t history.Table) bool { return strings.EqualFold(t.Name, end.Name) })
	return i >= 0 && r.apart(&r.History.Initial[i]) && history.SameRows(r.History.Initial[i].Rows, end.Rows, false)
}
