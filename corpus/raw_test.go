package corpus

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

const rawSetUp = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* init */ CREATE TABLE u (a INT);\n"

// TestRawRoundTrip prints raw statements in every dialect and reads them back.
func TestRawRoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"/* raw reads=t */ SELECT a FROM t ORDER BY a FETCH FIRST 1 ROWS ONLY":                 "",
		"/*raw   reads=t,u*/  SELECT a FROM t\n  INTERSECT ALL\tSELECT a FROM u":               "/* raw reads=t,u */ SELECT a FROM t INTERSECT ALL SELECT a FROM u",
		"/* raw writes=t reads=t locks=exclusive */ DELETE FROM t RETURNING a":                 "/* raw reads=t writes=t locks=exclusive */ DELETE FROM t RETURNING a",
		"/* raw reads=t locks=share */ SELECT * FROM t LOCK IN SHARE MODE SKIP LOCKED":         "",
		"/* raw reads=T */ SELECT '  ;  --', \"#\", `a` FROM T /* raw */ WHERE b=1 # more":     "/* raw reads=T */ SELECT '  ;  --', \"#\", `a` FROM T WHERE b=1",
		"/* raw reads=t */ SELECT /*+ NO_INDEX(t) */ 'two\nlines', 'it''s \\' so' FROM t -- x": "/* raw reads=t */ SELECT /*+ NO_INDEX(t) */ 'two\\nlines', 'it''s \\' so' FROM t",
	} {
		if want == "" {
			want = text
		}
		c := parseCase(t, rawSetUp+"/* tx1 */ "+text+"\n; -- note\n")
		if got := SQL(c.Steps[0].Stmt, Text); got != want {
			t.Errorf("%s\nread as %s", text, got)
		}
		for _, d := range []Dialect{Text, MySQL, MariaDB, TiDB} {
			again := parseCase(t, string(Print(c, d)))
			if !again.Equal(c) || !again.Clone().Equal(c) {
				t.Errorf("in dialect %d %s\nis %s", d, text, Print(again, Text))
			}
		}
		n, err := ParseStatement(want)
		if err != nil || stmt.KindOf(n) != stmt.Raw || SQL(n, Text) != want {
			t.Errorf("alone: %v", err)
		}
	}
}

func TestRawComments(t *testing.T) {
	c := parseCase(t, rawSetUp+"/* tx1 */ /* raw reads=t */ SELECT a /* why */ FROM t; -- blocked\n")
	l := c.Steps[0]
	if got := strings.Join(l.Above, "|"); got != "why" || l.Note != "blocked" {
		t.Errorf("above %q, note %q", got, l.Note)
	}
}

func TestRawMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"/* tx1 */ /* raw */ SELECT 1":                                            "x:3:11: a raw statement says which tables it touches, as in /* raw reads=t,u writes=t */",
		"/* tx1 */ /* raw reads=t, u */ SELECT 1":                                 "x:3:26: want names of tables of this case, with commas and nothing else between, as in reads=t,u",
		"/* tx1 */ /* raw reads=d.t */ SELECT 1":                                  "x:3:24: want names of tables of this case, with commas and nothing else between, as in reads=t,u",
		"/* tx1 */ /* raw reads */ SELECT 1":                                      "x:3:24: want names of tables of this case, with commas and nothing else between, as in reads=t,u",
		"/* tx1 */ /* raw reads=t reads=u */ SELECT 1":                            "x:3:26: reads= stands there twice: name several tables as in reads=t,u",
		"/* tx1 */ /* raw read=t */ SELECT 1":                                     "x:3:18: unknown word \"read\" of a raw statement (did you mean \"reads\"?): want reads=TABLES, writes=TABLES or locks=share|exclusive",
		"/* tx1 */ /* raw reads=t locks=x */ SELECT 1":                            "x:3:32: unknown lock \"x\": want locks=share or locks=exclusive, or leave it out",
		"/* tx1 */ /* raw reads=t */ ":                                            "x:3:28: empty statement",
		"/* tx1 */ /* raw reads=t */ SELECT /*!80000 a */ FROM t":                 "x:3:36: a raw statement cannot have a version comment: what it holds is not looked at; write what is in it without one",
		"/* tx1 */ /* raw reads=t,\u00e4\u00e4\u00e4,tt */ SELECT 1":              "x:3:26: this case has no table \"\u00e4\u00e4\u00e4\"",
		"/* tx1 */ /* raw reads=t writes=tt */ SELECT 1":                          "x:3:33: this case has no table \"tt\" (did you mean \"t\"?)",
		"/* tx1 */ /* raw reads=t */ SELECT * FROM t, `U`":                        "x:3:11: this statement names u, a table of this case, and says neither reads=u nor writes=u",
		"/* tx1 */ /* raw reads=t */ DELETE FROM t RETURNING a":                   "x:3:11: this DELETE writes: say which tables, as in /* raw reads=t writes=t */",
		"/* tx1 */ /* raw reads=t */ WITH s AS (TABLE t) UPDATE t, s SET t.b = 1": "x:3:11: this UPDATE writes: say which tables, as in /* raw reads=t writes=t */",
		"/* tx1 */ /* raw reads=t */ SELECT 1 FROM t FOR UPDATE WAIT 1":           "x:3:11: this query locks what it reads: say locks=share or locks=exclusive, as in /* raw reads=t locks=share */",
		"/* tx1 */ /* raw reads=t */ SELECT 1 FROM t LOCK IN SHARE MODE NOWAIT":   "x:3:11: this query locks what it reads: say locks=share or locks=exclusive, as in /* raw reads=t locks=share */",
		"/* init */ /* raw writes=t */ INSERT INTO t VALUES (1)":                  "x:3:1: a raw statement of the set-up makes an index or adds to a table: /* init */ /* raw writes=t */ CREATE INDEX … or ALTER TABLE t ADD …",
		"/* tx1 */ /* raw writes=t */ CREATE INDEX i ON t (b) WHERE b > 0":        "x:3:1: a session cannot define an index or a constraint in a raw statement: that stands behind /* init */",
	} {
		_, err := Parse("x", []byte(rawSetUp+text+";\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
