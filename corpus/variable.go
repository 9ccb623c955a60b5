package corpus

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// The names of the variables that SET TRANSACTION sets; servers have them under
// two, which mean the same.
// https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_tx_isolation
const (
	varIsolation = "tx_isolation"
	varReadOnly  = "tx_read_only"
)

var otherNames = map[string]string{
	"transaction_isolation": varIsolation, "transaction_isolation" + oneShot: varIsolation + oneShot,
	"transaction_read_only": varReadOnly,
}

// oncePattern finds variables of a transaction that are set with @@ and no scope:
// that is for the next transaction only, as of SET TRANSACTION.
// https://dev.mysql.com/doc/refman/9.7/en/set-transaction.html
var oncePattern = regexp.MustCompile("(?i)@@\\s*`?(tx|transaction)_(isolation|read_only)`?\\s*:?=")

// keepVariable gives one spelling to what has several: names of variables are
// not case-sensitive, and a level is written as a string, a word, in any case,
// under either name. once says that the statement is SET TRANSACTION without a
// scope, of which the parser remembers the level only.
func keepVariable(v *ast.VariableAssignment, once bool, text string) {
	if !v.IsSystem || v.Name == ast.SetNames || v.Name == ast.SetCharset {
		return
	}
	v.Name = strings.ToLower(v.Name)
	if n, ok := otherNames[v.Name]; ok {
		v.Name = n
	}
	switch v.Name {
	case varIsolation, varIsolation + oneShot:
		if l, ok := LevelOfValue(v.Value); ok {
			v.Value = StringLit(strings.ReplaceAll(l.String(), " ", "-"))
		}
	case varReadOnly:
		if on, ok := SwitchOf(v.Value); ok {
			v.Value = StringLit(map[bool]string{false: "0", true: "1"}[on])
		}
	default:
		return
	}
	if !strings.HasSuffix(v.Name, oneShot) && !v.IsGlobal && (once || oncePattern.MatchString(text)) {
		v.Name += oneShot
	}
}

// wordOf returns a value that is a string, a number or a bare word, in upper case.
func wordOf(e ast.ExprNode) (string, bool) {
	switch x := e.(type) {
	case ast.ValueExpr:
		if l := LiteralOf(x); l.Text != "" {
			return strings.ToUpper(l.Text), true
		}
	case *ast.ColumnNameExpr:
		if x.Name.Table.O == "" {
			return strings.ToUpper(x.Name.Name.O), true
		}
	}
	return "", false
}

// LevelOfValue reads the value of a variable that is an isolation level.
func LevelOfValue(e ast.ExprNode) (Level, bool) {
	text, ok := wordOf(e)
	if !ok {
		return 0, false
	}
	for _, l := range Levels {
		if text == strings.ReplaceAll(l.String(), " ", "-") {
			return l, true
		}
	}
	return 0, false
}

// SwitchOf reads the value of a variable that is on or off.
func SwitchOf(e ast.ExprNode) (on, ok bool) {
	switch text, _ := wordOf(e); text {
	case "1", "ON", "TRUE":
		return true, true
	case "0", "OFF", "FALSE":
		return false, true
	}
	return false, false
}

// workPattern finds the word that COMMIT WORK has for the standard's sake and
// that the parser does not know.
var workPattern = regexp.MustCompile(`(?i)^\s*(?:COMMIT|ROLLBACK|BEGIN)\s+(WORK)\b`)

// withoutWork puts blanks in its place, so that positions stay what they are.
func withoutWork(sql string) string {
	m := workPattern.FindStringSubmatchIndex(sql)
	if m == nil {
		return sql
	}
	return sql[:m[2]] + strings.Repeat(" ", m[3]-m[2]) + sql[m[3]:]
}
