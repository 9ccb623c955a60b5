package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness/postgrestest"
)

// envRequirePostgres makes a missing isolationtester a failure.
const envRequirePostgres = "TXNFUZZ_REQUIRE_POSTGRES"

// postgresPrograms finds PostgreSQL's programs and isolationtester, which Debian's
// package of the server has beside the files for extensions.
func postgresPrograms(t *testing.T) (bin, tester string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/lib/pgxs/src/test/isolation/isolationtester")
	if len(found) == 0 {
		if os.Getenv(envRequirePostgres) != "" {
			t.Fatalf("%s is set, and Debian's package postgresql is not installed", envRequirePostgres)
		}
		t.Skip("Debian's package postgresql is not installed")
	}
	tester = found[len(found)-1]
	root, _, _ := strings.Cut(tester, "/lib/pgxs/")
	return filepath.Join(root, "bin"), tester
}

// TestSpecs runs the specifications of all findings under isolationtester: each is
// refused with a reason, or its set-up is valid and it runs to its end.
func TestSpecs(t *testing.T) {
	bin, tester := postgresPrograms(t)
	b := backend(t)
	wrong, right := recordedCases(t, b)
	socket := postgrestest.Start(t, bin)
	ran, refused := 0, map[string]int{}
	for i, tl := range append(wrong, right...) {
		if i%3 != 0 && i >= len(wrong) {
			continue // a share of those that show nothing
		}
		files, err := Write(tl, "isolationtester", Test)
		if err != nil {
			reason := err.Error()
			if !strings.Contains(reason, "PostgreSQL") && !strings.Contains(reason, "brace") {
				t.Errorf("refused without a reason: %v", err)
			}
			refused[reason]++
			continue
		}
		cmd := exec.CommandContext(t.Context(), tester, "host="+socket+" user="+postgrestest.User+" dbname=postgres")
		cmd.Env = append(os.Environ(), "PGISOLATIONTIMEOUT=5")
		cmd.Stdin = bytes.NewReader(files.Text)
		out, err := cmd.CombinedOutput()
		if bytes.Contains(out, []byte("syntax error")) || err != nil && !bytes.Contains(out, []byte("canceling")) {
			t.Errorf("%s at %s: %v\n%s\n%s", tl.File, tl.LevelText(), err, out, files.Text)
			dropAll(t, bin, socket)
			continue
		}
		ran++
	}
	if ran < 50 {
		t.Errorf("only %d specifications ran", ran)
	}
	t.Logf("%d ran, %d were refused", ran, len(refused))
}

// dropAll removes the tables that a broken specification left.
func dropAll(t *testing.T, bin, socket string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "psql"), "-q", "-h", socket, "-U", postgrestest.User, "-c", "DROP SCHEMA public CASCADE; CREATE SCHEMA public", "postgres")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestForPostgreSQL writes what isolationtester has of its own; all else is the printer's.
func TestForPostgreSQL(t *testing.T) {
	for _, x := range []struct {
		sql, want string
		own       bool
	}{
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "BEGIN; SELECT 1", false},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "START TRANSACTION READ ONLY; SELECT 1", false},
		{"CREATE TABLE t (a INT PRIMARY KEY, KEY (a))", "CREATE TABLE t (a int PRIMARY KEY); CREATE INDEX ON t (a)", false},
		{"REPLACE INTO t VALUES (1)", "PostgreSQL does not know REPLACE: REPLACE INTO t VALUES (1)", false},
		{"/* raw reads=t */ SELECT * FROM t", "PostgreSQL does not know a raw statement: SELECT * FROM t", false},
		{"/* raw reads=t */ SELECT * FROM t", "SELECT * FROM t", true},
	} {
		n, err := corpus.ParseStatement(x.sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := forPostgreSQL(n, x.own)
		if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.sql, got, x.want)
		}
	}
}
