package races

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pause"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestStoredOfPostgres replays races of PostgreSQL. In serializable-bitmap-scan.sql, which was mended in 15.4, 14.9, 13.12
// and 12.16, a SELECT that uses a bitmap passes over rows of pages that the table has got since it began, without noting
// the conflict; the others show everywhere.
func TestStoredOfPostgres(t *testing.T) {
	for _, x := range []struct {
		file, target string
		shows        oracle.Outcome
		own          bool // the file names this build
	}{
		{"serializable-bitmap-scan.sql", "postgres:10", oracle.Violation, true},
		{"serializable-bitmap-scan.sql", "postgres:18", oracle.OK, false},
		{"serializable-commit-order.sql", "postgres:18", oracle.Violation, true},
		{"serializable-commit-order.sql", "postgres:12", oracle.Violation, false},
		{"serializable-deferrable.sql", "postgres:18", oracle.Violation, true},
	} {
		if len(targettest.Among(t, x.target)) == 0 { // which fails where servers are required
			continue
		}
		t.Run(x.file+"/"+x.target, func(t *testing.T) {
			text, err := os.ReadFile("../../docs/races/" + x.file)
			if err != nil {
				t.Fatal(err)
			}
			c := parsed(t, string(text))
			held, _ := c.Held()
			tg := targettest.Open(t, x.target, target.Options{Workers: 1})
			at, err := tg.CanHold(t.Context(), []string{c.Steps[held].Hold.Function})
			var unheld *harness.UnheldError
			if errors.As(err, &unheld) && strings.Contains(err.Error(), pause.ErrForbidden.Error()) {
				t.Skip(err)
			}
			if err != nil || len(at) != 1 {
				t.Fatalf("%v, %v", at, err)
			}
			if x.own && *at[0] != *c.Steps[held].Hold {
				t.Errorf("the place is %v, and the file has %v", *at[0], *c.Steps[held].Hold)
			}
			there := c.Clone()
			there.Steps[held].Hold = at[0]
			for range 10 {
				r := tg.Judge(t.Context(), there, target.LevelsFor(c, corpus.Serializable))
				if r.Err != nil && strings.Contains(r.Err.Error(), pause.ErrForbidden.Error()) {
					t.Skip(r.Err)
				}
				if r.Err != nil || r.Verdict.Outcome != x.shows ||
					x.shows == oracle.Violation && r.Verdict.Kind != "not-serializable" {
					t.Fatalf("%+v, %v", r.Verdict, r.Err)
				}
			}
		})
	}
}

// TestMakePostgres makes cases that PostgreSQL can run, each of its seed and number alone.
func TestMakePostgres(t *testing.T) {
	made, upserts, keys := 0, 0, 0
	for n := range 500 {
		level := []corpus.Level{corpus.Levels[1+n%3]}
		r, err := makeCase(history.PostgreSQL, 3, n, level)
		if err != nil {
			t.Fatal(err)
		}
		again, err := makeCase(history.PostgreSQL, 3, n, level)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			continue
		}
		made++
		if !r.c.Equal(again.c) || r.held != again.held || r.until != again.until {
			t.Fatalf("case %d is made in two ways", n)
		}
		if got, want := bySession(r.late()), bySession(r.c); got != want {
			t.Fatalf("case %d, late:\n%s\nwant\n%s", n, got, want)
		}
		text := string(corpus.Print(r.c, corpus.Text))
		if strings.Contains(text, "ON CONFLICT") {
			upserts++
			if level[0] != corpus.ReadCommitted {
				t.Errorf("an upsert at %v, which promises nothing of it:\n%s", level[0], text)
			}
		}
		if strings.Contains(text, "REFERENCES") {
			keys++
		}
	}
	if made < 375 || upserts < 20 || keys < 40 {
		t.Errorf("%d cases, %d with upserts, %d with foreign keys", made, upserts, keys)
	}
}
