package export

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	dbms "github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/harness/postgrestest"
)

// cascade shows, at SERIALIZABLE, that a cascade of a foreign key works on the newest rows.
const cascade = `
/* init */ CREATE TABLE t (a INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1);
/* init */ CREATE TABLE t2 (a INT, CONSTRAINT FOREIGN KEY (a) REFERENCES t(a) ON UPDATE CASCADE);
/* init */ INSERT INTO t2 VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t2;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ SELECT * FROM t2;
/* tx1 */ COMMIT;
`

// cascadeSeen is what shows of it on PostgreSQL 18.
func cascadeSeen(t *testing.T) *timeline.Timeline {
	t.Helper()
	on := targettest.Open(t, "postgres:18", dbms.Options{})
	c, err := corpus.Parse("cascade", []byte(cascade))
	if err != nil {
		t.Fatal(err)
	}
	r := on.Judge(t.Context(), c, dbms.LevelsFor(c, corpus.Serializable))
	if r.Verdict.Kind != "not-serializable" {
		t.Fatalf("%s: %+v, %v", cascade, r.Verdict, r.Err)
	}
	return timeline.Of(timeline.Run{File: "cascade.sql", Case: c, Levels: r.Levels, History: r.History, Verdict: r.Verdict})
}

// TestPostgresForms writes a case that was seen on PostgreSQL in each format: in PostgreSQL's words, or with the reason
// why it cannot be.
func TestPostgresForms(t *testing.T) {
	tl := cascadeSeen(t)
	const level = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	has := map[string][]string{
		"markdown":        {"Server: PostgreSQL 18.", "CREATE SCHEMA anomaly;", "SET search_path = anomaly;", level},
		"two-terminals":   {"CREATE SCHEMA anomaly;", level, "SELECT * FROM t2; -- tx1, step 5. shows (1), expected no rows", "SELECT * FROM t2; -- tx1. shows no rows"},
		"pgsql-bugs":      {"PostgreSQL version: 18.", "In that order step 5 of tx1 would get no rows; here it gets (1).", "This level emulates serial transaction execution", level},
		"isolationtester": {level, "permutation"},
		"json":            {`"dbms": "postgresql"`},
		"go":              {"github.com/jackc/pgx/v5/pgconn", level, `"SELECT * FROM t2", true, false, false, "(1)"`},
	}
	for _, format := range Formats() {
		files, err := Write(tl, format, Test)
		want, sayable := has[format]
		if !sayable {
			if err == nil || !slices.ContainsFunc([]string{"only", "no statement of the case was held"}, func(w string) bool { return strings.Contains(err.Error(), w) }) {
				t.Errorf("%s: %v", format, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(string(files.Text), w) {
				t.Errorf("%s has no %q:\n%s", format, w, files.Text)
			}
		}
		for _, w := range []string{"`t", "CONSISTENT SNAPSHOT", "innodb", "InnoDB"} {
			if strings.Contains(string(files.Text), w) && format != "markdown" {
				t.Errorf("%s has %q:\n%s", format, w, files.Text)
			}
		}
	}
}

// TestPostgresGoTest runs the Go test of a case on another PostgreSQL: it fails where the anomaly shows, and passes as a
// demonstration of it.
func TestPostgresGoTest(t *testing.T) {
	bin, _ := postgresPrograms(t)
	tl := cascadeSeen(t)
	dsn := "host=" + postgrestest.Start(t, bin) + " user=" + postgrestest.User + " dbname=postgres"
	for as, want := range map[As]string{Test: fails, Demo: passes} {
		files, err := Write(tl, "go", as)
		if err != nil {
			t.Fatal(err)
		}
		if fate, out := runGo(t, files.Text, dsn); fate != want || !strings.Contains(out, "in the end, t2: ") {
			t.Errorf("as %s: %s\n%s", as, fate, out)
		}
	}
}

// TestChainedTransaction: a report on a transaction that has lost the characteristics of the one before quotes what says
// that it should have them, and its level.
func TestChainedTransaction(t *testing.T) {
	const path = "../../corpus/found/postgres-chain-forgets-modes.sql"
	on := targettest.Open(t, "postgres:18", dbms.Options{})
	c, err := corpus.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r := on.Judge(t.Context(), c, dbms.LevelsFor(c, corpus.ReadCommitted))
	files, err := Write(timeline.Of(timeline.Run{File: path, Case: c, Levels: r.Levels, History: r.History, Verdict: r.Verdict}), "pgsql-bugs", Test)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"same transaction characteristics (see SET TRANSACTION) as the just finished one.\"\nhttps://www.postgresql.org/docs/current/sql-rollback.html",
		"The Repeatable Read isolation level only sees data committed before the transaction began",
		"tx1 is at REPEATABLE READ in step 6, since the transaction before was, which has ended AND CHAIN.",
	} {
		if !strings.Contains(string(files.Text), want) {
			t.Errorf("no %q in\n%s", want, files.Text)
		}
	}
}
