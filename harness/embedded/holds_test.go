//go:build !notidb

package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/races"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/embedded"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const holdTable = `
/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT, s INT, KEY (s));
/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 2, 2);
`

// twoUpdates give another row for each order of them.
const twoUpdates = `/* tx1 */ UPDATE t SET v = v + 1 WHERE k = 1;
/* tx2 */ UPDATE t SET v = 9 WHERE k = 1;
/* tx2 */ SELECT v FROM t WHERE k = 1;
`

// TestRequests records what statements ask the store for: all of it, timestamps included, and of that statement alone.
func TestRequests(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	for _, x := range []struct {
		level     corpus.Level
		sql, want string // the last statement is recorded
	}{
		{corpus.RepeatableRead, "SELECT v FROM t ORDER BY k", "TSO 1, Cop 1"},
		{corpus.RepeatableRead, "SELECT v FROM t WHERE s = 1", "TSO 1, Cop 1, Cop 2"},
		{corpus.RepeatableRead, "BEGIN", "TSO 1"},
		{corpus.RepeatableRead, "BEGIN; SELECT v FROM t ORDER BY k", "Cop 1"},
		{corpus.ReadCommitted, "BEGIN; SELECT v FROM t ORDER BY k", "TSO 1, Cop 1"},
		{corpus.RepeatableRead, "BEGIN; SELECT v FROM t WHERE k = 1 FOR UPDATE", "PessimisticLock 1"},
		{corpus.RepeatableRead, "BEGIN; UPDATE t SET v = 5 WHERE k = 1; COMMIT", "Prewrite 1, TSO 1, Commit 1"},
		{corpus.RepeatableRead, "UPDATE t SET v = 5 WHERE k = 1", "TSO 1, PessimisticLock 1, Prewrite 1, TSO 2, Commit 1"},
		{corpus.RepeatableRead, "BEGIN; SELECT 1", ""},
	} {
		text := holdTable
		for _, sql := range strings.Split(x.sql, "; ") {
			text += "/* tx1 */ " + sql + ";\n"
		}
		c := parse(t, text+"/* tx2 */ UPDATE t SET v = 6 WHERE k = 2;\n")
		_, trail, err := p.RunTraced(t.Context(), c, harness.At(x.level), len(c.Steps)-2, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var before, behind []string
		for i := range trail.Len() {
			at := trail.At(i)
			one := fmt.Sprintf("%s %d", at.Request, at.Hit)
			if at.Answered {
				behind = append(behind, one)
			} else {
				before = append(before, one)
			}
		}
		if got := strings.Join(before, ", "); got != x.want || strings.Join(behind, ", ") != x.want {
			t.Errorf("%s: %s: sent %s, answered %s, want %s", x.level.Short(), x.sql, got, strings.Join(behind, ", "), x.want)
		}
	}
}

// TestHoldRequests holds requests of a statement before and behind their answer, and goes on once the others have.
func TestHoldRequests(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	for _, x := range []struct {
		name, at, steps, want string
	}{
		{"a snapshot is taken with the timestamp", "tx1 1 at store TSO hit 1 until tx2 1",
			"/* tx1 */ SELECT v FROM t ORDER BY k;\n/* tx2 */ UPDATE t SET v = 9 WHERE k = 1;\n",
			"tx1 {held} -> (9) (2); tx2 -> matched 1 changed 1"},
		{"and not later", "tx1 1 at store TSO+answer hit 1 until tx2 1",
			"/* tx1 */ SELECT v FROM t ORDER BY k;\n/* tx2 */ UPDATE t SET v = 9 WHERE k = 1;\n",
			"tx1 {held} -> (1) (2); tx2 -> matched 1 changed 1"},
		{"a lock is not there before its request", "tx1 1 at store PessimisticLock hit 1 until tx2 1",
			twoUpdates,
			"tx1 {held} -> matched 1 changed 1; tx2 -> matched 1 changed 1; tx2 -> (10)"},
		{"and is behind it", "tx1 1 at store PessimisticLock+answer hit 1 until tx2 1",
			twoUpdates,
			"tx1 {held} -> matched 1 changed 1; tx2 {silence} -> matched 1 changed 1; tx2 -> (9)"},
		{"a reader that meets the lock of a commit sees the row as it was", "tx1 1 at store Commit hit 1 until tx2 1",
			"/* tx1 */ UPDATE t SET v = 7 WHERE k = 1;\n/* tx2 */ SELECT v FROM t WHERE k = 1;\n",
			"tx1 {held} -> matched 1 changed 1; tx2 -> (1)"},
		{"nobody frees it", "tx1 1 at store Cop hit 1",
			"/* tx1 */ SELECT v FROM t ORDER BY k;\n/* tx2 */ UPDATE t SET v = 9 WHERE k = 1;\n",
			"tx1 {held} -> (1) (2); tx2 -> matched 1 changed 1"},
		{"it sends no such request", "tx1 1 at store Prewrite hit 1 until tx2 1",
			"/* tx1 */ SELECT v FROM t ORDER BY k;\n/* tx2 */ UPDATE t SET v = 9 WHERE k = 1;\n",
			"tx1 -> (1) (2); tx2 -> matched 1 changed 1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			h, err := p.Run(t.Context(), parse(t, "-- hold: "+x.at+"\n"+holdTable+x.steps), harness.At(corpus.RepeatableRead))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range h.Stmts {
				s := &h.Stmts[i]
				one := fmt.Sprintf("tx%d", s.Session)
				for _, w := range s.Waits {
					one += fmt.Sprintf(" {%s}", w.Kind)
				}
				got = append(got, one+" ->"+answer(&s.Result))
			}
			if text := strings.Join(got, "; "); text != x.want || h.End != history.Complete {
				t.Errorf("got  %s %s\nwant %s", text, h.End, x.want)
			}
		})
	}
}

