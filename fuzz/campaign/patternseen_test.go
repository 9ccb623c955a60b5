package campaign

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// hermitageRun reads a run of one of Hermitage's tests on MySQL, such as "g1a RU".
func hermitageRun(t *testing.T, note string) (*target.Trial, corpus.Level) {
	t.Helper()
	records, err := oracle.LoadRecords("../../oracle/testdata/hermitage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if r := &records[i]; r.Note == note {
			c := targettest.Case(t, r.Case)
			return &target.Trial{Case: c, Levels: r.History.Levels, History: r.History, Verdict: r.Verdict}, r.History.Levels[1]
		}
	}
	t.Fatalf("no run %q", note)
	return nil, 0
}

func weavingOf(t *testing.T, name string, lines ...int) *mutate.Weaving {
	t.Helper()
	n, ok := catalog().at[name]
	if !ok {
		t.Fatalf("no pattern %q", name)
	}
	return &mutate.Weaving{Pattern: catalog().all[n], Lines: lines}
}

// TestShowsPattern holds recorded runs against patterns whose operations are in them.
func TestShowsPattern(t *testing.T) {
	for _, x := range []struct {
		run, pattern string
		lines        []int
		want         bool
	}{
		{"g1a RU", "w1x r2x a1 c2", []int{2, 3, 4, 6}, true},
		{"g1a RC", "w1x r2x a1 c2", []int{2, 3, 4, 6}, false},
		{"g1a RR", "w1x r2x a1 c2", []int{2, 3, 4, 6}, false},
		{"g1a RU", "w1x r2x a1 r2x c2", []int{2, 3, 4, 5, 6}, true},
		// What the pattern commits was rolled back, and the other way round.
		{"g1a RU", "w1x r2x c1 c2", []int{2, 3, 4, 6}, false},
		{"g1c RU", "w1x r2x a1 c2", []int{2, 5, 6, 7}, false},
		{"g1c RU", "w1x r2x c1 c2", []int{2, 5, 6, 7}, true},
		// The version that was read has been replaced by the same transaction.
		{"g1b RU", "w1x r2x w1x c1 c2", []int{2, 3, 4, 5, 7}, true},
		{"g1b RC", "w1x r2x w1x c1 c2", []int{2, 3, 4, 5, 7}, false},
		{"g1c RU", "w1x w2y r1y r2x c1 c2", []int{2, 3, 4, 5, 6, 7}, true},
		{"g1c RC", "w1x w2y r1y r2x c1 c2", []int{2, 3, 4, 5, 6, 7}, false},
		{"gsingle RC", "r1x w2x w2y c2 r1y c1", []int{2, 5, 6, 7, 8, 9}, true},
		{"gsingle RR", "r1x w2x w2y c2 r1y c1", []int{2, 5, 6, 7, 8, 9}, false},
		// An edge whose statement is another of the same transaction.
		{"gsingle RC", "r1x w2x w2y c2 r1y c1", []int{2, 4, 6, 7, 8, 9}, false},
		{"pmp RC", "r1p i2p c2 r1p c1", []int{2, 3, 4, 5, 6}, true},
		{"pmp RR", "r1p i2p c2 r1p c1", []int{2, 3, 4, 5, 6}, false},
		{"g2item RR", "r1x r2y w1y w2x c1 c2", []int{2, 3, 4, 5, 6, 7}, true},
		{"g2item SER", "r1x r2y w1y w2x c1 c2", []int{2, 3, 4, 5, 6, 7}, false},
		{"g2 RR", "r1p r2p i1p i2p c1 c2", []int{2, 3, 4, 5, 6, 7}, true},
		// The second write waits until the first is committed: its edge is there, but it
		// is that of a pattern in which the commit comes before it.
		{"g0 RC", "w1x w2x c1 c2", []int{2, 3, 5, 8}, false},
		// The second write leaves the row as the first made it.
		{"p4 RC", "r1x r2x w1x c1 w2x c2", []int{2, 3, 4, 6, 5, 7}, false},
	} {
		r, level := hermitageRun(t, x.run)
		w := weavingOf(t, x.pattern, x.lines...)
		if got := showsPattern(r, w, level); got != x.want {
			t.Errorf("%s shows %s: %t", x.run, x.pattern, got)
		}
		if !x.want {
			continue
		}
		for _, l := range corpus.Levels {
			if l != level && showsPattern(r, w, l) {
				t.Errorf("%s shows %s at %s", x.run, x.pattern, l.Short())
			}
		}
		for _, o := range []oracle.Outcome{oracle.Unknown, oracle.Violation} {
			judged := *r
			judged.Verdict.Outcome = o
			if showsPattern(&judged, w, level) {
				t.Errorf("%s shows %s with the verdict %s", x.run, x.pattern, o)
			}
		}
		failed := *r
		h := *r.History
		failed.History, h.Stmts = &h, h.Stmts[:len(h.Stmts)-1] // its last operation is missing
		if x.lines[len(x.lines)-1] == len(r.History.Stmts)-1 && showsPattern(&failed, w, level) {
			t.Errorf("%s shows %s without its end", x.run, x.pattern)
		}
	}
}
