package campaign

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Each form of statement is in at least one case of a hundred that a campaign
// makes: below that the oracle claims what hardly anybody asks of it.
func TestEveryFormIsMade(t *testing.T) {
	known, err := LoadKnown(fromRoot(findings.KnownDir))
	if err != nil {
		t.Fatal(err)
	}
	n := 4000
	if testing.Short() {
		n = 1500
	}
	for _, server := range []history.Server{{DBMS: history.MySQL, Version: "9.7.0"}, {DBMS: history.TiDB}} {
		var f FormCounts
		for i := range n {
			o := generatorOptions(server, corpus.Levels, mutate.Mix, i)
			for _, c := range mutate.FromInput(mutate.InputOf(inputSeed(1, 0, i), mutate.InputLen), known, o) {
				f.Add(&target.Trial{Case: c})
			}
		}
		for _, form := range StatementForms {
			made := share(f.Forms[form].Generated, f.Cases)
			t.Logf("%s: %-40s %.2f %%", server.DBMS, form, 100*made)
			if server.DBMS == history.TiDB && (form == "SELECT … LOCK IN SHARE MODE NOWAIT" || strings.Contains(form, "SKIP LOCKED")) {
				continue // TiDB refuses the one and ignores the other
			}
			if made < 0.01 {
				t.Errorf("%s: %s in %.2f %% of %d cases, want 1 %%", server.DBMS, form, 100*made, f.Cases)
			}
		}
	}
}
