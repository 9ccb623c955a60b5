package harness

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// What a raw statement may reach is told by its words alone.
func TestRawStatementsStayInTheirDatabase(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT t.a, x.c FROM t, LATERAL (SELECT t.b AS c) AS x": "",
		"SELECT x.a FROM t x WHERE x.a = 1.5 AND '.' < 'mysql.'": "",
		"WITH s AS (SELECT 1) SELECT `s`.* FROM s, t":            "",
		"SELECT * FROM mysql.user, t":                            "mysql before a dot",
		"SELECT * FROM t, `mysql` . `user`":                      "mysql before a dot",
		`SELECT * FROM t, "mysql".user`:                          "' before a dot",
		"SELECT other FROM t, other.t":                           "other before a dot",
		"SELECT a FROM t INTO OUTFILE 'x'":                       "the word outfile",
		"SELECT LOAD_FILE('x') FROM t":                           "the word load_file",
		`SELECT "pg_terminate_backend"(1) FROM t`:                "without quotes",
		`SELECT "a" FROM t WHERE "b" IN (1)`:                     "",
		"SELECT query_to_xml('SELECT 1', true, true, '') FROM t": "the word query_to_xml",
		"UPDATE t SET b = 1 RETURNING old.b, new.b":              "",
		"SELECT old.b FROM t":                                    "old before a dot",
		"SET GLOBAL x = 1":                                       "is a query, INSERT",
		"GRANT ALL ON t TO x":                                    "is a query, INSERT",
		"LOAD DATA INFILE 'x' INTO TABLE t":                      "is a query, INSERT",
	} {
		c, err := corpus.Parse("x", []byte("/* init */ CREATE TABLE t (a INT, b INT);\n/* tx1 */ /* raw reads=t writes=t */ "+sql+";\n"))
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		_, err = newScript(c, history.MySQL)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestRawTraits(t *testing.T) {
	for text, want := range map[string]traits{
		"/* raw reads=t */ SELECT a FROM t LIMIT ROWS EXAMINED 5":                 0,
		"/* raw reads=t locks=share */ SELECT a FROM t LOCK IN SHARE MODE NOWAIT": locks,
		"/* raw writes=t */ INSERT IGNORE INTO t VALUES (1) RETURNING a":          locks | ignores,
		"/* raw reads=t */ SELECT a, @x FROM t QUALIFY 1":                         taints,
		"/* raw reads=t */ SELECT found_rows () FROM t QUALIFY RAND() < 1":        taints | varies,
	} {
		n, err := corpus.ParseStatement(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := inspect(n, text); err != nil || got != want {
			t.Errorf("%s: traits %b, want %b (%v)", text, got, want, err)
		}
	}
}
