package mvcc

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Error numbers that say that a table is not there.
const (
	ErrUnknownTable = 1051
	ErrNoTable      = 1146
)

// errNoDefault is about a column without a default. An INSERT that leaves the column out fails with it,
// and so does an UPDATE that sets the column to DEFAULT, if it comes to a row. But DEFAULT(a) is refused
// as a text, and on MariaDB a bare DEFAULT, too.
// https://dev.mysql.com/doc/refman/en/miscellaneous-functions.html#function_default
// https://mariadb.com/docs/server/reference/sql-functions/secondary-functions/information-functions/default
const errNoDefault = 1364

// textErrors are errors of a statement's text: of syntax, names, clauses and
// options. A server gives them before it looks at a row, so that no isolation
// level has a say in them.
//
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
var textErrors = []uint16{
	// Syntax, and what a server does not have.
	1064, 1149, ErrNotSupported, 1295,
	// Names of databases, tables, columns, keys, partitions, functions, variables.
	1046, 1049, ErrUnknownTable, 1052, 1054, 1060, 1066, 1072, 1091, 1103, 1109, 1110, ErrNoTable, ErrNoKey, 1193, 1305, 1327, 1735, 1747,
	// Numbers of values, columns and arguments.
	1136, 1222, 1241, 1318, 1353, 1582,
	// Clauses, options and types that do not go together.
	1055, 1056, ErrTableUsed, 1111, 1115, 1120, 1140, 1221, 1231, 1232, 1234, 1238, 1247, 1248, 1250, 1253, 1267, 1270, 1271, 1273,
	1286, 1288, 1463, 1471, 1616, 3028, 3029, 3065, 3066, 3568, 3569, 3577, 3579, 3593, 4078, 4079,
}

// TextError reports whether a code is that of an error of a statement's text.
func TextError(code uint16) bool { return slices.Contains(textErrors, code) }

// MayBeTextError reports whether an error can be one of a statement's text: a server that gives it
// to the statement alone, where there is no row, has refused the text.
func MayBeTextError(code uint16) bool { return TextError(code) || code == errNoDefault }

// RefusedAlone reports whether a server refuses the text of a statement, whatever the tables hold.
func RefusedAlone(st *history.Stmt, node ast.StmtNode) bool {
	code := ErrCode(st)
	return st.RefusedAlone && (TextError(code) || code == errNoDefault && KindOf(node) != stmt.Insert)
}

// RefusesText reports whether the server has refused the text of a statement,
// which has then read and written nothing. It is not asked where the rules predict that
// very error.
func (r *Replay) RefusesText(st *history.Stmt) bool {
	node := r.Case.Steps[st.Line].Stmt
	if !RefusedAlone(st, node) {
		return false
	}
	switch ErrCode(st) {
	case 1305:
		return !KindOf(node).Control() // of a savepoint that its transaction lacks
	case ErrUnknownTable, ErrNoTable:
		return !r.tablesExist(node)
	case ErrTableUsed:
		return !r.RefusesOwnTable(node)
	case ErrNotSupported:
		return KindOf(node) != stmt.SelectForShare || r.RulesAt(r.Session(st.Session).Level).Of(rules.ShareLock) != rules.ShareRefused
	}
	return true
}

// RefusedByText returns the statements whose text the server refused, by their
// indexes into the history, where no rule predicts that.
func (r *Replay) RefusedByText() []int {
	var out []int
	for i := range r.History.Stmts {
		if r.RefusesText(&r.History.Stmts[i]) {
			out = append(out, i)
		}
	}
	return out
}

// TextLoss is what becomes of an error that the oracle predicts of a statement's
// text and that the server does not give: the server knows its own grammar and
// names, and the oracle has misread the statement.
func TextLoss(p *Prediction, st *history.Stmt) error {
	if p.Err == 0 || p.Err == ErrCode(st) || !TextError(p.Err) {
		return nil
	}
	return &Loss{Slug: "text error predicted", Detail: fmt.Sprint(p.Err)}
}
