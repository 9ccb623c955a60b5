package telling

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestStaleCaseIsNoPass runs cases that would be ok: their only answers are
// that they do not fit their tables.
func TestStaleCaseIsNoPass(t *testing.T) {
	const setUp = "/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1);\n"
	on := targettest.Any(t)
	for _, x := range []struct{ steps, stale string }{
		{"/* tx1 */ SELECT * FROM u;", "step 1, tx1: SELECT * FROM u: error 1146"},
		{"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET b = 2;\n/* tx1 */ COMMIT;", "step 2, tx1: UPDATE t SET b = 2: error 1054"},
		{"/* tx1 */ INSERT INTO t VALUES (1, 2);", "step 1, tx1: INSERT INTO t VALUES (1, 2): error 1136"},
		{"/* tx1 */ SELECT * FROM t;", ""},
		{"/* tx1 */ DROP TABLE t;\n/* tx1 */ SELECT * FROM t;", ""},
	} {
		c, err := corpus.Parse("stale", []byte("-- level: RC\n"+setUp+x.steps+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		r := findings.Replay(t.Context(), on, "stale.sql", c, on.Levels())[0]
		if stale := r.Reason == target.ReasonStale; stale != (x.stale != "") || stale != r.NotRun() || !strings.HasPrefix(r.Actual, x.stale) {
			t.Errorf("%s: %s %s %s", x.steps, r.Verdict, r.Reason, r.Actual)
		} else if stale && (r.Verdict != oracle.Unknown || outcomeText(&r) != "stale") {
			t.Errorf("%s: %s, shown as %s", x.steps, r.Verdict, outcomeText(&r))
		}
	}
}
