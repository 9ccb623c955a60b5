package mutate

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestPostgresWords: a seed gives the same case each time, which is read as it is printed, and together the cases hold
// all the words that are PostgreSQL's own.
func TestPostgresWords(t *testing.T) {
	seen := map[string]int{
		"RETURNING": 0, "FOR NO KEY UPDATE": 0, "FOR KEY SHARE": 0, "DO UPDATE SET": 0, "MERGE INTO": 0, "WITH w AS": 0,
		"EXCLUDE": 0, "DEFERRABLE INITIALLY DEFERRED": 0, "CREATE UNIQUE INDEX": 0, "COALESCE": 0,
		"PREPARE TRANSACTION": 0, "COMMIT PREPARED": 0, "pg_advisory_xact_lock": 0,
		"LISTEN ": 0, "NOTIFY ": 0, "pg_notify(": 0, "UNLISTEN ": 0,
		"CREATE SEQUENCE ": 0, "nextval(": 0, "currval(": 0, "lastval(": 0,
		"READ ONLY, DEFERRABLE": 0, "SET CONSTRAINTS": 0, "COMMIT AND CHAIN": 0, " AS s WHERE ": 0,
		"WHERE ctid = (SELECT x.ctid FROM": 0,
	}
	const cases = 2000
	for seed := range uint64(cases) {
		made := corpus.Sayable(Generate(NewSeeded(seed), Options{DBMS: history.PostgreSQL, Levels: corpus.Levels, Tables: 2}), corpus.PostgreSQL)
		if made == nil || len(made.Steps) == 0 {
			continue
		}
		text := string(corpus.Print(made, corpus.Text))
		c := PostgresWords(made, seed, 18, true)
		if again := string(corpus.Print(made, corpus.Text)); again != text {
			t.Fatalf("seed %d changes its origin:\n%s\nto\n%s", seed, text, again)
		}
		text = string(corpus.Print(c, corpus.Text))
		if again := string(corpus.Print(PostgresWords(made, seed, 18, true), corpus.Text)); again != text {
			t.Fatalf("seed %d gives\n%s\nand\n%s", seed, text, again)
		}
		read, err := corpus.Parse("made", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if again := string(corpus.Print(read, corpus.Text)); again != text {
			t.Fatalf("seed %d: read as\n%s\nfrom\n%s", seed, again, text)
		}
		for what := range seen {
			if strings.Contains(text, what) {
				seen[what]++
			}
		}
		if old := string(corpus.Print(PostgresWords(made, seed, 14, true), corpus.Text)); strings.Contains(old, "MERGE") {
			t.Fatalf("seed %d: PostgreSQL 14 has no MERGE:\n%s", seed, old)
		}
	}
	for what, n := range seen {
		if n < cases/400 {
			t.Errorf("%s in %d of %d cases", what, n, cases)
		}
		t.Logf("%s in %d of %d cases", what, n, cases)
	}
}

// TestPostgresWordsWrite: a raw statement says that it writes if it does.
func TestPostgresWordsWrite(t *testing.T) {
	for seed := range uint64(400) {
		made := Generate(NewSeeded(seed), Options{DBMS: history.PostgreSQL, Levels: corpus.Levels})
		if made = corpus.Sayable(made, corpus.PostgreSQL); made == nil {
			continue
		}
		for _, l := range PostgresWords(made, seed, 18, true).Steps {
			raw, ok := l.Stmt.(*stmt.RawStmt)
			if ok && (len(raw.Writes) > 0) != (raw.Words()[0] != "select") || ok && raw.Plain() {
				t.Errorf("%s", raw)
			}
		}
	}
}
