package oracle

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Those who tell people about verdicts need some of what the packages below know, and import
// none of them.
type (
	// RowVersion is one version of a row as a step found it.
	RowVersion = mvcc.RowVersion
	// Dependencies are Adya's between the transactions of a history.
	Dependencies = mvcc.Dependencies
	// Dependency is one of them.
	Dependency = mvcc.Dependency
)

// LeftOpen is the kind of a violation in which a transaction was ended and its session is
// still in one.
const LeftOpen Kind = mvcc.LeftOpen

// KindOf returns the kind of a statement as a judge takes it: stmt.Other if it has something
// about it of which the rules do not know what it does.
func KindOf(n ast.StmtNode) stmt.Kind { return mvcc.KindOf(n) }

// LevelsIn returns every isolation level that a transaction of a history may have had,
// ascending, each once.
func LevelsIn(c *corpus.Case, h *history.History) []corpus.Level { return mvcc.Levels(c, h) }

// Describe prints a server's answer on one line.
func Describe(n ast.StmtNode, r *history.Result) string { return history.Describe(mvcc.KindOf(n), r) }

// SortRows puts rows into the order of their text.
func SortRows(rows [][]history.Cell) { mvcc.SortRows(rows) }

// TextError reports whether a code is that of an error of a statement's text, whatever the
// tables hold.
func TextError(code uint16) bool { return mvcc.TextError(code) }

// MayBeTextError reports whether a code can be that of such an error, which the statement alone,
// on tables without rows, tells.
func MayBeTextError(code uint16) bool { return mvcc.MayBeTextError(code) }

// Bears reports whether a rule can change what is expected of a history at all.
func Bears(r *rules.Rule, c *corpus.Case, h *history.History) bool {
	return len(engines.For(rules.For(h.Server)).Relevant(c, h, []*rules.Rule{r})) > 0
}
