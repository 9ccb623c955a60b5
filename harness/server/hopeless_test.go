package server

import (
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// waitsForIdle ends with two sessions that wait for one which is idle in an open
// transaction, one of them behind the other.
const waitsForIdle = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 5 WHERE a = 2;
/* tx2 */ UPDATE t SET b = b + 1 WHERE a = 1;
/* tx3 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ SELECT * FROM t;
/* tx3 */ SELECT * FROM t;
`

// setsItsTimeout says how long it waits: that is not cut short.
const setsItsTimeout = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx2 */ SET SESSION innodb_lock_wait_timeout = 1;
/* tx2 */ UPDATE t SET b = 11 WHERE a = 1;
`

// TestHopelessWaits: what could only time out is interrupted, in the order in which
// the time-outs would come, the verdict is that of a time-out, and the connections
// are as good as before.
func TestHopelessWaits(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		p, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for _, tc := range []struct {
			text        string
			interrupted []int
			code        uint16
			least, most time.Duration
		}{
			{waitsForIdle, []int{5, 6}, 1317, 0, 30 * time.Second},
			{setsItsTimeout, nil, 1205, 900 * time.Millisecond, time.Minute},
			{waitsForIdle, []int{5, 6}, 1317, 0, 30 * time.Second},
		} {
			c, err := corpus.Parse("case", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range harness.LevelsOf(b) {
				begun := time.Now()
				h, err := p.Run(t.Context(), c, harness.At(level))
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(begun)
				var interrupted []int
				for i := range h.Stmts {
					st := &h.Stmts[i]
					if st.Interrupted {
						interrupted = append(interrupted, st.Line)
					}
					if len(st.Waits) > 0 && (st.Result.Err == nil || st.Result.Err.Code != tc.code) {
						t.Errorf("%s, step %d: %v, want error %d", level, st.Line+1, st.Result, tc.code)
					}
				}
				want := tc.interrupted
				if level == corpus.Serializable && want != nil {
					want = []int{5, 6, 7, 8} // its SELECTs lock, too
				}
				if !slices.Equal(interrupted, want) {
					t.Errorf("%s: interrupted steps %v, want %v", level, interrupted, want)
				}
				if took < tc.least || took > tc.most {
					t.Errorf("%s: took %v, want %v to %v", level, took, tc.least, tc.most)
				}
				if v := oracle.Check(c, h); v.Outcome != oracle.OK {
					t.Errorf("%s: %s %s: %s", level, v.Outcome, v.Kind, v.Reason)
				}
				if h.Final == nil {
					t.Errorf("%s: no final state", level)
				}
			}
		}
	})
}
