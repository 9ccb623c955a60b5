package harness

import (
	"regexp"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// eachRow ends what stands before the statement that a trigger runs.
// https://dev.mysql.com/doc/refman/en/create-trigger.html
var eachRow = regexp.MustCompile(`(?is)^(\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:DEFINER\s*=\s*\S+\s+)?TRIGGER\b.*?\bFOR\s+EACH\s+ROW\s+(?:(?:FOLLOWS|PRECEDES)\s+\S+\s+)?)(.*)$`)

// guarded is a statement of a set-up; if it makes a trigger, then one that does nothing while rows
// are laid out.
func guarded(n ast.StmtNode) ast.StmtNode {
	raw, ok := n.(*stmt.RawStmt)
	if !ok {
		return n
	}
	m := eachRow.FindStringSubmatch(raw.SQL)
	if m == nil {
		return n
	}
	own := *raw
	own.SQL = m[1] + "BEGIN IF " + loading + " IS NULL THEN " + m[2] + "; END IF; END"
	return &own
}
