package telling

import (
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := campaign.RunChild(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// skewed is a run of Hermitage's test for read skew, with one answer changed so that it
// shows the skew at a level that forbids it.
func skewed(t *testing.T) *target.Trial {
	t.Helper()
	records, err := oracle.LoadRecords("../../oracle/testdata/hermitage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if records[i].Note != "gsingle RR" {
			continue
		}
		h := records[i].History
		h.Stmts[8].Result.Rows[0][1] = history.Cell{Text: "18"}
		c := parseCase(t, records[i].Case)
		return &target.Trial{Case: c, Levels: h.Levels, History: h, Verdict: oracle.Check(c, h)}
	}
	t.Fatal("no record")
	return nil
}

const skew = "read skew (G-single)"

func parseCase(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anyTarget opens the first target to be had here.
func anyTarget(t *testing.T) *target.Target {
	t.Helper()
	installed := target.Installed(t.Context())
	if len(installed) == 0 {
		t.Skip("nothing to run a case on: this build has no embedded TiDB, and no server is installed")
	}
	return openFor(t, installed[0], target.Options{Clean: true})
}

// openFor opens a target that ends with the test.
func openFor(t *testing.T, name string, o target.Options) *target.Target {
	t.Helper()
	on, err := target.Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	})
	return on
}
