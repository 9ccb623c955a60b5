package main

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/solve/conform"
)

// The solver agrees with every server at hand on random statements: their rows,
// counts, errors, and the table behind them.
func TestSolverAgreesWithServers(t *testing.T) {
	ctx := context.Background()
	available := map[string]bool{}
	for _, a := range harness.Available(ctx) {
		available[a.Name] = a.Available
	}
	for _, target := range []string{"embedded", "mysql:9.7", "mariadb:11.8", "mariadb:10.11"} {
		t.Run(target, func(t *testing.T) {
			if target == "embedded" && !slices.Contains(harness.Targets(), target) {
				t.Skip("built without TiDB")
			}
			if target != "embedded" && !available[target] {
				if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
					t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set, and the server is not installed")
				}
				t.Skip("not installed: scripts/servers " + target)
			}
			agrees(ctx, t, target)
		})
	}
}

// rounds are how many statements are compared on tables of a character set and collation.
var rounds = []struct {
	options    string
	statements int
}{
	{"", 4000},
	{"CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci", 1000},
	{"CHARSET=utf8mb3", 500},
	{"CHARSET=latin1", 500},
	{"CHARSET=ascii COLLATE=ascii_bin", 500},
}

func agrees(ctx context.Context, t *testing.T, target string) {
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	conn, err := connect(ctx, b.(harness.Wired))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, r := range rounds {
		t.Run(r.options, func(t *testing.T) { agreesOn(ctx, t, conn, r.options, r.statements) })
	}
}

func agreesOn(ctx context.Context, t *testing.T, conn *sql.Conn, options string, statements int) {
	c, err := conform.NewChecker(ctx, conn, "txnfuzz_conformance_test")
	if err != nil {
		t.Fatal(err)
	}
	c.Options = options
	plan := conform.Plan{Seed: 7, Depth: 2, Kinds: "mixed,exprs,query,update,delete,insert,keyed", Compared: statements}
	if err := conform.Run(ctx, c, plan); err != nil {
		t.Fatal(err)
	}
	for i, d := range c.Report.Differences {
		if i < 5 {
			t.Errorf("%v\n%s\nrow  %s\nwant %s\ngot  %s", d.Setup, d.SQL, d.Row, d.Want, d.Got)
		}
	}
	if c.Report.Compared < statements {
		t.Errorf("%d statements compared, want %d", c.Report.Compared, statements)
	}
	t.Logf("%d statements compared, %d differences", c.Report.Compared, len(c.Report.Differences))
}
