package fuzz

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// TestUnknownIsExplained runs cases that the oracle cannot judge, and holds what
// a person is told of each.
func TestUnknownIsExplained(t *testing.T) {
	const setUp = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, c VARCHAR(20));\n/* init */ INSERT INTO t VALUES (1, 'x'), (2, 'y');\n"
	on := targettest.Any(t)
	for _, x := range []struct{ steps, reason, says string }{
		{"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET c = 'z' WHERE a = 1;\n/* tx2 */ SELECT * FROM t WHERE a = 1 AND CONNECTION_ID() = 1 FOR UPDATE;\n/* tx1 */ COMMIT;\n/* tx2 */ SELECT * FROM t;",
			"unsupported: function CONNECTION_ID",
			"the oracle does not know this SQL: function CONNECTION_ID; at step 3, tx2: SELECT * FROM t WHERE a = 1 AND CONNECTION_ID() = 1 FOR UPDATE"},
		{"/* tx1 */ SELECT * FROM t;\n/* tx2 */ TRUNCATE TABLE t;\n/* tx1 */ SELECT * FROM t;",
			"unsupported: a statement of unknown effect",
			"the oracle does not know the effect of TRUNCATE TABLE; at step 2, tx2: TRUNCATE TABLE t"},
		{"/* tx1 */ SELECT a FROM t WHERE c REGEXP UUID();", "unsupported: REGEXP",
			"the oracle does not know this SQL: REGEXP; at step 1, tx1: SELECT a FROM t WHERE c REGEXP UUID()"},
		{"/* tx1 */ CREATE INDEX i ON t (a);", "unsupported: a statement of unknown effect",
			"the oracle does not know the effect of CREATE INDEX; at step 1, tx1: CREATE INDEX i ON t (a)"},
	} {
		c := targettest.Case(t, "-- level: RC\n"+setUp+x.steps+"\n")
		r := findings.Replay(t.Context(), on, "unknown.sql", c, on.Levels())[0]
		says, promise, both := strings.Cut(r.Actual, "; nor can it be judged by what the level promises: ")
		if r.Verdict != oracle.Unknown || r.Reason != x.reason || r.Expected != "" || says != x.says || !both || promise == "" {
			t.Errorf("%s\n%s %s, expected %q:\n%q, want\n%q and why no other judge can tell", x.steps, r.Verdict, r.Reason, r.Expected, r.Actual, x.says)
		}
	}
	for column, says := range map[string]string{
		"TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP": "ON UPDATE of a column",
	} {
		c := targettest.Case(t, "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b "+column+");\n/* tx1 */ SELECT a FROM t;\n")
		r := findings.Replay(t.Context(), on, "unknown.sql", c, []corpus.Level{corpus.ReadCommitted})[0]
		if r.Verdict != oracle.Unknown || !strings.HasPrefix(r.Actual, "the oracle does not know this SQL: "+says) && says != "" {
			t.Errorf("a column %s: %s, %q", column, r.Verdict, r.Actual)
		}
	}
	c := targettest.Case(t, "/* tx1 */ LOCK TABLES t READ;\n")
	r := findings.Replay(t.Context(), on, "unknown.sql", c, []corpus.Level{corpus.ReadCommitted})[0]
	if r.Reason != target.ReasonRefused || !strings.HasSuffix(r.Actual, "LOCK TABLES is not a statement of a transaction test") {
		t.Errorf("a statement that is refused: %s, %q", r.Reason, r.Actual)
	}
}

func TestPlainSQL(t *testing.T) {
	for from, want := range map[string]string{
		"*ast.CreateViewStmt": "CREATE VIEW", "*ast.RowExpr": "a row of several values", "*ast.CompareSubqueryExpr": "a comparison with ANY or ALL of a subquery", "Orders": "Orders", "last.Column": "last.Column",
		"FROM *ast.SetOprStmt": "FROM UNION, EXCEPT or INTERSECT", "*ast.MatchAgainst": "MATCH … AGAINST", "function SOUNDEX": "function SOUNDEX",
	} {
		if got := judging.PlainSQL(from); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
