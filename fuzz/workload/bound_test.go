package workload

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestExplainIsBounded: a campaign of so many cases has an end, too, and what there was
// no time for is saved and counted.
func TestExplainIsBounded(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
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

// TestNeededExplainTime: what is missing of --explain is estimated from what was explained.
func TestNeededExplainTime(t *testing.T) {
	for _, x := range []struct {
		took       time.Duration
		done, left int
		tries      int
		want       string
	}{
		{30 * time.Second, 2, 4, 0, "4 of 4 findings not explained for want of time and saved as seen: give more with --explain, about 1m30s"},
		{30 * time.Second, 2, 4, 1, "give more with --explain, about 2m"},
		{time.Minute, 1, 36, 1, "give more with --explain, about 50m"},
		{time.Minute, 1, 62, 1, "give more with --explain, about 1h30m"},
		{3 * time.Second, 3, 1, 0, "give more with --explain, about 3s"},
		{30 * time.Second, 0, 4, 1, "give more with --explain, since 40s was too short for the first"},
	} {
		c := unrun(t, load(t, "bank"), 2, 2)
		// A little less, since the clock goes on.
		c.Tries, c.finished, c.explainSince = x.tries, x.done, time.Now().Add(-x.took+time.Second)
		for range x.left {
			c.report.Findings = append(c.report.Findings, &Finding{Class: Isolation, Transactions: []string{"withdraw", "withdraw"}})
		}
		c.finish()
		if got := c.report.PendingText(); !strings.HasSuffix(got, x.want) {
			t.Errorf("%s for %d, %d left: %q, want %q", x.took, x.done, x.left, got, x.want)
		}
	}
}
