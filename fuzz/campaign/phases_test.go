package campaign

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// TestPhases: what two parts of a campaign took adds up, the shares sum to one, and
// the JSON of a report survives being read by the process that started it.
func TestPhases(t *testing.T) {
	var b beside
	b.input.Store(int64(2 * time.Millisecond))
	b.judge.Store(int64(10 * time.Millisecond))
	var spent harness.Phases
	spent[harness.Make], spent[harness.Run] = 20*time.Millisecond, 8*time.Millisecond
	first := &Report{Runs: 4, Phases: b.times(spent, 4)}
	second := &Report{Runs: 6, Phases: b.times(spent, 6)}
	text, err := json.Marshal(second)
	if err != nil {
		t.Fatal(err)
	}
	second = new(Report)
	if err := json.Unmarshal(text, second); err != nil {
		t.Fatal(err)
	}
	both := merged(first, second)
	shares := 0.0
	for _, p := range both.Phases {
		shares += p.Share
		if p.Phase == "make" && math.Abs(p.MeanMicros-4000) > 1e-6 {
			t.Errorf("ten runs took %.3f µs for making each, want 4000", p.MeanMicros)
		}
	}
	if both.Runs != 10 || math.Abs(shares-1) > 1e-9 || len(both.Phases) != int(harness.NumPhases)+2 {
		t.Errorf("%d runs, %d phases, shares of %.3f together", both.Runs, len(both.Phases), shares)
	}
}
