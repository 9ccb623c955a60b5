package fuzz

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// TestExpectedBeforeTheFirstRun holds what the published cases were expected to
// show on the embedded TiDB, written down before any of them ran there, against
// what their headers record now. A cell that came out otherwise must say why: an
// expectation that is quietly dropped would be no check of the oracle.
func TestExpectedBeforeTheFirstRun(t *testing.T) {
	text, err := os.ReadFile("testdata/expected-embedded.txt")
	if err != nil {
		t.Fatal(err)
	}
	levels := []string{"RC", "RR"}
	cells, differing := 0, 0
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fact, why, _ := strings.Cut(line, " -- ")
		columns := strings.Fields(fact)
		if len(columns) != 1+len(levels) {
			t.Errorf("%q: want a case and %d cells", line, len(levels))
			continue
		}
		c, err := corpus.Load(filepath.Join(fromRoot(findings.KnownDir), columns[0]+corpus.Ext))
		if err != nil {
			t.Error(err)
			continue
		}
		differs := false
		for i, level := range levels {
			cells++
			expected, seen, other := strings.Cut(columns[i+1], ">")
			if !other {
				seen = expected
			}
			differs = differs || other
			recorded := findings.RecordedVerdict(c, target.Default, level)
			outcome, rule, _ := strings.Cut(recorded, " ")
			if outcome == "known" {
				outcome += ":" + rule
			}
			if outcome != seen {
				t.Errorf("%s at %s: expected %s, seen %s, and the header now records %q", columns[0], level, expected, seen, recorded)
			}
		}
		if differs != (why != "") {
			t.Errorf("%s: a cell that came out otherwise needs an explanation, and only such a one: %q", columns[0], why)
		}
		if differs {
			differing++
		}
	}
	if cells != 42 {
		t.Errorf("%d cells, want 42", cells)
	}
	t.Logf("%d cells; %d cases came out otherwise", cells, differing)
}
