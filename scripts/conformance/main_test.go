package main

import (
	"context"
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

func agrees(ctx context.Context, t *testing.T, target string) {
	const statements = 4000
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
	c, err := conform.NewChecker(ctx, conn, "txnfuzz_conformance_test")
	if err != nil {
		t.Fatal(err)
	}
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
