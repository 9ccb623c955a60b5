package fuzz

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The keys of testdata/written: whether a case gets a verdict, is left open or is
// not run, and a family of servers whose answer is another matter.
const (
	keyWant = "x-want"
	keyNot  = "x-not"
)

// Set-up and session statements as people write them run on every server: each
// case gets the verdict, or the lack of one, that its header says, and none is
// called a violation. Each runs twice, since the second time its tables are
// refilled.
func TestCasesAsWritten(t *testing.T) {
	targettest.Any(t)
	for _, name := range target.Installed(t.Context()) {
		if strings.Contains(name, ",") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := corpus.LoadDir("testdata/written")
			if err != nil {
				t.Fatal(err)
			}
			documented := targettest.Case(t, "-- "+keyWant+": judged\n"+docBlocks(t)["written"])
			stored = append(stored, corpus.Stored{Path: "docs/cases.md", Case: documented})
			on, err := target.Open(t.Context(), name, target.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := on.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, s := range stored {
				if not, _ := s.Case.Get(keyNot); not == string(on.Server().DBMS) {
					continue
				}
				want, _ := s.Case.Get(keyWant)
				for range 2 {
					for _, r := range findings.Replay(t.Context(), on, s.Path, s.Case, on.Levels()) {
						if on.Server().DBMS == history.PostgreSQL { // they are written in MySQL's SQL, which it has in part
							if r.Verdict == oracle.Violation || r.Reason == target.ReasonHarness {
								t.Errorf("%s at %s: %s %s, expected %q, got %q", r.File, r.Level, r.Verdict, r.Reason, r.Expected, r.Actual)
							}
							continue
						}
						if got := asWritten(&r); got != want {
							t.Errorf("%s at %s: %s, want %s: %s, expected %q, got %q", r.File, r.Level, got, want, r.Reason, r.Expected, r.Actual)
						}
					}
				}
			}
		})
	}
}

// asWritten sorts a verdict into what headers of testdata/written want.
func asWritten(r *findings.Replayed) string {
	switch {
	case r.Reason == target.ReasonRefused:
		return "refused"
	case r.NotRun():
		return r.Reason
	case r.Verdict == oracle.OK, r.Verdict == oracle.Known:
		return "judged"
	}
	return string(r.Verdict)
}
