//go:build linux

package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestKilledServers runs a campaign whose server is killed again and again.
// Every kill must be noticed, and taken for nothing but the death of a server;
// what was found before must stay; no process, socket or file may be left.
// TXNFUZZ_KILL_FOR gives a length other than 20 s; kills come every 5 s, from a
// minute on every 15.
func TestKilledServers(t *testing.T) {
	for _, target := range targettest.Among(t, "mariadb:10.11") {
		t.Run(target, func(t *testing.T) { killAgainAndAgain(t, target) })
	}
}

func killAgainAndAgain(t *testing.T, name string) {
	length, every := 20*time.Second, 5*time.Second
	if s := os.Getenv("TXNFUZZ_KILL_FOR"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatalf("TXNFUZZ_KILL_FOR: %v", err)
		}
		if length >= time.Minute {
			every = 15 * time.Second
		}
	}
	out := filepath.Join(t.TempDir(), "found")
	k := &killer{seen: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var killing sync.WaitGroup
	killing.Go(func() {
		defer cancel()
		for begun := time.Now(); time.Since(begun) < length; {
			before := files(t, out)
			// Not always in the same part of a case.
			pause(ctx, every+time.Duration(rand.IntN(1000))*time.Millisecond)
			if ctx.Err() != nil {
				return
			}
			k.kill(t)
			k.keptBefore = append(k.keptBefore, before...)
		}
		// The campaign may go on until it has noticed the last.
		pause(ctx, 5*time.Second)
	})
	var progress strings.Builder
	r, err := RunHere(ctx, Settings{
		Target: name, Conflict: mutate.Mix, Seed: 5, Workers: 2, Out: out, Strict: true,
		Reduce: 5 * time.Second, Progress: &progress, Every: time.Second,
	})
	cancel()
	killing.Wait()
	if err != nil {
		t.Fatalf("campaign: %v\n%s", err, progress.String())
	}
	t.Logf("%d cases, %d kills, %d restarts, %d findings, verdicts %v, unknown %v", r.Cases, k.kills, r.Restarts, len(r.Findings), r.Verdicts, r.Unknown)
	if k.kills < 2 {
		t.Fatalf("%d kills only", k.kills)
	}
	if r.Restarts != k.kills {
		t.Errorf("%d kills, %d noticed\n%s", k.kills, r.Restarts, progress.String())
	}
	deaths := 0
	for _, f := range r.Findings {
		switch {
		case f.Kind == oracle.ServerCrash:
			deaths++
			if f.Reproduced > 1 { // one kill may have hit the tenOfTen
				t.Errorf("%s: no case kills this server, but this one did so %d times of ten", f.ID, f.Reproduced)
			}
		case f.Verdict == oracle.Violation && f.Reproduced > 0:
			// Its tenOfTen were not killed.
			t.Logf("found besides, %d/%d: %s: %s", f.Reproduced, tenOfTen, f.ID, f.File)
		case f.Verdict == oracle.Violation:
			text, err := os.ReadFile(f.File)
			t.Errorf("found besides: %s, reproduced %d/%d: %v\n%s", f.ID, f.Reproduced, tenOfTen, err, text)
		}
		if _, err := os.Stat(f.File); err != nil {
			t.Errorf("finding %s: %v", f.ID, err)
		}
	}
	if deaths == 0 {
		t.Error("no finding tells of the deaths")
	}
	for _, name := range k.keptBefore {
		if _, err := os.Stat(filepath.Join(out, name)); err == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(out, "unreproduced", name)); err != nil {
			t.Errorf("%s was there before a kill and is lost", name)
		}
	}
	k.nothingLeft(t)
}

// killer kills the servers of this process and remembers them.
type killer struct {
	kills      int // rounds; each kills the server of the campaign and what serves its findings
	keptBefore []string
	pids       []int
	seen       map[string]bool // folders of servers
}

