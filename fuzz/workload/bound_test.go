package workload

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// TestExplainIsBounded: a campaign of so many cases has an end, too, and what there was
// no time for is saved and counted.
func TestExplainIsBounded(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		b, err := harness.Open(t.Context(), target, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		r, err := Run(t.Context(), load(t, "smallbank"), b, Settings{
			Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 150, Explain: time.Nanosecond, Seed: 1, Workers: 1, Tries: 1000, Out: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Pending == 0 || r.Pending != len(r.Findings) {
			t.Fatalf("%d pending of %d findings", r.Pending, len(r.Findings))
		}
		for _, f := range r.Findings {
			if _, err := os.Stat(f.File); err != nil || f.Reduced || f.Mend != nil {
				t.Errorf("%v: %+v", err, f)
			}
		}
		var out bytes.Buffer
		if err := r.WriteText(&out); err != nil || !strings.Contains(out.String(), "findings not explained for want of time") {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}
