package corpus

import (
	"strings"
	"testing"
)

// TestOwnWords reads PostgreSQL's words: what MySQL's mean as well stays a statement that is understood, and what a raw
// statement touches is told by its words.
func TestOwnWords(t *testing.T) {
	for text, want := range map[string]string{
		"/* tx1 */ SELECT a FROM t WHERE b = 1 FOR UPDATE": "SELECT a FROM t WHERE b = 1 FOR UPDATE",
		"/* tx1 */ UPDATE t SET b = b + 1 WHERE a = 1":     "UPDATE t SET b = b + 1 WHERE a = 1",
		"/* tx1 */ BEGIN":                                                 "BEGIN",
		"/* tx1 */ SELECT a FROM t FOR KEY SHARE":                         "/* raw reads=t locks=share */ SELECT a FROM t FOR KEY SHARE",
		"/* tx1 */ SELECT a FROM t FOR NO KEY UPDATE":                     "/* raw reads=t locks=exclusive */ SELECT a FROM t FOR NO KEY UPDATE",
		"/* tx1 */ SELECT \"a\" FROM t":                                   "/* raw reads=t */ SELECT \"a\" FROM t",
		"/* tx1 */ SELECT a || 'x' FROM t, u":                             "/* raw reads=t,u */ SELECT a || 'x' FROM t, u",
		"/* tx1 */ UPDATE t SET b = 1 FROM u WHERE t.a = u.a RETURNING *": "/* raw reads=t,u writes=t locks=exclusive */ UPDATE t SET b = 1 FROM u WHERE t.a = u.a RETURNING *",
		"/* tx1 */ INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = excluded.b": "/* raw reads=t writes=t locks=exclusive */ " +
			"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = excluded.b",
		"/* tx1 */ WITH d AS (DELETE FROM u RETURNING a) INSERT INTO t SELECT a, 1 FROM d": "/* raw reads=u writes=u,t locks=exclusive */ " +
			"WITH d AS (DELETE FROM u RETURNING a) INSERT INTO t SELECT a, 1 FROM d",
		"/* tx1 */ MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE": "/* raw reads=t,u writes=t locks=exclusive */ " +
			"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
		"/* init */ CREATE UNIQUE INDEX i ON t (b) WHERE a > 0;\n/* tx1 */ BEGIN": "/* raw reads=t writes=t */ CREATE UNIQUE INDEX i ON t (b) WHERE a > 0",
		"/* init */ ALTER TABLE t ADD UNIQUE (b) DEFERRABLE;\n/* tx1 */ BEGIN":    "/* raw reads=t writes=t */ ALTER TABLE t ADD UNIQUE (b) DEFERRABLE",
	} {
		c := parseCase(t, "-- dialect: postgres\n"+rawSetUp+text+";\n")
		got := SQL(c.Steps[0].Stmt, Text)
		if strings.HasPrefix(text, "/* init") {
			got = SQL(c.Init[len(c.Init)-1].Stmt, Text)
		}
		if got != want {
			t.Errorf("%s\nread as %s", text, got)
		}
		if again := parseCase(t, string(Print(c, Text))); !again.Equal(c) {
			t.Errorf("%s\nis printed as %s", text, Print(c, Text))
		}
	}
	for text, want := range map[string]string{
		"-- dialect: oracle\n" + rawSetUp + "/* tx1 */ BEGIN;\n":                        `x:1:1: header dialect: "oracle": want dialect: postgres, or none for MySQL's words`,
		"-- dialect: postgres\n" + rawSetUp + "/* tx1 */ SELECT 1 || 'x';\n":            "x:4:10: this statement names no table of the case, so that nobody knows what it touches",
		"-- dialect: postgres\n" + rawSetUp + "/* tx1 */ CREATE INDEX ON t (lower(c));": "",
	} {
		_, err := Parse("x", []byte(text))
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
