package findings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := target.RunChild(noCampaign); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func noCampaign(context.Context, string) error {
	return errors.New("no test here runs a campaign in a child")
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

// fromRoot makes a path usable that a setting gives relative to the root of
// the project: a test runs in the folder of its package.
func fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("..", "..", path)
}

const dirtyCase = `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1), (2), (3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 4 WHERE a = 1;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`

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
