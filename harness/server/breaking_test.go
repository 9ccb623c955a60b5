package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

var everyBreak = flag.Bool("every-break", false, "break nodes of all kinds in all ways for so long that the others "+
	"go on without them, which takes two minutes")

// TestBreak: a node that was cut off, killed or stopped comes back by itself with what the others did meanwhile, and
// acknowledges nothing while it is alone. It is the first one, which began the cluster.
func TestBreak(t *testing.T) {
	targets := []string{"galera:11.8"}
	if *everyBreak {
		targets = append(targets, "galera:10.11", "mysql:9.7,group=3,primary=multi", "mysql:9.7,group=3")
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			needsCluster(t, target)
			b, err := harness.Open(t.Context(), target, harness.Options{Dir: shortDir(t), Durable: true, Partition: true})
			var no *harness.NoNetworkError
			if errors.As(err, &no) {
				b, err = harness.Open(t.Context(), target, harness.Options{Dir: shortDir(t), Durable: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			if no != nil && !*everyBreak {
				t.Skip(no)
			}
			breakAll(t, b.(*members), no == nil)
		})
	}
}

func breakAll(t *testing.T, m *members, apart bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	first, other := sideOf(t, m.all[0]), sideOf(t, m.all[len(m.all)-1])
	must(t, first, "CREATE DATABASE txnfuzz_c", "CREATE TABLE txnfuzz_c.t (a INT PRIMARY KEY)",
		"CREATE TABLE txnfuzz_c.alone (a INT PRIMARY KEY)")
	rows := 0
	write := func() {
		t.Helper()
		rows++
		if !until(func() bool { return other.exec(ctx, insertion(rows)) == nil }) {
			t.Fatalf("nobody takes a write: %v", other.exec(ctx, insertion(rows)))
		}
	}
	single := m.by.kind == harness.GroupSingle
	if single {
		other = first
	}
	write()
	for _, f := range []struct {
		name        string
		needs       bool
		begin, lift func(int) error
	}{
		{"kill", *everyBreak, m.KillNode, func(i int) error { return m.RecoverNode(ctx, i) }},
		{"pause", *everyBreak, m.PauseNode, m.ResumeNode},
		{"partition", apart, m.CutNode, m.HealNode},
	} {
		if !f.needs {
			continue
		}
		began := time.Now()
		if err := f.begin(0); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if f.name == "partition" {
			alone, stop := context.WithTimeout(ctx, time.Second/2)
			if err := first.exec(alone, "INSERT INTO txnfuzz_c.alone VALUES (1)"); err == nil {
				t.Error("a node that is cut off acknowledges a write")
			}
			stop()
		}
		if !single && *everyBreak {
			write()
		}
		lifted := time.Now()
		if err := f.lift(0); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		told, err := m.Agree(ctx)
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		t.Logf("%s: the others went on after %v; back %v after its end, told to join again %d times", f.name,
			lifted.Sub(began).Round(time.Millisecond), time.Since(lifted).Round(time.Millisecond), told)
		_ = first.Close()
		if !single {
			write()
		}
		if !until(func() bool { return sees(t, first, rows) }) {
			t.Errorf("%s: the node has not all %d rows", f.name, rows)
		}
	}
	if p := m.LogProblems(); len(p) > 0 {
		t.Errorf("the nodes complain: %q", p)
	}
}

func insertion(a int) string { return fmt.Sprintf("INSERT IGNORE INTO txnfuzz_c.t VALUES (%d)", a) }

// TestBrokenNodesEnd: nodes that are stopped and cut off end with their owner at once, and so does their network. The
// folder of one that was killed is gone after the next start, at the latest.
func TestBrokenNodesEnd(t *testing.T) {
	const target = "galera:11.8"
	needsCluster(t, target)
	dir := shortDir(t)
	cmd, owned := startOwner(t, brokenMark+target, dir)
	last := len(owned) - 1
	held := childrenOf(cmd.Process.Pid) // the watchdogs, and who holds the network
	if n := len(held); n < last {
		t.Fatalf("the owner has %d processes, want %d or more", n, last)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait()
	if !until(func() bool {
		return len(litter(owned[:last])) == 0 && !slices.ContainsFunc(held, func(pid int) bool { return parentOf(pid) != 0 })
	}) {
		t.Errorf("left after ten seconds: %v, of the processes %v", litter(owned[:last]), held)
	}
	sweep(dir) // as a start does
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
