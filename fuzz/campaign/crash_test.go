package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// crashing is a target that exists in child processes only: it takes the
// process down if the case holds a DELETE, and else plays the child to its end.
const crashing = "crashing"

func init() { harness.Register(crashing, openCrashing, nil) }

var crashServer = history.Server{DBMS: history.TiDB, Version: "crashing-1"}

func openCrashing(context.Context, string, harness.Options) (harness.Backend, error) {
	dir := crashDir
	if dir == "" {
		return nil, fmt.Errorf("%s runs in child processes only", crashing)
	}
	if text, err := os.ReadFile(filepath.Join(dir, childsCase)); err == nil {
		must(target.WriteJSON(filepath.Join(dir, childsServer), crashServer))
		if strings.Contains(string(text), "DELETE") {
			fallOver()
		}
		must(target.WriteJSON(filepath.Join(dir, target.FileResult), childsResult{Verdict: oracle.Verdict{Outcome: oracle.OK, Stmt: -1}}))
		os.Exit(0)
	}
	var s Settings
	must(target.ReadJSON(filepath.Join(dir, target.FileRequest), &s))
	report := &Report{Counts: newCounts(), ServerVersion: crashServer.Version}
	report.Cases, report.Verdicts[oracle.OK] = 7, 7
	died := filepath.Join(s.Out, "died-once")
	if _, err := os.Stat(died); err == nil {
		must(target.WriteJSON(filepath.Join(dir, target.FileResult), campaignResult{Report: report, Done: true}))
		os.Exit(0)
	}
	must(os.WriteFile(died, nil, 0o600))
	must(target.WriteJSON(filepath.Join(dir, target.FileResult), campaignResult{Report: report}))
	leaveInFlight(s, os.Getpid())
	fallOver()
	return nil, nil
}

// fallOver ends the process as a panic in a goroutine of a server does. A real
// panic would have frames of this program and be blamed on it.
func fallOver() {
	fmt.Fprint(os.Stderr, tidbPanic)
	os.Exit(2)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

const deletingCase = `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 4 WHERE a = 1;
/* tx2 */ DELETE FROM t WHERE a = 2;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`

// leaveInFlight leaves the file of a case behind that a process was running.
func leaveInFlight(s Settings, pid int) {
	dir := InFlightDir(s.Out, s.Target)
	must(os.MkdirAll(dir, 0o700))
	must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("inflight-%d-0.sql", pid)), []byte("-- level: READ COMMITTED\n"+deletingCase), 0o600))
}

// crashDir is the folder of a child, noted before RunChild forgets it.
var crashDir = os.Getenv(target.EnvChildDir)

func crashSettings(t *testing.T) Settings {
	t.Helper()
	return Settings{Target: crashing, Out: filepath.Join(t.TempDir(), "found"), Reduce: time.Minute, Cases: 100}
}

func wantCrash(t *testing.T, f findings.Finding) {
	t.Helper()
	if f.Kind != oracle.ServerCrash || f.Reproduced != tenOfTen || f.Statements != 1 || f.Level != "RC" {
		t.Errorf("%+v", f)
	}
	c, err := corpus.Load(f.File)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := c.Get("server_version"); v != crashServer.Version {
		t.Errorf("server version %q", v)
	}
	if text := string(corpus.Print(c, corpus.Text)); !strings.Contains(text, "DELETE FROM") || strings.Contains(text, "UPDATE") {
		t.Errorf("reduced to:\n%s", text)
	}
	if log, err := os.ReadFile(findings.LogFile(f.File)); err != nil || !strings.Contains(string(log), "panic: runtime error: index out of range [3]") {
		t.Errorf("log %q, error %v", log, err)
	}
}

// deadProcess returns the id of a process that is no more.
func deadProcess(t *testing.T) int {
	t.Helper()
	p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	return p.Pid
}

// tenOfTen is the rate of what shows each time.
const tenOfTen = 10

// What this process writes for a child that runs one case.
const (
	childsCase   = "case.sql"
	childsServer = "server.json"
)

type childsResult struct {
	Verdict oracle.Verdict `json:"verdict"`
}

func TestOrphansAreReducedInChildren(t *testing.T) {
	s := crashSettings(t)
	leaveInFlight(s, deadProcess(t))
	found, err := Orphans(t.Context(), s, "")
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, error %v", found, err)
	}
	wantCrash(t, found[0])
	if again, err := Orphans(t.Context(), s, ""); len(again) > 0 || err != nil {
		t.Errorf("the second time: %+v, error %v", again, err)
	}
}

// A bystander of a crash is kept, where it does no harm.
func TestOrphansThatShowNothing(t *testing.T) {
	s := crashSettings(t)
	dir := InFlightDir(s.Out, s.Target)
	must(os.MkdirAll(dir, 0o700))
	pid := deadProcess(t)
	must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("inflight-%d-0.sql", pid)), []byte("-- level: READ COMMITTED\n"+targettest.DirtyRead), 0o600))
	must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("inflight-%d-1.sql", pid)), []byte("/* init */ CREATE TAB"), 0o600))
	found, err := Orphans(t.Context(), s, tidbPanic)
	if err != nil || len(found) != 1 || found[0].Reproduced != 0 {
		t.Fatalf("%+v, error %v", found, err)
	}
	if log, err := os.ReadFile(findings.LogFile(found[0].File)); err != nil || string(log) != tidbPanic {
		t.Errorf("log %q, error %v", log, err)
	}
	kept, err := filepath.Glob(filepath.Join(s.Out, "unreproduced", "*"))
	if err != nil || len(kept) != 4 { // two cases, one of them cut off, and the logs
		t.Errorf("kept %v, error %v", kept, err)
	}
}

func TestCampaignOutlivesItsServer(t *testing.T) {
	v := &supervisor{s: crashSettings(t), begun: time.Now()}
	r, err := v.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Findings)
	}
	wantCrash(t, r.Findings[0])
	// Seven cases of the child that died, the one that killed it, seven more.
	if r.Cases != 15 || r.Verdicts[oracle.OK] != 14 || r.Verdicts[oracle.Violation] != 1 {
		t.Errorf("%d cases, verdicts %v", r.Cases, r.Verdicts)
	}
}
