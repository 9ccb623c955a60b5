package fuzz

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestPublishedBugsShow looks at PostgreSQL's published bugs without an oracle: on the versions that a case's header
// names after `shows` the observed answer is the wrong one, and on the others it is the expected one. What the header
// says is the table in docs/postgresql.md, which scripts/rules writes.
func TestPublishedBugsShow(t *testing.T) {
	cases := publishedOf(t, "postgres")
	if len(cases) < 25 {
		t.Fatalf("%d published bugs of PostgreSQL", len(cases))
	}
	var looked atomic.Int64
	for _, name := range target.Installed(t.Context()) {
		version, is := strings.CutPrefix(name, "postgres:")
		if !is || !slices.ContainsFunc(cases, func(s corpus.Stored) bool { return findings.HasRecord(s.Case, name) }) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := targettest.Open(t, name, target.Options{Clean: true})
			for _, s := range cases {
				if !findings.HasRecord(s.Case, name) { // it has no words for it
					continue
				}
				r := on.Judge(t.Context(), s.Case, target.LevelsFor(s.Case, corpus.ReadCommitted))
				if r.History == nil {
					t.Errorf("%s: %v", s.Path, r.Err)
					continue
				}
				looked.Add(1)
				key := "expected"
				if shows, _ := s.Case.Get("shows"); shows == "all" || slices.Contains(strings.Split(shows, ", "), version) {
					key = "anomaly"
				}
				want, _ := s.Case.Get(key)
				if got := observed(t, s.Case, r.History); got != want {
					t.Errorf("%s: %s, %s is %s", s.Path, got, key, want)
				}
			}
		})
	}
	t.Cleanup(func() { t.Logf("%d cases looked at", looked.Load()) })
}

// publishedOf are the published cases of a vendor's tracker.
func publishedOf(t *testing.T, vendor string) []corpus.Stored {
	t.Helper()
	stored, err := corpus.LoadCommitted(fromRoot(findings.KnownDir))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(stored, func(s corpus.Stored) bool {
		return !strings.HasPrefix(filepath.Base(s.Path), vendor+"-")
	})
}

// observed is what a case did where its header says to look: an answer (`tx2.3`), of an error the code alone, or
// whether a statement waited (`tx2.3 waits`).
func observed(t *testing.T, c *corpus.Case, h *history.History) string {
	t.Helper()
	at, _ := c.Get("observe")
	at, waits := strings.CutSuffix(at, " waits")
	s := statementOf(t, c, h, at)
	switch {
	case waits && len(s.Waits) > 0:
		return "yes"
	case waits:
		return "no"
	}
	answer := history.Describe(stmt.Of(c.Steps[s.Line].Stmt).Kind, &s.Result)
	if s.Result.Err != nil {
		answer, _, _ = strings.Cut(answer, " (")
	}
	return answer
}
