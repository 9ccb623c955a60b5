package targettest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Required says that a test which finds no server fails.
func Required() bool { return os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" }

// Any opens the first target to be had here. Where servers are required there must be one;
// elsewhere a build without TiDB on a machine without servers has nothing to test on.
func Any(t *testing.T) *target.Target {
	t.Helper()
	installed := target.Installed(t.Context())
	switch {
	case len(installed) > 0:
		return Open(t, installed[0], target.Options{Clean: true})
	case Required():
		t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set and no server is installed")
	}
	t.Skip("nothing to run a case on: this build has no embedded TiDB, and no server is installed")
	return nil
}

// Open opens a target that ends with the test.
func Open(t *testing.T, name string, o target.Options) *target.Target {
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

// Among returns those of some servers that can be started here. Where servers are required,
// all must be.
func Among(t *testing.T, wanted ...string) []string {
	t.Helper()
	var out []string
	installed := target.Installed(t.Context())
	for _, w := range wanted {
		if slices.Contains(installed, w) {
			out = append(out, w)
		} else if Required() {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and %s is not installed", w)
		}
	}
	return out
}

// Case parses a case.
func Case(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// DirtyRead is a case that shows a dirty read where the level admits one.
const DirtyRead = `
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

// Skew is what Skewed shows.
const Skew = "read skew (G-single)"

// Skewed is a run of Hermitage's test for read skew, with one answer changed so that it
// shows the skew at a level that forbids it. root is the project's folder, seen from the
// test's.
func Skewed(t *testing.T, root string) *target.Trial {
	t.Helper()
	records, err := oracle.LoadRecords(filepath.Join(root, "oracle/testdata/hermitage.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if records[i].Note != "gsingle RR" {
			continue
		}
		h := records[i].History
		h.Stmts[8].Result.Rows[0][1] = history.Cell{Text: "18"}
		c := Case(t, records[i].Case)
		return &target.Trial{Case: c, Levels: h.Levels, History: h, Verdict: oracle.Check(c, h)}
	}
	t.Fatal("no record")
	return nil
}
