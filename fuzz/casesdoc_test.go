package fuzz

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The example of the documentation does what its header records.
func TestDocumentedCase(t *testing.T) {
	text := docBlocks(t)["case"]
	c := targettest.Case(t, text)
	for _, d := range corpus.CheckHeader("docs/cases.md", []byte(text)) {
		t.Error(d)
	}
	installed := target.Installed(t.Context())
	ran := 0
	for _, cell := range findings.RecordedCells(c) {
		i := slices.IndexFunc(installed, func(name string) bool { return findings.HeaderTarget(name) == cell.Target })
		if i < 0 {
			continue
		}
		ran++
		on, err := target.Open(t.Context(), installed[i], target.Options{Clean: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range findings.Replay(t.Context(), on, "docs/cases.md", c, on.Levels()) {
			if r.Level != cell.Level || r.Verdictline() != cell.Verdict {
				t.Errorf("%s at %s: %s, documented: %s", r.Target, r.Level, r.Verdictline(), cell.Verdict)
			}
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
	if ran == 0 {
		t.Skip("neither the embedded TiDB nor mariadb:11.8 is here")
	}
}

// Each statement that the documentation calls judged is, in full; each that it
// calls unknown is that.
func TestDocumentedStatements(t *testing.T) {
	targettest.Any(t)
	for _, name := range target.Installed(t.Context()) {
		if strings.Contains(name, ",") || strings.HasPrefix(name, "postgres") { // whose SQL it is not
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on, err := target.Open(t.Context(), name, target.Options{Clean: true})
			if err != nil {
				t.Fatal(err)
			}
			checkDocumented(t, on)
			if err := on.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func checkDocumented(t *testing.T, on *target.Target) {
	for name, want := range map[string]oracle.Outcome{"judged": oracle.OK, "computed": oracle.OK, "unknown": oracle.Unknown} {
		init, statements, ok := strings.Cut(docBlocks(t)[name], "\n\n")
		if !ok {
			t.Fatalf("no block of %s statements", name)
		}
		for _, sql := range strings.Split(strings.TrimSpace(statements), "\n") {
			c := targettest.Case(t, init+"\n/* tx1 */ BEGIN;\n/* tx1 */ "+sql+"\n/* tx1 */ ROLLBACK;\n")
			r := findings.Replay(t.Context(), on, "docs/cases.md", c, []corpus.Level{corpus.ReadCommitted})[0]
			v := &r.Trial.Verdict
			if v.Outcome == oracle.OK {
				counted := oracle.CheckAndCount(r.Trial.Case, r.Trial.History)
				v = &counted
			}
			failed := r.Trial.History != nil && r.Trial.History.Stmts[1].Result.Err != nil && !(on.Server().DBMS == history.TiDB && strings.Contains(sql, "LOCK IN SHARE MODE"))
			switch {
			case (v.Asked > 0) != (name == "computed"):
				t.Errorf("%s: %d answers of the server: %s: %s %s, expected %s", sql, v.Asked, v.Outcome, v.Reason, v.Actual, v.Expected)
			case v.Outcome != want || r.NotRun():
				t.Errorf("%s: %s: %s %s, expected %s", sql, v.Outcome, v.Reason, v.Actual, v.Expected)
			case want == oracle.OK && (v.Statements == 0 || v.Judged != v.Statements || failed):
				t.Errorf("%s: %d of %d statements judged, %v", sql, v.Judged, v.Statements, r.Trial.History.Stmts[1].Result.Err)
			case want == oracle.Unknown && !strings.HasPrefix(v.Actual, "the oracle does not know"):
				t.Errorf("%s: %s", sql, v.Actual)
			}
		}
	}
}