func (k *killer) kill(t *testing.T) {
	k.kills++
	for _, pid := range descendants(os.Getpid()) {
		command := commandOf(pid)
		data := slices.IndexFunc(command, func(a string) bool { return strings.HasPrefix(a, "--datadir=") })
		if data < 0 || strings.HasSuffix(command[0], "sh") {
			continue
		}
		folder := filepath.Dir(strings.TrimPrefix(command[data], "--datadir="))
		if k.seen[folder] {
			continue // killed before, still a zombie
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("kill server %d: %v", pid, err)
			continue
		}
		k.pids, k.seen[folder] = append(k.pids, pid), true
	}
}

// TestComplaintsOfALivingServer: a failed assertion in the error log of a server
// that goes on is a finding, with the log beside it, and the server is replaced.
func TestComplaintsOfALivingServer(t *testing.T) {
	for _, target := range targettest.Among(t, "mariadb:10.11", "mysql:9.7") {
		t.Run(target, func(t *testing.T) { complain(t, target) })
	}
}

func complain(t *testing.T, name string) {
	ctx := t.Context()
	at, err := target.Open(ctx, name, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	c := targettest.Case(t, targettest.DirtyRead)
	levels := target.LevelsFor(c, corpus.ReadCommitted)
	if r := at.Judge(ctx, c, levels); r.Verdict.Outcome != oracle.OK {
		t.Fatalf("before: %+v %v", r.Verdict, r.Err)
	}
	const line = "2026-01-01  0:00:00 5 [ERROR] InnoDB: Assertion failure in file row0sel.cc line 42"
	logs := 0
	for _, pid := range descendants(os.Getpid()) {
		for _, a := range commandOf(pid)[1:] {
			path, ok := strings.CutPrefix(a, "--log-error=")
			if !ok || strings.HasSuffix(commandOf(pid)[0], "sh") {
				continue
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(line + "\n"); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			logs++
		}
	}
	if logs != 1 {
		t.Fatalf("%d servers, want one", logs)
	}
	r := at.Judge(ctx, c, levels)
	if r.Verdict.Outcome != oracle.Violation || r.Verdict.Kind != oracle.ServerLog || r.Verdict.Actual != target.OneLine(line) || r.Dead != nil {
		t.Fatalf("with the line in the log: %+v, dead: %v", r.Verdict, r.Dead)
	}
	if n := at.Restarts(); n != 1 {
		t.Errorf("replaced %d times, want once", n)
	}
	store, err := findings.OpenStore(filepath.Join(t.TempDir(), "found"))
	if err != nil {
		t.Fatal(err)
	}
	f, first, err := findings.NewKeeper(at, store).Consider(ctx, &r, findings.Origin{Input: "by hand"})
	if err != nil || !first || f.Kind != oracle.ServerLog || f.Reproduced != 0 {
		t.Fatalf("kept as %+v, %v, %v", f, first, err)
	}
	log, err := os.ReadFile(findings.LogFile(f.File))
	if err != nil || !strings.Contains(string(log), line) {
		t.Errorf("beside the finding: %v\n%s", err, log)
	}
	if r := at.Judge(ctx, c, levels); r.Verdict.Outcome != oracle.OK {
		t.Errorf("on the new server: %+v %v", r.Verdict, r.Err)
	}
}

func (k *killer) nothingLeft(t *testing.T) {
	for _, pid := range descendants(os.Getpid()) {
		for _, a := range commandOf(pid) {
			if strings.HasPrefix(a, "--datadir=") {
				t.Errorf("process %d is left: %v", pid, commandOf(pid))
			}
		}
	}
	for folder := range k.seen {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("folder %s is left: %v", folder, err)
		}
	}
}

// descendants returns the processes that came of one, by their parents.
func descendants(of int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything; the parent is the second
		// field behind it.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var out []int
	for next := children[of]; len(next) > 0; next = next[1:] {
		out = append(out, next[0])
		next = append(next, children[next[0]]...)
	}
	return out
}

func commandOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// files lists the findings of a folder.
func files(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sql") {
			out = append(out, e.Name())
		}
	}
	return out
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
