package corpus

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

var (
	constraintsWord    = regexp.MustCompile(`(?i)\bconstraints\b`)
	constraintsPattern = regexp.MustCompile(`(?i)^set constraints\b *(.*)$`)
	constraintsSet     = regexp.MustCompile(`(?i)^([a-z_][a-z0-9_]*(?: ?, ?[a-z_][a-z0-9_]*)*) (deferred|immediate)$`)
)

// constraints reads text[start:end] if it is PostgreSQL's SET CONSTRAINTS; nil if it is none.
func (r *caseReader) constraints(start, end int) (ast.StmtNode, error) {
	at, text := r.blankless(start, end, constraintsWord)
	m := constraintsPattern.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	set := constraintsSet.FindStringSubmatch(m[1])
	if set == nil {
		return nil, r.errorf(at, "want SET CONSTRAINTS ALL, or names without quotes, DEFERRED or IMMEDIATE")
	}
	s := &stmt.ConstraintsStmt{Deferred: strings.EqualFold(set[2], "deferred")}
	for name := range strings.SplitSeq(strings.ToLower(set[1]), ",") {
		s.Names = append(s.Names, strings.TrimSpace(name))
	}
	if len(s.Names) == 1 && s.Names[0] == "all" {
		s.Names = nil
	}
	return s, nil
}
