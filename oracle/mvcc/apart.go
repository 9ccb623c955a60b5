package mvcc

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
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
	own := namesIn(def)
	return !slices.ContainsFunc(r.Case.Steps, func(l corpus.Line) bool {
		if raw, ok := l.Stmt.(*stmt.RawStmt); ok {
			return slices.ContainsFunc(raw.Words(), func(w string) bool { return own[w] })
		}
		for name := range namesIn(l.Stmt) {
			if own[name] {
				return true
			}
		}
		return false
	})
}

// namesIn returns the tables that a statement names, in small letters.
func namesIn(n ast.Node) map[string]bool {
	names := map[string]bool{}
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		if t, ok := n.(*ast.TableName); ok {
			names[t.Name.L] = true
		}
		return false, false
	})
	return names
}

// leftAlone reports whether a table that has no model stands apart and holds in the end what it held before.
func (r *Replay) leftAlone(end *history.Table) bool {
	i := slices.IndexFunc(r.History.Initial, func(t history.Table) bool { return strings.EqualFold(t.Name, end.Name) })
	return i >= 0 && r.apart(&r.History.Initial[i]) && history.SameRows(r.History.Initial[i].Rows, end.Rows, false)
}
