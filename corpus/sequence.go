package corpus

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Lines on sequences are in words that only PostgreSQL has:
//
//	/* init */ CREATE SEQUENCE s;
//	/* tx1 */ SELECT nextval('s');
//	/* tx1 */ SELECT currval('s');
//	/* tx1 */ SELECT lastval();

var (
	sequenceWord   = regexp.MustCompile(`(?i)\bsequence\b|\b(?:nextval|currval|lastval)\b`)
	createSequence = regexp.MustCompile(`(?i)^create sequence ([a-z_][a-z0-9_]{0,29})(?: cache ([1-9][0-9]{0,3}))?$`)
	sequenceCall   = regexp.MustCompile(`(?i)^select (nextval|currval) *\( *'([a-z_][a-z0-9_]{0,29})' *\)$`)
	lastCall       = regexp.MustCompile(`(?i)^select lastval *\( *\)$`)
)

// sequence reads text[start:end] if it makes a sequence or calls one of the functions of sequences alone; nil if it
// does not.
func (r *caseReader) sequence(start, end int) (ast.StmtNode, error) {
	at, text := r.blankless(start, end, sequenceWord)
	s := &stmt.SequenceStmt{}
	if m := createSequence.FindStringSubmatch(text); m != nil {
		s.Name = strings.ToLower(m[1])
		s.Cache, _ = strconv.Atoi(m[2])
	} else if m := sequenceCall.FindStringSubmatch(text); m != nil {
		s.Function, s.Name = strings.ToLower(m[1]), strings.ToLower(m[2])
	} else if lastCall.MatchString(text) {
		s.Function = "lastval"
	} else {
		return nil, nil
	}
	if pgsql.Name(s.Name) != s.Name && s.Name != "" {
		return nil, r.errorf(at, "%s is a reserved word, and no name of a sequence", s.Name)
	}
	return s, nil
}
