package races

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

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
