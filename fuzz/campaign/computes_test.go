package campaign

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/mutate"

	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// A campaign has the server compute what its cases hold of unknown SQL, and so judges
// nearly all of them.
func TestCampaignComputes(t *testing.T) {
	for _, name := range targettest.Among(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.5") {
		r, err := RunHere(t.Context(), Settings{Target: name, Cases: 200, Seed: 1, SQL: WideSQL, Conflict: mutate.Mix, Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if r.Computed < 40 || r.ComputedJudged*10 < r.Computed*9 || len(r.Findings) > 0 {
			t.Errorf("%s: the server computed SQL of %d of %d cases, %d got a verdict; findings: %v", name, r.Computed, r.Cases, r.ComputedJudged, r.Findings)
		}
	}
}
