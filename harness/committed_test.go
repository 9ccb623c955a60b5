package harness

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestCommits: behind which answers the primary may be in another state.
func TestCommits(t *testing.T) {
	for _, c := range []struct {
		sql             string
		was, is, failed bool
		want            bool
	}{
		{sql: "UPDATE t SET a = 1", want: true},
		{sql: "UPDATE t SET a = 1", failed: true},
		{sql: "UPDATE t SET a = 1", was: true, is: true},
		{sql: "INSERT INTO t VALUES (1)", was: true, failed: true}, // the victim of a deadlock
		{sql: "SELECT * FROM t"},
		{sql: "SELECT * FROM t FOR UPDATE"},
		{sql: "BEGIN", is: true},
		{sql: "BEGIN", was: true, is: true, want: true},
		{sql: "COMMIT", was: true, want: true},
		{sql: "COMMIT", was: true, failed: true, want: true},
		{sql: "COMMIT AND CHAIN", was: true, is: true, want: true},
		{sql: "ROLLBACK", was: true},
		{sql: "ROLLBACK TO s", was: true, is: true},
		{sql: "SET autocommit = 1", was: true, want: true},
	} {
		n, err := corpus.ParseStatement(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := commits(&step{node: n}, c.was, c.is, c.failed); got != c.want {
			t.Errorf("%s in %v, then in %v, failed %v: %v", c.sql, c.was, c.is, c.failed, got)
		}
	}
}

// TestKnownStates: which cases are read on a replica.
func TestKnownStates(t *testing.T) {
	for text, want := range map[string]bool{
		"/* init */ CREATE TABLE t (a INT);\n/* tx1 */ INSERT INTO t VALUES (1);\n":                 true,
		"/* init */ CREATE TABLE t (a INT) ENGINE = MyISAM;\n/* tx1 */ INSERT INTO t VALUES (1);\n": false,
		"/* init */ CREATE TABLE t (a INT);\n/* tx1 */ TRUNCATE TABLE t;\n":                         false,
		"/* init */ CREATE TABLE t (a INT);\n/* tx1 */ ALTER TABLE t ADD COLUMN b INT;\n":           false,
	} {
		c, err := corpus.Parse("case", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := newScript(c, history.MySQL)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.known(c, history.MySQL); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
