package campaign

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestSchema runs cases on the tables of a dump on servers that take it: each set-up works, and most cases get a verdict.
func TestSchema(t *testing.T) {
	for _, name := range targettest.Among(t, "mysql:9.7", "mariadb:11.8", "postgres:18") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wrong []string
			dump := "shop.sql"
			if name == "postgres:18" {
				dump = "shop-postgresql.sql"
			}
			r, err := RunHere(t.Context(), Settings{
				Target: name, Schema: "../../docs/schema/" + dump, Cases: 120, Seed: 11, Workers: 1,
				Out: t.TempDir(), Levels: []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead},
				Observe: func(r *target.Trial, _ string) {
					if r.Err != nil || r.Verdict.Outcome == oracle.Violation {
						wrong = append(wrong, r.Verdict.Reason+"\n"+string(corpus.Print(r.Case, corpus.Text)))
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(wrong) > 0 {
				t.Errorf("%d cases, such as %s", len(wrong), wrong[0])
			}
			if n := r.Verdicts[oracle.OK] + r.Verdicts[oracle.Known]; r.Cases < 120 || n < 90 {
				t.Errorf("%d of %d cases got a verdict: %v", n, r.Cases, r.Unknown)
			}
		})
	}
}

// TestLoadSchema says what is wrong with a file, and of a good one what is left out.
func TestLoadSchema(t *testing.T) {
	_, told, err := LoadSchema("../../docs/schema/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, "; "); !strings.Contains(got, "on 4 tables of") || !strings.Contains(got, "customers, products, orders, order_items") ||
		!strings.Contains(got, "left out: what the clock gives to columns of customers") ||
		!strings.Contains(got, "left out: 1 statement of the kind CREATE TRIGGER") {
		t.Error(got)
	}
	if _, _, err := LoadSchema("nowhere.sql"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}
