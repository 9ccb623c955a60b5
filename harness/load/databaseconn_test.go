package load

import (
	"errors"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// postgresSession returns a session of a PostgreSQL 18 that ends with the test.
func postgresSession(t *testing.T, timeout time.Duration) *session {
	t.Helper()
	b, err := harness.Open(t.Context(), "postgres:18", harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	dial, err := dialOf(b)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{dial: dial, timeout: time.Minute}
	if err := s.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.conn.(*databaseConn).timeout = timeout
	t.Cleanup(s.close)
	return s
}

// TestCommitThatRollsBack: a COMMIT of a transaction that has failed is answered, not refused, and commits nothing.
func TestCommitThatRollsBack(t *testing.T) {
	s := postgresSession(t, time.Minute)
	for _, c := range []struct {
		sql  string
		want code
	}{
		{"CREATE TABLE t (a INT)", noCode}, {"BEGIN", noCode}, {"INSERT INTO t VALUES (1)", noCode},
		{"SELECT 1 / 0", "22012"}, {"INSERT INTO t VALUES (2)", "25P02"}, {"COMMIT", committedNot},
		{"BEGIN", noCode}, {"INSERT INTO t VALUES (3)", noCode}, {"ROLLBACK", noCode},
		{"BEGIN", noCode}, {"INSERT INTO t VALUES (4)", noCode}, {"COMMIT", noCode},
	} {
		if err := s.exec(c.sql); errorCode(err) != c.want || (err == nil) != (c.want == noCode) {
			t.Fatalf("%s: %v, want %q", c.sql, err, c.want)
		}
	}
	a, err := s.query("SELECT a, NULL FROM t")
	if err != nil || len(a.rows) != 1 || string(a.rows[0][0].([]byte)) != "4" || a.rows[0][1] != nil {
		t.Errorf("%v, %v", a, err)
	}
}

// TestAnswerThatDoesNotCome: behind the time-out the connection counts as lost.
func TestAnswerThatDoesNotCome(t *testing.T) {
	s := postgresSession(t, 50*time.Millisecond)
	err := s.exec("SELECT pg_sleep(60)")
	if err == nil || errorCode(err) != noCode || s.conn != nil {
		t.Errorf("%v, connection %v", err, s.conn)
	}
	if err := s.exec("SELECT 1"); !errors.Is(err, errLost) {
		t.Errorf("on a lost connection: %v", err)
	}
}
