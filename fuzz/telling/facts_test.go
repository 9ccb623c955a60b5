package telling

import (
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// TestFindingsHaveFacts: what is saved of a finding holds what its server told.
func TestFindingsHaveFacts(t *testing.T) {
	const file = "../../corpus/found/innodb-index-condition-judges-uncommitted-rows.sql"
	asked := 0
	for _, name := range target.Installed(t.Context()) {
		if name != "mariadb:11.8" && name != "mysql:9.7" {
			continue
		}
		asked++
		t.Run(name, func(t *testing.T) {
			on := targettest.Open(t, name, target.Options{})
			store, err := findings.OpenStore(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			k := findings.NewKeeper(on, store)
			k.Strict, k.ReduceFor = true, 0
			c, err := corpus.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
			f, _, err := k.Consider(t.Context(), &r, findings.Origin{})
			if err != nil || f == nil {
				t.Fatalf("no finding of %s: %v (%v)", r.Verdict.Outcome, err, r.Err)
			}
			saved, err := corpus.Load(f.File)
			if err != nil {
				t.Fatal(err)
			}
			run, ok, err := findings.Recorded(f.File, saved)
			if err != nil || !ok {
				t.Fatalf("no record: %v", err)
			}
			if run.History.Facts == nil || len(run.History.Facts.Plans) == 0 || len(run.History.Facts.Holdings) == 0 {
				t.Fatalf("facts: %+v", run.History.Facts)
			}
			var b strings.Builder
			if err := Show(&b, run, ""); err != nil || !strings.Contains(b.String(), "range by k") {
				t.Errorf("shown without its plan: %v\n%s", err, b.String())
			}
		})
	}
	if asked == 0 && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		t.Error("no server was asked")
	}
}