// TestHoldRefused tells why a statement cannot be held.
func TestHoldRefused(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	for _, x := range []struct{ at, want string }{
		{"f+0x1 of ab", "f+0x1 is an instruction of a program"},
		{"store Lock", "no requests called Lock to its store, but TSO, Get"},
	} {
		c := parse(t, "-- hold: tx1 1 at "+x.at+" hit 1\n"+holdTable+twoUpdates)
		_, err := p.Run(t.Context(), c, harness.At(corpus.RepeatableRead))
		var unheld *harness.UnheldError
		if !errors.As(err, &unheld) || !strings.Contains(unheld.Reason, x.want) {
			t.Errorf("%s: %v", x.at, err)
		}
	}
}

// TestPlantedRace searches a store that answers a lock request and does not keep the lock: nothing is wrong before
// another session comes between, which it does where the statement is held.
func TestPlantedRace(t *testing.T) {
	c := parse(t, holdTable+`/* tx1 */ UPDATE t SET v = v + 10 WHERE k = 1;
/* tx2 */ UPDATE t SET v = v + 100 WHERE k = 1;
`)
	search := func() *races.Report {
		r, err := races.Run(t.Context(), races.Settings{
			Target: "embedded", Given: []*corpus.Case{c}, Levels: []corpus.Level{corpus.RepeatableRead}, Out: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err, shared.Log())
		}
		return r
	}
	if r := search(); len(r.Findings) > 0 || r.Holds < 10 || r.WrongUnheld > 0 {
		t.Errorf("without the fault: %d holds, %d wrong unheld, %+v", r.Holds, r.WrongUnheld, r.Findings)
	}
	embedded.ForgetsLocks.Store(true)
	defer embedded.ForgetsLocks.Store(false)
	r := search()
	if len(r.Findings) != 1 || r.Findings[0].Kind != "lost-commit" || r.Findings[0].Reproduced < 10 || r.WrongUnheld > 0 {
		t.Fatalf("with the fault: %d holds, %d wrong unheld, %v, %+v", r.Holds, r.WrongUnheld, r.Verdicts, r.Findings)
	}
	stored, err := corpus.Load(r.Findings[0].File)
	if err != nil {
		t.Fatal(err)
	}
	if held, _ := stored.Held(); held < 0 || stored.Steps[held].Hold.Request == "" {
		t.Errorf("the finding holds no request:\n%s", corpus.Print(stored, corpus.Text))
	}
}

// TestCrashWithoutHold leaves a case alone whose server does not survive it without a hold either, and goes on.
func TestCrashWithoutHold(t *testing.T) {
	c, err := corpus.Load("../../corpus/found/tidb-commit-panics-on-failed-update.sql")
	if err != nil {
		t.Fatal(err)
	}
	r, err := races.Run(t.Context(), races.Settings{
		Target: "embedded", Given: []*corpus.Case{c}, Levels: []corpus.Level{corpus.RepeatableRead}, Out: t.TempDir(),
	})
	if err != nil || r.WrongUnheld == 0 || r.WrongUnheld != r.Cases || r.Holds > 0 || len(r.Findings) > 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestCascadeRetried holds an UPDATE of a key that others refer to when it has locked its row and not yet the key's
// entry. A row that refers to the key makes TiDB run the UPDATE again, without having undone what it did before.
// https://github.com/pingcap/tidb/issues/69828
func TestCascadeRetried(t *testing.T) {
	c, err := corpus.Load("../../docs/races/tidb-cascade-retried.sql")
	if err != nil {
		t.Fatal(err)
	}
	h, err := newPool(t, harness.PoolOptions{}).Run(t.Context(), c, harness.At(corpus.ReadCommitted))
	if err != nil {
		t.Fatal(err)
	}
	if e := h.Stmts[0].Result.Err; !h.Held() || e == nil || e.Code != 1062 || h.Stmts[1].Result.Err != nil {
		t.Errorf("%s", format(c, h))
	}
}
