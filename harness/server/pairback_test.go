package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// opened is a pair that can be broken, and how its servers are asked.
type opened struct {
	harness.Breakable
	// exec runs a statement on a server, value returns the one value that a query of it has.
	exec  func(ctx context.Context, node int, sql string) error
	value func(node int, sql string) (string, error)
	apart bool
}

// openBreakable starts a pair, and skips the test where its server is not installed.
func openBreakable(t *testing.T, target string) *opened {
	t.Helper()
	s, err := parseSpec(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := find(t.Context(), s); errors.Is(err, os.ErrNotExist) && !required {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	o := harness.Options{Dir: shortDir(t), Durable: true, Partition: true}
	b, err := harness.Open(t.Context(), target, o)
	var no *harness.NoNetworkError
	if errors.As(err, &no) {
		t.Logf("not cut off: %v", no)
		o.Partition = false
		b, err = harness.Open(t.Context(), target, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(o.Dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	p := &opened{Breakable: b.(harness.Breakable), apart: o.Partition}
	switch b := b.(type) {
	case *pair:
		p.ofSides(b)
	case *standbyPair:
		p.ofSessions(b)
	}
	return p
}

func (p *opened) ofSides(b *pair) {
	p.exec = func(ctx context.Context, node int, sql string) error {
		s := &side{to: b.both()[node]}
		defer s.Close()
		return s.exec(ctx, sql)
	}
	p.value = func(node int, sql string) (string, error) {
		s := &side{to: b.both()[node]}
		defer s.Close()
		rows, err := s.query(context.Background(), sql)
		if err != nil {
			return "", err
		}
		return string(rows[0][0]), nil
	}
}

func (p *opened) ofSessions(b *standbyPair) {
	run := func(ctx context.Context, node int, sql string) ([][]history.Cell, error) {
		var s *pgsession.Session
		s, err := b.both()[node].connect(ctx)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		defer context.AfterFunc(ctx, s.Cut)()
		return s.Query(sql)
	}
	p.exec = func(ctx context.Context, node int, sql string) error {
		_, err := run(ctx, node, sql)
		return err
	}
	p.value = func(node int, sql string) (string, error) {
		rows, err := run(context.Background(), node, sql)
		if err != nil {
			return "", err
		}
		return rows[0][0].Text, nil
	}
}

// TestPairBreaks: a primary and its replica go on by themselves when either was killed, stopped or cut off, with what
// the other one did meanwhile.
func TestPairBreaks(t *testing.T) {
	targets := []string{"mariadb:11.8,replica=row", "postgres:18,standby=1"}
	if *everyBreak {
		targets = append(targets, "mysql:9.7,replica=row,workers=4", "mariadb:10.5,replica=row",
			"postgres:12,standby=1")
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			breakPair(t, openBreakable(t, target))
		})
	}
}

func breakPair(t *testing.T, p *opened) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const primary, replica = 0, 1
	for _, sql := range []string{"CREATE SCHEMA txnfuzz_p", "CREATE TABLE txnfuzz_p.t (a INT PRIMARY KEY)"} {
		if err := p.exec(ctx, primary, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	rows := 0
	write := func() {
		t.Helper()
		if err := p.exec(ctx, primary, fmt.Sprintf("INSERT INTO txnfuzz_p.t VALUES (%d)", rows)); err != nil {
			t.Fatal(err)
		}
		rows++
	}
	whole := func(after string) {
		t.Helper()
		if _, err := p.Agree(ctx); err != nil {
			t.Fatalf("%s: %v", after, err)
		}
		for node := range pairNodes {
			if got, err := p.value(node, "SELECT COUNT(*) FROM txnfuzz_p.t"); got != strconv.Itoa(rows) {
				t.Errorf("%s: the %s has %s rows, want %d (%v)", after, pairNames[node], got, rows, err)
			}
		}
	}
	write()
	whole("the start")
	for _, f := range []struct {
		name        string
		node        int
		needs       bool
		begin, lift func(int) error
	}{
		{"kill", replica, true, p.KillNode, func(i int) error { return p.RecoverNode(ctx, i) }},
		{"pause", replica, true, p.PauseNode, p.ResumeNode},
		{"partition", replica, p.apart, p.CutNode, p.HealNode},
		{"kill", primary, true, p.KillNode, func(i int) error { return p.RecoverNode(ctx, i) }},
	} {
		if !f.needs {
			continue
		}
		if err := f.begin(f.node); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if f.node == replica {
			write()
		}
		if f.name == "partition" {
			soon, stop := context.WithTimeout(ctx, time.Second/4)
			if _, err := p.Agree(soon); err == nil {
				t.Error("a replica that is cut off has come to its primary")
			}
			stop()
			if got, err := p.value(replica, "SELECT COUNT(*) FROM txnfuzz_p.t"); got != strconv.Itoa(rows-1) {
				t.Errorf("a replica that is cut off has %s rows, want %d (%v)", got, rows-1, err)
			}
		}
		began := time.Now()
		if err := f.lift(f.node); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		write()
		whole(f.name + " of the " + pairNames[f.node])
		took := time.Since(began).Round(time.Millisecond)
		t.Logf("%s of the %s: whole again %v after its end", f.name, pairNames[f.node], took)
	}
	if lines := p.Breakable.(interface{ LogProblems() []string }).LogProblems(); len(lines) > 0 {
		t.Errorf("the servers complain: %q", lines)
	}
	if again, ok := p.Breakable.(*pair); ok {
		stopPair(t, ctx, p, again)
	}
}

// stopPair has the replica meet a row that it lacks: it stops, and says of what.
func stopPair(t *testing.T, ctx context.Context, p *opened, b *pair) {
	s := sideOf(t, b.replica)
	if b.in.family == history.MariaDB {
		const position = "SELECT engine FROM information_schema.tables WHERE table_name = 'gtid_slave_pos'"
		if engine, err := p.value(1, position); engine != "InnoDB" {
			t.Errorf("the position of the replica is in a table of %q (%v), so that it is not crash safe", engine, err)
		}
	}
	must(t, s, "SET sql_log_bin = 0", "DELETE FROM txnfuzz_p.t WHERE a = 0")
	if err := p.exec(ctx, 0, "UPDATE txnfuzz_p.t SET a = -1 WHERE a = 0"); err != nil {
		t.Fatal(err)
	}
	_, err := p.Agree(ctx)
	var stopped *harness.StoppedError
	if !errors.As(err, &stopped) || stopped.Code != 1032 {
		t.Errorf("a replica without a row: %v, want error 1032", err)
	}
	if err := p.KillNode(1); err != nil {
		t.Fatal(err)
	}
	var lost *harness.RecoveryError
	if _, err := p.Agree(ctx); !errors.As(err, &lost) {
		t.Errorf("a replica that has ended: %v", err)
	}
}

// TestResilientByChoice: what a target says of a replica is not overruled.
func TestResilientByChoice(t *testing.T) {
	d := dialects[history.MariaDB]
	for value, want := range map[string]int{"": len(d.resilient), "OFF": len(d.resilient) - 1} {
		s := spec{options: map[string]string{}}
		if value != "" {
			s.options["relay_log_recovery"] = value
		}
		if got := d.afterKill(s); len(got) != want {
			t.Errorf("relay_log_recovery=%q: %v, want %d arguments", value, got, want)
		}
	}
}

// TestLogOfAStandby: what a standby says that was killed is no sign of corruption, and hides none.
func TestLogOfAStandby(t *testing.T) {
	const usual = "2026-11-30 18:59:32.505 UTC [22429] LOG:  database system was interrupted while in recovery at log " +
		"time 2026-11-30 18:59:20 UTC\n2026-11-30 18:59:32.505 UTC [22429] HINT:  If this has occurred more than once some data " +
		"might be corrupted and you might need to choose an earlier recovery target.\n"
	const bad = "2026-11-30 18:59:33.505 UTC [22429] PANIC:  WAL contains references to invalid pages"
	path := filepath.Join(t.TempDir(), logName)
	if err := os.WriteFile(path, []byte(usual+bad+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := problemsSince(path, 0); len(got) != 1 || got[0] != bad {
		t.Errorf("problems %q", got)
	}
	if got := tail(path); got != bad+"\n" {
		t.Errorf("the log begins with its problem: %q", got)
	}
}
