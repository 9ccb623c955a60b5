package fuzz

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestUnknownIsExplained runs cases that the oracle cannot judge, and holds what
// a person is told of each.
func TestUnknownIsExplained(t *testing.T) {
	const setUp = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, c VARCHAR(20));\n/* init */ INSERT INTO t VALUES (1, 'x'), (2, 'y');\n"
	target := anyTarget(t)
	for _, x := range []struct{ steps, reason, says string }{
		{"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET c = 'z' WHERE a = 1;\n/* tx2 */ SELECT * FROM t WHERE a = 1 AND SHA1(c) = 'z' FOR UPDATE;\n/* tx1 */ COMMIT;\n/* tx2 */ SELECT * FROM t;",
			"unsupported: function SHA1",
			"the oracle does not know this SQL: function SHA1; at step 3, tx2: SELECT * FROM t WHERE a = 1 AND SHA1(c) = 'z' FOR UPDATE"},
		{"/* tx1 */ SELECT * FROM t;\n/* tx2 */ TRUNCATE TABLE t;\n/* tx1 */ SELECT * FROM t;",
			"unsupported: statement",
			"the oracle does not know the effect of TRUNCATE TABLE; at step 2, tx2: TRUNCATE TABLE t"},
		{"/* tx1 */ SELECT a FROM t WHERE c REGEXP 'x';", "unsupported: expression *ast.PatternRegexpExpr",
			"the oracle does not know this SQL: expression REGEXP; at step 1, tx1: SELECT a FROM t WHERE c REGEXP 'x'"},
		{"/* tx1 */ ANALYZE TABLE t;", "unsupported: statement",
			"the oracle does not know the effect of ANALYZE TABLE; at step 1, tx1: ANALYZE TABLE t"},
	} {
		c := parseCase(t, "-- level: RC\n"+setUp+x.steps+"\n")
		r := target.Replay(t.Context(), "unknown.sql", c, target.Levels())[0]
		if r.Verdict != oracle.Unknown || r.Reason != x.reason || r.Expected != "" || r.Actual != x.says {
			t.Errorf("%s\n%s %s, expected %q:\n%q, want\n%q", x.steps, r.Verdict, r.Reason, r.Expected, r.Actual, x.says)
		}
	}
	c := parseCase(t, "/* init */ CREATE TABLE t (a INT, b JSON);\n/* tx1 */ SELECT a FROM t;\n")
	r := target.Replay(t.Context(), "unknown.sql", c, []corpus.Level{corpus.ReadCommitted})[0]
	if r.Verdict != oracle.Unknown || r.Actual != "the oracle does not know this SQL: type json" {
		t.Errorf("a column of type JSON: %s, %q", r.Verdict, r.Actual)
	}
}

func TestPlainSQL(t *testing.T) {
	for from, want := range map[string]string{
		"*ast.CreateViewStmt": "CREATE VIEW", "expression *ast.RowExpr": "expression a row of several values", "Orders": "Orders",
		"FROM *ast.SetOprStmt": "FROM UNION, EXCEPT or INTERSECT", "ast.MatchAgainst": "MATCH AGAINST", "function SOUNDEX": "function SOUNDEX",
	} {
		if got := plainSQL(from); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
