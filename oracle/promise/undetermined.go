package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// undetermined says why the rows of the tables alone do not determine what a statement answers or
// does; "" where they do. limited is a statement whose own LIMIT they do determine.
func undetermined(n, limited ast.Node) string {
	if raw, ok := n.(*stmt.RawStmt); ok {
		words := raw.Words()
		switch {
		case unsettled(raw.SQL):
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
			if stmt.Unrepeatable[x.FnName.L] {
				why = "a value that is not one of the rows"
			}
		case *ast.VariableExpr:
			why = "a value that is not one of the rows"
		case *ast.SelectStmt:
			switch {
			case x.Limit != nil && n != limited:
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
			if x.Limit != nil && n != limited {
				why = "LIMIT"
			}
		case *ast.DeleteStmt:
			if x.Limit != nil && n != limited {
				why = "LIMIT"
			}
		case *ast.WindowFuncExpr:
			if !byPeers(x) {
				why = "a window, whose order need not be total"
			}
		case *ast.AggregateFuncExpr:
			if strings.EqualFold(x.F, "group_concat") {
				why = "GROUP_CONCAT, whose order need not be total"
			}
		}
		return why != "", false
	})
	return why
}

// byPeers says that a window function gives equal rows of a partition the same, whatever their order: it counts rows, and
// those of a frame end with the last that is equal to the row, or with the partition; or it is a rank.
// https://www.postgresql.org/docs/current/functions-window.html
// https://dev.mysql.com/doc/refman/en/window-function-descriptions.html
func byPeers(f *ast.WindowFuncExpr) bool {
	return f.Spec.Frame == nil && f.Spec.Ref.O == "" && f.Spec.Name.O == "" && !f.Spec.OnlyAlias &&
		slices.Contains([]string{"count", "rank", "dense_rank"}, strings.ToLower(f.Name))
}

// subquery says that a statement has a query within: that may read other rows than the statement
// itself is to see, or lock, and no single state shows both.
func subquery(n ast.StmtNode) bool {
	if raw, ok := n.(*stmt.RawStmt); ok {
		if write := raw.Counted(); write != nil {
			raw = write
		}
		count := 0
		for _, w := range raw.Words() {
			if w == "select" || w == "table" || w == "with" {
				count++
			}
		}
		return count > 1 || count == 1 && len(raw.Writes) > 0
	}
	return corpus.QueriesWithin(n)
}

// unsettled says that a text which the parser does not read may have a value of the clock, of chance, or
// of what a session keeps.
func unsettled(sql string) bool {
	return (&stmt.RawStmt{SQL: sql}).Calls(stmt.Unrepeatable) || strings.Contains(sql, "@")
}
