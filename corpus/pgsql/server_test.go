package pgsql_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/harness/postgrestest"
)

// envRequirePostgres makes a missing server a failure.
const envRequirePostgres = "TXNFUZZ_REQUIRE_POSTGRES"

// server is a connection to a PostgreSQL of the test's own.
type server struct {
	*testing.T
	conn *pgconn.PgConn
}

func startServer(t *testing.T) *server {
	t.Helper()
	bin := postgrestest.Programs()
	if bin == "" {
		if os.Getenv(envRequirePostgres) != "" {
			t.Fatalf("%s is set, and Debian's package postgresql is not installed", envRequirePostgres)
		}
		t.Skip("Debian's package postgresql is not installed")
	}
	socket := postgrestest.Start(t, bin, "autovacuum=off", "shared_buffers=16MB", "max_connections=5")
	conn, err := pgconn.Connect(t.Context(), "host="+socket+" user="+postgrestest.User+" dbname=postgres sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return &server{t, conn}
}

// must sends statements that cannot fail.
func (s *server) must(sql string) {
	s.Helper()
	if err := s.execute(sql); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
}

func (s *server) execute(sql string) error {
	_, err := s.conn.Exec(s.Context(), sql).ReadAll()
	return err
}

// try sends statements within a transaction, which goes on if they fail. keep says that what they
// do is kept.
func (s *server) try(sql string, keep bool) error {
	s.must("SAVEPOINT before_it")
	err := s.execute(sql)
	if err != nil || !keep {
		s.must("ROLLBACK TO before_it")
	}
	s.must("RELEASE before_it")
	return err
}

// prepare lets the server analyse a statement, within a transaction that goes on if that fails.
func (s *server) prepare(sql string) error {
	s.must("SAVEPOINT before_it")
	_, err := s.conn.Prepare(s.Context(), "", sql, nil)
	if err != nil {
		s.must("ROLLBACK TO before_it")
	}
	s.must("RELEASE before_it")
	return err
}

// defines reports whether a text is of statements that define something, of which there may be
// several: the server analyses them as they run.
func defines(sql string) bool {
	first, _, _ := strings.Cut(sql, " ")
	return slices.Contains([]string{"CREATE", "DROP", "ALTER", "TRUNCATE"}, first)
}

// sqlState is that of an error of the server's.
func sqlState(t *testing.T, err error) string {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return refused.Code
}

// preamble is how many lines of the first file make the tables that the other files are about.
const preamble = 4

// TestServer lets a server read what the golden files say: each statement is analysed against
// tables that were printed, too, and those that define something are run.
func TestServer(t *testing.T) {
	s := startServer(t)
	s.must("BEGIN")
	tables := statements(t, "testdata/tables.txt")
	for _, l := range tables[:preamble] {
		sql, ok := printed(t, l)
		if !ok {
			t.Fatalf("%s: %s", l, sql)
		}
		s.must(sql)
	}
	seen := 0
	for _, path := range goldens(t) {
		for _, l := range statements(t, path) {
			sql, ok := printed(t, l)
			if !ok || slices.Contains(tables[:preamble], l) || strings.HasPrefix(sql, "KILL tx") || sql == "disconnect" {
				continue // the harness reads these
			}
			seen++
			err := error(nil)
			if defines(sql) {
				err = s.try(sql, false)
			} else {
				err = s.prepare(sql)
			}
			if err != nil {
				t.Errorf("%s: %s\nfor %s\n%v", filepath.Base(path), sql, l, err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d statements", seen)
	}
}

// TestReserved compares the names that get quotes with the server's key words.
func TestReserved(t *testing.T) {
	s := startServer(t)
	results, err := s.conn.Exec(t.Context(), "SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(results[0].Rows) < 100 {
		t.Fatalf("only %d key words", len(results[0].Rows))
	}
	for _, row := range results[0].Rows {
		word := string(row[0])
		if sql, _ := printed(t, "SELECT `"+word+"` FROM x"); sql != `SELECT "`+word+`" FROM x` {
			t.Errorf("%s is written without quotes: %s", word, sql)
		}
	}
}
