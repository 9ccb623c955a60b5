package mutate

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestConstrained: every seed gives a case that can be read, the same each time, and together they
// hold all that the tables can watch over.
func TestConstrained(t *testing.T) {
	seen := map[string]int{"FOREIGN KEY": 0, "ON DELETE CASCADE": 0, "ON UPDATE SET NULL": 0, "CREATE TRIGGER": 0, "CHECK": 0, "GENERATED ALWAYS": 0, "REFERENCES c(id)": 0, "ROLLBACK": 0}
	for seed := range uint64(2000) {
		o := Options{DBMS: history.MySQL, Levels: corpus.Levels}
		c := Constrained(seed, o)
		text := string(corpus.Print(c, corpus.Text))
		if again := string(corpus.Print(Constrained(seed, o), corpus.Text)); again != text {
			t.Fatalf("seed %d gives\n%s\nand\n%s", seed, text, again)
		}
		for what := range seen {
			if strings.Contains(text, what) {
				seen[what]++
			}
		}
		if n := len(c.Sessions()); n < 2 || n > 3 {
			t.Fatalf("seed %d: %d sessions", seed, n)
		}
	}
	for what, n := range seen {
		if n < 100 {
			t.Errorf("%s in %d of 2000 cases", what, n)
		}
	}
	c := Constrained(1, Options{DBMS: history.TiDB, Levels: []corpus.Level{corpus.RepeatableRead}})
	if text := string(corpus.Print(c, corpus.Text)); strings.Contains(text, "TRIGGER") || strings.Contains(text, "CHECK") {
		t.Errorf("TiDB has no triggers, and no CHECK unless it is told to:\n%s", text)
	}
}
