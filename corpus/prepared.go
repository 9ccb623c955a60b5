package corpus

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Some lines of a case are in words that only PostgreSQL has:
//
//	/* tx1 */ PREPARE TRANSACTION 'p1';
//	/* tx2 */ COMMIT PREPARED 'p1';
//	/* tx1 */ SELECT pg_advisory_lock(5);
//
// Neither a name nor a key is sent as it is, since those of others would be met.

var (
	preparedPattern = regexp.MustCompile(`(?i)^(prepare transaction|(?:commit|rollback) prepared)\b *(.*)$`)
	preparedName    = regexp.MustCompile(`^'([A-Za-z0-9_]{1,40})'$`)
	advisoryPattern = regexp.MustCompile(`(?i)^select (pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?|pg_advisory_unlock(?:_shared|_all)?)` +
		` *\( *([^()]*?) *\)$`)
)

// prepared reads text[start:end] if it is a statement of two-phase commit; nil if it is none.
func (r *caseReader) prepared(start, end int) (ast.StmtNode, error) {
	at, text := r.blankless(start, end, preparedWord)
	m := preparedPattern.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	name := preparedName.FindStringSubmatch(m[2])
	if name == nil {
		return nil, r.errorf(at, "the name of a prepared transaction is up to 40 letters, digits and _ in quotes, as in %s 'p1'",
			strings.ToUpper(m[1]))
	}
	return &stmt.PreparedStmt{Does: stmt.Kind(strings.ToUpper(m[1])), Name: name[1]}, nil
}

// advisory reads text[start:end] if it is a SELECT of a function for advisory locks; nil if it is none.
func (r *caseReader) advisory(start, end int) (ast.StmtNode, error) {
	at, text := r.blankless(start, end, advisoryWord)
	m := advisoryPattern.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	s := &stmt.AdvisoryStmt{Function: strings.ToLower(m[1])}
	var keys []string
	if m[2] != "" {
		keys = strings.Split(m[2], ",")
	}
	bits := 64
	if len(keys) == 2 {
		bits = 32
	}
	for _, k := range keys {
		n, err := strconv.ParseInt(strings.TrimSpace(k), 10, bits)
		if err != nil {
			return nil, r.errorf(at, "the key of an advisory lock is a whole number of 64 bits, or two of 32")
		}
		s.Keys = append(s.Keys, n)
	}
	if all := strings.HasSuffix(s.Function, "_all"); all != (len(keys) == 0) || len(keys) > 2 {
		return nil, r.errorf(at, "%s has %d keys", s.Function, len(keys))
	}
	return s, nil
}

var (
	preparedWord = regexp.MustCompile(`(?i)\bprepared?\b`)
	advisoryWord = regexp.MustCompile(`(?i)\bpg_(?:try_)?advisory_`)
)

// blankless returns a statement that holds a word with single blanks and without comments, and where it begins;
// nothing for any other.
func (r *caseReader) blankless(start, end int, word *regexp.Regexp) (at int, text string) {
	at = end - len(strings.TrimLeft(r.text[start:end], " \t\r\n"))
	if !word.MatchString(r.text[at:end]) || rawPattern.MatchString(r.text[at:end]) {
		return at, ""
	}
	text, err := r.rawText(at, end)
	if err != nil {
		return at, "" // the parser says so
	}
	return at, text
}

// Prepares reports whether some line of a case is one of two-phase commit.
func (c *Case) Prepares() bool {
	return slices.ContainsFunc(c.Steps, func(l Line) bool { return stmt.KindOf(l.Stmt).OfPrepared() })
}
