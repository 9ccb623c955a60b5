package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// unsettled holds functions whose value is not one of the rows: clock, chance, and what a session
// keeps from statement to statement.
var unsettled = []string{
	"now", "sysdate", "curdate", "current_date", "curtime", "current_time", "current_timestamp", "localtime",
	"localtimestamp", "utc_date", "utc_time", "utc_timestamp", "unix_timestamp", "rand", "uuid", "uuid_short",
	"random_bytes", "last_insert_id", "get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock",
	"found_rows", "row_count", "connection_id", "nextval", "setval", "lastval", "sleep",
	"database", "schema", "user", "current_user", "session_user", "system_user", "current_role", "version",
}

// undetermined says why the rows of the tables alone do not determine what a statement answers or
// does; "" where they do.
func undetermined(n ast.Node) string {
	if raw, ok := n.(*stmt.RawStmt); ok {
		words := raw.Words()
		switch {
		case unsettledWords(words, raw.SQL):
			return "a value that is not one of the rows"
		case slices.Contains(words, "limit"), slices.Contains(words, "fetch"):
			return "LIMIT"
		case slices.Contains(words, "skip"):
			return "SKIP LOCKED"
		}
		return ""
	}
	why := ""
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.FuncCallExpr:
			if slices.Contains(unsettled, x.FnName.L) {
				why = "a value that is not one of the rows"
			}
		case *ast.VariableExpr:
			why = "a value that is not one of the rows"
		case *ast.SelectStmt:
			switch {
			case x.Limit != nil:
				why = "LIMIT"
			case stmt.LockOf(x).Wait == stmt.Skips:
				why = "SKIP LOCKED"
			case x.SelectIntoOpt != nil:
				why = "INTO"
			}
		case *ast.SetOprStmt:
			if x.Limit != nil {
				why = "LIMIT"
			}
		case *ast.UpdateStmt:
			if x.Limit != nil {
				why = "LIMIT"
			}
		case *ast.DeleteStmt:
			if x.Limit != nil {
				why = "LIMIT"
			}
		case *ast.WindowFuncExpr:
			why = "a window, whose order need not be total"
		case *ast.AggregateFuncExpr:
			if strings.EqualFold(x.F, "group_concat") {
				why = "GROUP_CONCAT, whose order need not be total"
			}
		}
		return why != "", false
	})
	return why
}

// subquery says that a statement has a query within: that may read other rows than the statement
// itself is to see, or lock, and no single state shows both.
func subquery(n ast.StmtNode) bool {
	if raw, ok := n.(*stmt.RawStmt); ok {
		count := 0
		for _, w := range raw.Words() {
			if w == "select" || w == "table" || w == "with" {
				count++
			}
		}
		return count > 1 || count == 1 && len(raw.Writes) > 0
	}
	root := ast.Node(n)
	return corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch n.(type) {
		case *ast.SelectStmt, *ast.SetOprStmt:
			return n != root, false
		}
		return false, false
	})
}

// retryable holds the errors that end what a statement or transaction does because of others, or of
// the load: of deadlocks, time-outs, interruptions, changed records and write conflicts. Alone no
// server says any of them.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://docs.pingcap.com/tidb/stable/error-codes
var retryable = map[uint16]bool{
	1020: true, 1205: true, 1213: true, 1317: true, 3024: true, 3572: true, 1969: true,
	8002: true, 8022: true, 8028: true, 9007: true,
}

// ofValues holds the errors of values. Which row they are of depends on which rows a plan computes
// them for, also of rows that the statement does not return.
var ofValues = map[uint16]bool{
	1048: true, 1242: true, 1264: true, 1265: true, 1292: true, 1365: true, 1366: true, 1367: true, 1406: true,
	1411: true, 1441: true, 1525: true, 1690: true, 1916: true, 1918: true,
}

// sameAnswer compares as a bag of rows, with the numbers of an OK packet, and of errors the code.
func sameAnswer(e *event, a, b *history.Result) bool {
	if a.Err != nil || b.Err != nil {
		return a.Err != nil && b.Err != nil && a.Err.Means() == b.Err.Means()
	}
	if e.writes() && (a.Matched != b.Matched || a.Changed != b.Changed || a.Affected != b.Affected) {
		return false
	}
	x, y := history.RowTexts(a.Rows), history.RowTexts(b.Rows)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// answerText is an answer on one line.
func answerText(e *event, r *history.Result) string {
	switch {
	case r.Err != nil:
		return r.Err.String()
	case e.writes() && len(r.Rows) == 0 && r.Matched >= 0:
		return plural(r.Matched, "row") + " matched, " + plural(r.Changed, "row") + " changed"
	case e.writes() && len(r.Rows) == 0:
		return plural(r.Affected, "row") + " affected"
	case len(r.Rows) == 0:
		return "no rows"
	}
	var out []string
	for _, row := range r.Rows {
		out = append(out, history.RowText(row, history.Cell.String))
	}
	return strings.Join(out, " ")
}
