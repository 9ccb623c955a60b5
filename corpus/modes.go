package corpus

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// PostgreSQL says more of a transaction than MySQL:
//
//	/* tx1 */ BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
//	/* tx2 */ SET TRANSACTION READ ONLY, DEFERRABLE;
//
// Without DEFERRABLE, MySQL has some of these words, too: SET TRANSACTION is of the next transaction there, and not of
// the open one. So these are PostgreSQL's in a case whose header says so.

const modeWords = `isolation level (?:serializable|repeatable read|read committed|read uncommitted)|read only|read write|(?:not )?deferrable`

var (
	modesPattern = regexp.MustCompile(`(?i)^(begin|start|set)(?: (transaction|work))? ((?:` + modeWords + `)(?:(?: ?, ?| )(?:` + modeWords + `))*)$`)
	modePattern  = regexp.MustCompile(`(?i)` + modeWords)
	modesWord    = regexp.MustCompile(`(?i)\b(?:deferrable|transaction|begin)\b`)
)

// modes reads text[start:end] if it begins a transaction with modes or sets them; nil if it does not, or if the parser
// reads the same in it.
func (r *caseReader) modes(start, end int) (ast.StmtNode, error) {
	_, text := r.blankless(start, end, modesWord)
	m := modesPattern.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	first, noise := strings.ToUpper(m[1]), strings.ToUpper(m[2])
	s := &stmt.ModesStmt{Head: first}
	if first != "BEGIN" {
		if noise != "TRANSACTION" {
			return nil, nil
		}
		s.Head = first + " TRANSACTION"
	}
	s.Modes = modePattern.FindAllString(strings.ToUpper(m[3]), -1)
	if own := s.Has(stmt.Deferrable) || s.Has(stmt.NotDeferrable); own || r.postgres && (!s.Begins() || first == "BEGIN" || s.Level() != "") {
		return s, nil
	}
	return nil, nil
}
