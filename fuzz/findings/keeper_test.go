package findings

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// fakeServer has a bug that shows whenever a case holds an UPDATE.
type fakeServer struct {
	mu   sync.Mutex
	runs int
	// shows says whether the n-th run shows the bug, from 0; nil: each does.
	shows func(n int) bool
	// during is called in each run.
	during func()
	v      oracle.Verdict
}

func (f *fakeServer) judge(_ context.Context, c *corpus.Case, levels map[int]corpus.Level) target.Trial {
	f.mu.Lock()
	n := f.runs
	f.runs++
	f.mu.Unlock()
	if f.during != nil {
		f.during()
	}
	r := target.Trial{Case: c, Levels: levels, History: &history.History{Levels: levels}, Verdict: oracle.Verdict{Outcome: oracle.OK, Stmt: -1}}
	for i, l := range c.Steps {
		r.History.Stmts = append(r.History.Stmts, history.Stmt{Line: i, Session: l.Session})
	}
	if strings.Contains(string(corpus.Print(c, corpus.Text)), "UPDATE") && (f.shows == nil || f.shows(n)) {
		r.Verdict = f.v
	}
	return r
}

var dirtyRead = oracle.Verdict{
	Outcome: oracle.Violation, Kind: "dirty-read", Stmt: 0, Expected: "(1) (2) (3)", Actual: "(4) (2) (3)",
	Reason: "a reason", Fingerprint: "dirty-read/RC/SELECT/",
}

func newFakeKeeper(t *testing.T, f *fakeServer) *Keeper {
	t.Helper()
	store, err := OpenStore(filepath.Join(t.TempDir(), "found"))
	if err != nil {
		t.Fatal(err)
	}
	if f.v.Outcome == "" {
		f.v = dirtyRead
	}
	return &Keeper{
		At:    Place{Target: "fake", Server: history.Server{DBMS: history.TiDB, Version: "1.0", Settings: map[string]string{"b": "2", "a": "1"}}},
		Judge: f.judge, Store: store, ReduceFor: time.Minute, begun: time.Now(),
		Logf: func(string, ...any) {}, byID: map[string]*Finding{},
	}
}

func trialOf(t *testing.T, f *fakeServer) *target.Trial {
	t.Helper()
	c := targettest.Case(t, targettest.DirtyRead)
	r := f.judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
	r.Verdict = f.v
	f.runs = 0
	return &r
}

func TestKeeperSavesConfirmsReduces(t *testing.T) {
	f := &fakeServer{}
	k := newFakeKeeper(t, f)
	r := trialOf(t, f)
	f.during = func() {
		// Whatever kills the process from here on, the case is on the disk.
		if files, _ := filepath.Glob(filepath.Join(k.Store.dir, "*.sql")); len(files) != 1 {
			t.Errorf("a run while %v are saved", files)
		}
	}
	found, first, err := k.Consider(t.Context(), r, Origin{Input: "seed 7", FirstSeen: "2027-01-31T00:00:00Z"})
	if err != nil || !first {
		t.Fatalf("first %t, error %v", first, err)
	}
	if found.Reproduced != reruns || found.Statements != 1 || !found.Saved {
		t.Errorf("%+v", *found)
	}
	c, err := corpus.Load(found.File)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"source": "txnfuzz", "target": "fake", "server_version": "1.0", "settings": "a=1; b=2", "level": "READ COMMITTED",
		"kind": "dirty-read", "expected": "(1) (2) (3)", "actual": "(4) (2) (3)", "fingerprint": dirtyRead.Fingerprint,
		"reproduced": "10/10", "input": "seed 7", "first_seen": "2027-01-31T00:00:00Z", "verdict (fake, RC)": "violation dirty-read",
	} {
		if got, _ := c.Get(key); got != want {
			t.Errorf("header %s: %q, want %q", key, got, want)
		}
	}
	if rec, ok, err := readRecording(found.File, c); err != nil || !ok || rec.Verdict.Kind != "dirty-read" {
		t.Errorf("recording: %t %v %+v", ok, err, rec.Verdict)
	}

	// The same cause once more is counted, and nothing is run for it.
	runs := f.runs
	if again, first, err := k.Consider(t.Context(), r, Origin{}); err != nil || first || again.Seen != 2 || f.runs != runs {
		t.Errorf("second time: first %t, error %v, seen %d, %d runs more", first, err, again.Seen, f.runs-runs)
	}
}

