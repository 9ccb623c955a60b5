package solve

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// nodeWords are the words of SQL for nodes whose names in the parser are others.
var nodeWords = map[string]string{
	"CompareSubquery":   "a comparison with ANY or ALL of a subquery",
	"Default":           "DEFAULT of a column",
	"GetFormatSelector": "the first argument of GET_FORMAT",
	"MatchAgainst":      "MATCH … AGAINST",
	"MaxValue":          "MAXVALUE",
	"ParamMarker":       "a parameter",
	"PatternRegexp":     "REGEXP",
	"Position":          "a column by its position",
	"Row":               "a row of several values",
	"Set":               "SET",
	"SetCollation":      "COLLATE",
	"SetOpr":            "UNION, EXCEPT or INTERSECT",
	"Subquery":          "a subquery",
	"TableName":         "a table's name",
	"TimeUnit":          "a unit of time",
	"TrimDirection":     "the direction of a TRIM",
	"Variable":          "a variable",
	"WindowFunc":        "a window function",
}

var humpPattern = regexp.MustCompile(`[A-Z][a-z]*`)

// NodeWords puts the name of a type of the parser into the words of SQL: CREATE
// VIEW for *ast.CreateViewStmt.
func NodeWords(typeName string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(typeName, "*"), "ast.")
	for _, end := range []string{"Stmt", "Expr", "Node"} {
		name = strings.TrimSuffix(name, end)
	}
	if words, ok := nodeWords[name]; ok {
		return words
	}
	return strings.ToUpper(strings.Join(humpPattern.FindAllString(name, -1), " "))
}

// inWords names a node for people.
func inWords(n ast.Node) string { return NodeWords(fmt.Sprintf("%T", n)) }
