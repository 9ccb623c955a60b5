package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDeath(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		if err := b.Alive(t.Context()); err != nil {
			t.Fatalf("just started: %v", err)
		}
		if p := b.LogProblems(); len(p) > 0 {
			t.Fatalf("problems in the log of a sound server: %q", p)
		}
		open := &side{to: b}
		if err := open.exec(t.Context(), "DO 1"); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(b.current.pid, syscall.SIGSEGV); err != nil {
			t.Fatal(err)
		}
		var err error
		if !until(func() bool { err = b.Alive(t.Context()); return err != nil }) {
			t.Fatal("no error of a dead server")
		}
		// MariaDB dies of the signal that it caught, MySQL exits with status 2.
		if !strings.Contains(err.Error(), "died of signal") && !strings.Contains(err.Error(), "got signal 11") {
			t.Errorf("of a dead server: %v", err)
		}
		if err := open.Close(); err != nil {
			t.Errorf("close a connection of a dead server: %v", err)
		}
		log := b.Log()
		if !strings.Contains(log, "got signal 11") && !strings.Contains(log, "got exception") {
			t.Errorf("no fatal signal in the log:\n%s", log)
		}
		if !strings.Contains(strings.ToLower(log), "stack") {
			t.Errorf("no stack trace in the log:\n%s", log)
		}
		if len(b.LogProblems()) == 0 || len(b.LogProblems()) != 0 {
			t.Error("the crash is not among the problems exactly once")
		}
		dead := b.current.folder.path
		began := time.Now()
		if err := b.Restart(t.Context()); err != nil {
			t.Fatalf("restart: %v", err)
		}
		t.Logf("replaced in %v", time.Since(began).Round(time.Millisecond))
		if err := b.Alive(t.Context()); err != nil {
			t.Errorf("of the new instance: %v", err)
		}
		if _, err := os.Stat(dead); err == nil {
			t.Error("the dead instance's folder is still there")
		}
	})
}

func TestHang(t *testing.T) {
	for _, target := range installedTargets(t) {
		b := start(t, target)
		if err := syscall.Kill(b.current.pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := b.Alive(ctx); err == nil {
			t.Errorf("%s: a stopped server counts as alive", target)
		}
		cancel()
		// The cleanup shows that a stopped server can be ended.
	}
}

func TestLogProblemsOfALivingServer(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		s := sideOf(t, b)
		must(t, s, "CREATE DATABASE txnfuzz_test", "CREATE TABLE txnfuzz_test.t (a INT)", "INSERT INTO txnfuzz_test.t VALUES (1)")
		if p := b.LogProblems(); len(p) > 0 {
			t.Fatalf("problems in the log of a sound server: %q", p)
		}
		log, err := os.OpenFile(filepath.Join(b.current.folder.path, logName), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		const line = "2026-01-01  0:00:00 5 [ERROR] InnoDB: Index `b` of table `d`.`t` is corrupted"
		if _, err := log.WriteString("harmless\n" + line + "\nhalf of an Assertion fail"); err != nil {
			t.Fatal(err)
		}
		if p := b.LogProblems(); len(p) != 1 || p[0] != line {
			t.Errorf("got %q, want the line on the index", p)
		}
		if _, err := log.WriteString("ure\n"); err != nil {
			t.Fatal(err)
		}
		if p := b.LogProblems(); len(p) != 1 || p[0] != "half of an Assertion failure" {
			t.Errorf("got %q, want the line that was unfinished before", p)
		}
	})
}

func TestAFailedStartSaysWhy(t *testing.T) {
	for _, target := range installedTargets(t) {
		dir := shortDir(t)
		_, err := openPrivate(t.Context(), target+",no_such_variable=1", options(dir))
		if err == nil || !strings.Contains(err.Error(), "unknown variable 'no") {
			t.Errorf("%s: %v", target, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: a failed start leaves %v", target, left)
		}
	}
}
