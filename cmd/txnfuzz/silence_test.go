package main

import (
	"bufio"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// A server of which nothing can be asked: neither its family is known nor may
// the user see who waits. The run says both.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	const name = "mariadb:10.11" // MySQL's version cannot be set
	if !slices.Contains(target.Installed(t.Context()), name) {
		if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Fatalf("%s is not installed", name)
		}
		return
	}
	server := command(t, "server", name, "--server-opt", "version=8.0.99-Acme")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() }()
	dsn, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dsn = strings.TrimSpace(dsn)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"CREATE USER u@localhost", "GRANT ALL ON `txnfuzz\\_%`.* TO u@localhost"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	_, address, _ := strings.Cut(dsn, "@")
	c := writeFile(t, "case.sql", `/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ UPDATE t SET a = a + 10;
/* tx1 */ COMMIT;
`)
	got := txnfuzz(t, "show", c, "--levels", "RC", "--target", "u@"+address)
	if got.code != 0 || !strings.Contains(got.stdout, "silent: waits, or is") || !strings.Contains(got.stdout, "verdict: ok") {
		t.Errorf("status %d:\n%s", got.code, got.stdout)
	}
	for _, want := range []string{"is judged by those of MySQL", "cannot be asked for lock waits"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("standard error lacks %q: %s", want, got.stderr)
		}
	}
}
