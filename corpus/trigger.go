package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// triggerPattern begins a trigger, which the parser does not read.
// https://dev.mysql.com/doc/refman/en/create-trigger.html
var triggerPattern = regexp.MustCompile(`(?i)^\s*create\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?trigger\b`)

// trigger reads text[start:end] if it makes a trigger; nil if it does not.
func (r *caseReader) trigger(start, end int) (ast.StmtNode, error) {
	if !triggerPattern.MatchString(r.text[start:end]) {
		return nil, nil
	}
	text, err := r.rawText(start, end)
	if err != nil {
		return nil, err
	}
	return &stmt.TriggerStmt{SQL: text}, nil
}

var (
	// blocks open what an END closes, wherever they stand; statements only as the first word of a
	// statement, since IF and REPEAT are functions, too.
	blocks     = []string{"begin", "case"}
	statements = []string{"if", "loop", "while", "repeat"}
	// ahead are what stands before the first word of a statement in the body of a trigger.
	ahead = []string{"row", ";", "begin", "then", "else", "do", ":", "loop", "repeat"}
)

// insideTrigger says that a text begins a trigger whose body goes on: a semicolon behind it ends a
// statement of the body.
func insideTrigger(text string) bool {
	if !triggerPattern.MatchString(text) {
		return false
	}
	depth := 0
	words := (&stmt.TriggerStmt{SQL: strings.Join(strings.Fields(text), " ")}).Words()
	for i, w := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		switch {
		case before == "end":
		case w == "end":
			depth--
		case slices.Contains(blocks, w), slices.Contains(statements, w) && slices.Contains(ahead, before):
			depth++
		}
	}
	return depth > 0
}
