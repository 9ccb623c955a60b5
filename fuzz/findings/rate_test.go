package findings

import (
	"encoding/json"
	"math"
	"testing"
)

func TestRunsToMiss(t *testing.T) {
	for r := Rate(1); r < reruns; r++ {
		miss := 1 - float64(r)/reruns
		n := r.runsToMiss()
		if math.Pow(miss, float64(n)) >= 0.01 || math.Pow(miss, float64(n-1)) < 0.01 {
			t.Errorf("%s: %d runs", r, n)
		}
	}
	for r, want := range map[Rate]int{Unconfirmed: 1, 0: 1, reruns: 2} {
		if n := r.runsToMiss(); n != want {
			t.Errorf("%s: %d runs, want %d", r, n, want)
		}
	}
}

func TestRateInJSON(t *testing.T) {
	for r, want := range map[Rate]string{Unconfirmed: "null", 0: "0", 7: "7"} {
		text, err := json.Marshal(r)
		if err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", r, text, err)
		}
		var back Rate
		if err := json.Unmarshal(text, &back); err != nil || back != r {
			t.Errorf("%s: read back %d, %v", text, int(back), err)
		}
	}
}