func TestKeeperTellsOfACutReduction(t *testing.T) {
	f := &fakeServer{}
	k := newFakeKeeper(t, f)
	k.ReduceFor = time.Nanosecond
	found, _, err := k.Consider(t.Context(), trialOf(t, f), Origin{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Load(found.File)
	if err != nil {
		t.Fatal(err)
	}
	command, _ := c.Get(keyReduce)
	if !found.CutShort || !strings.HasPrefix(command, "txnfuzz reduce '"+found.File+"'") || len(c.Steps) != 7 {
		t.Errorf("cut short %t, command %q, %d steps", found.CutShort, command, len(c.Steps))
	}
	if again := FromFile(found.ID, corpus.Stored{Path: found.File, Case: c}); !again.CutShort {
		t.Error("not read off the file again")
	}
	// With more time a later campaign gets to the end of it.
	if k.Store, err = OpenStore(k.Store.dir); err != nil {
		t.Fatal(err)
	}
	k.byID, k.order, k.ReduceFor = map[string]*Finding{}, nil, time.Minute
	if found, _, err = k.Consider(t.Context(), trialOf(t, f), Origin{}); err != nil || found.CutShort || found.Statements != 1 {
		t.Errorf("%+v, error %v", found, err)
	}
	if c, err = corpus.Load(found.File); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(keyReduce); ok {
		t.Error("the header still asks for a reduction")
	}
}

func TestKeeperSetsAsideWhatNeverShowsAgain(t *testing.T) {
	f := &fakeServer{shows: func(int) bool { return false }}
	k := newFakeKeeper(t, f)
	found, _, err := k.Consider(t.Context(), trialOf(t, f), Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Reproduced != 0 || filepath.Base(filepath.Dir(found.File)) != unreproduced {
		t.Errorf("%+v", *found)
	}
	c, err := corpus.Load(found.File)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get("reproduced"); got != "0/10" || len(c.Steps) != 7 {
		t.Errorf("reproduced %s, %d steps", got, len(c.Steps))
	}
	if left, _ := filepath.Glob(filepath.Join(k.Store.dir, "*.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestKeeperTellsHowSurely(t *testing.T) {
	f := &fakeServer{shows: func(n int) bool { return n%2 == 0 }}
	k := newFakeKeeper(t, f)
	k.ReduceFor = 0
	found, _, err := k.Consider(t.Context(), trialOf(t, f), Origin{})
	if err != nil || found.Reproduced != 5 {
		t.Errorf("%+v, error %v", found, err)
	}
}

func TestKeeperKeepsTheSmallest(t *testing.T) {
	f := &fakeServer{}
	dir := ""
	for i, text := range []string{targettest.DirtyRead, targettest.DirtyRead} {
		k := newFakeKeeper(t, f)
		if i == 0 {
			dir = k.Store.dir
			k.ReduceFor = time.Minute // leaves one statement
		} else {
			var err error
			if k.Store, err = OpenStore(dir); err != nil {
				t.Fatal(err)
			}
			k.ReduceFor = 0 // would leave seven
		}
		c := targettest.Case(t, text)
		r := f.judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
		found, _, err := k.Consider(t.Context(), &r, Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if saved, err := corpus.Load(found.File); err != nil || len(saved.Steps) != 1 || found.Saved != (i == 0) {
			t.Errorf("campaign %d: error %v, %+v", i, err, *found)
		}
		if k.Store.Has(found.ID) != (i == 1) {
			t.Errorf("campaign %d: Has(%s) is %t", i, found.ID, i == 0)
		}
	}
}

func TestKeeperPassesOver(t *testing.T) {
	known := oracle.Verdict{Outcome: oracle.Known, Kind: "dirty-read", Rules: []string{"quirk"}, Fingerprint: "known/quirk/RC"}
	for _, c := range []struct {
		name   string
		v      oracle.Verdict
		strict bool
		kept   bool
	}{
		{"ok", oracle.Verdict{Outcome: oracle.OK}, true, false},
		{"unknown", oracle.Verdict{Outcome: oracle.Unknown, Reason: "loss"}, true, false},
		{"known", known, false, false},
		{"known, strict", known, true, true},
		{"violation", dirtyRead, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeServer{v: c.v}
			k := newFakeKeeper(t, f)
			k.Strict = c.strict
			found, _, err := k.Consider(t.Context(), trialOf(t, f), Origin{})
			if err != nil || (found != nil) != c.kept {
				t.Errorf("kept %v, error %v", found, err)
			}
			if files, _ := filepath.Glob(filepath.Join(k.Store.dir, "*.sql")); (len(files) == 1) != c.kept {
				t.Errorf("files: %v", files)
			}
		})
	}
}

// While a crash is looked into, which kills the server again and again, no
// other case may run.
func TestKeeperRunsCrashesAlone(t *testing.T) {
	f := &fakeServer{v: target.CrashVerdict("panic: runtime error: index out of range [3] with length 2\n\ngoroutine 1 [running]:\ngithub.com/pingcap/tidb/pkg/executor.next(0x1)\n")}
	k := newFakeKeeper(t, f)
	k.ReduceFor = 0
	r := trialOf(t, f)
	r.Log = "the whole log\n"
	f.during = func() {
		if k.quiet.TryRLock() {
			k.quiet.RUnlock()
			t.Error("another case could run beside a crash")
		}
	}
	found, _, err := k.Consider(t.Context(), r, Origin{})
	if err != nil || found.Kind != oracle.ServerCrash || found.Reproduced != reruns {
		t.Errorf("%+v, error %v", found, err)
	}
	text, err := os.ReadFile(LogFile(found.File))
	if err != nil || !strings.Contains(string(text), "the whole log") {
		t.Errorf("log %q, error %v", text, err)
	}
}

func TestBaselineCoversUntilItExpires(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline")
	text := "# confirmed\n" + dirtyRead.Fingerprint + " | waits for a rule | https://example.org/1 | 2999-01-01\n" +
		"old/RC// | fixed | https://example.org/2 | 2001-01-01\nnever/RC// | not seen | https://example.org/3 | 2999-01-01\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := LoadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeServer{}
	k := newFakeKeeper(t, f)
	k.Baseline = b
	if found, _, err := k.Consider(t.Context(), trialOf(t, f), Origin{}); found != nil || err != nil {
		t.Errorf("kept %+v, error %v", found, err)
	}
	if b.covers("old/RC//") {
		t.Error("an expired entry covers")
	}
	r := b.Report()
	if r.Covered[dirtyRead.Fingerprint] != 1 || len(r.Expired) != 1 || len(r.Unmatched) != 1 || r.Unmatched[0] != "never/RC//" {
		t.Errorf("%+v", *r)
	}
}
