package target_test

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// moved is a history that a known deviation explains: without the rules it would be a violation.
const moved = `
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 3 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 7;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`

// TestApart: a table that the rules have no model of does not keep them from judging what is done to others,
// but if a statement can reach it.
func TestApart(t *testing.T) {
	const t1 = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* init */ INSERT INTO t VALUES (1, 1), (2, 2);\n"
	cases := map[string]struct {
		text  string
		rules bool
	}{
		"beside it": {t1 + `
/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (a) ON DELETE CASCADE);
/* init */ INSERT INTO p VALUES (1);
/* init */ INSERT INTO c VALUES (1, 1);
` + moved, true},
		"its child": {t1 + "/* init */ CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (a) ON UPDATE CASCADE);\n" + moved, false},
		"its parent": {`
/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ INSERT INTO p VALUES (1), (2), (7);
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES p (a));
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
` + moved, false},
		"named by a statement": {t1 + "/* init */ CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES c (a));\n" +
			"/* tx3 */ SELECT * FROM c;\n" + moved, false},
		"behind a view": {t1 + "/* init */ CREATE TABLE c (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES c (a));\n" +
			"/* init */ CREATE VIEW v AS SELECT * FROM c;\n" + moved, false},
	}
	for _, server := range targettest.Among(t, "mariadb:10.11", "mysql:9.7") {
		on, err := target.Open(t.Context(), server, target.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range cases {
			parsed, err := corpus.Parse(name, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			v := on.Judge(t.Context(), parsed, target.LevelsFor(parsed, corpus.RepeatableRead)).Verdict
			known := v.Outcome == oracle.Known && slices.Contains(v.Rules, "key-change-leaves-old-row")
			if known != c.rules {
				t.Errorf("%s on %s: %s %v by %q: %s %s", name, server, v.Outcome, v.Rules, v.Oracle, v.Reason, v.Unpromised)
			}
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
}
