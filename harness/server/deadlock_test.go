package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestDeadlock: while the server has yet to break a deadlock, either the holders
// that it names form a cycle, or it does not show both sessions as waiting in two
// questions running while their threads sleep from before the first to behind the
// second. Else the runner would take them for stuck.
func TestDeadlock(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		b := start(t, target)
		p, err := b.Prober(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		one, two := sideOf(t, b), sideOf(t, b)
		must(t, one, "CREATE DATABASE txnfuzz_test", "USE txnfuzz_test", "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 1), (2, 2)")
		must(t, two, "USE txnfuzz_test")
		conns := []uint64{connID(t, one), connID(t, two)}
		if err := p.(harness.CaseObserver).BeginCase(t.Context(), 3, conns); err != nil {
			t.Fatal(err)
		}
		look := p.(harness.Watcher)
		sights := func() [2]harness.Sight { return [2]harness.Sight{look.Watch(conns[0]), look.Watch(conns[1])} }
		cycles, twice, victims := 0, 0, 0
		for range 50 {
			must(t, one, "BEGIN", "UPDATE t SET b = 7 WHERE a = 1")
			must(t, two, "BEGIN", "UPDATE t SET b = 8 WHERE a = 2")
			firstDone, secondDone := make(chan error, 1), make(chan error, 1)
			go func() { firstDone <- one.exec(context.Background(), "UPDATE t SET b = 7 WHERE a = 2") }()
			var held []harness.Waiting
			for end := time.Now().Add(2 * time.Second); len(held) == 0 && time.Now().Before(end); {
				if held, err = p.Waiting(t.Context(), conns[:1]); err != nil {
					t.Fatal(err)
				}
			}
			go func() { secondDone <- two.exec(context.Background(), "UPDATE t SET b = 8 WHERE a = 1") }()
			var errs []error
			var before []harness.Waiting
			var slept [2]harness.Sight // right before the first question that showed both as waiting
			for len(errs) < 1 {
				select {
				case err := <-firstDone:
					errs = append(errs, err)
					continue
				case err := <-secondDone:
					errs = append(errs, err)
					continue
				default:
				}
				asking := sights()
				ws, err := p.Waiting(t.Context(), conns)
				if err != nil {
					t.Fatal(err)
				}
				asleep := slept == sights() && slept[0].Asleep && slept[1].Asleep
				if len(firstDone)+len(secondDone) > 0 {
					continue // the question may have come too late
				}
				if len(ws) == 2 {
					if slices.Contains(holdersOf(ws, conns[0]), conns[1]) && slices.Contains(holdersOf(ws, conns[1]), conns[0]) {
						cycles++
					} else if len(before) == 2 && asleep || b.server.DBMS == history.MySQL {
						twice++
					}
				}
				if before = ws; len(ws) == 2 {
					slept = asking
				}
			}
			var other error
			select {
			case other = <-firstDone:
			case other = <-secondDone:
			case <-time.After(10 * time.Second):
				t.Fatal("the other session never returned")
			}
			for _, err := range append(errs, other) {
				var answer *mysql.MySQLError
				if errors.As(err, &answer) && answer.Number == 1213 {
					victims++
				} else if err != nil {
					t.Fatal(err)
				}
			}
			must(t, one, "ROLLBACK")
			must(t, two, "ROLLBACK")
		}
		t.Logf("%d victims; both seen waiting: %d times with a cycle, %d times without", victims, cycles, twice)
		if victims != 50 || twice > 0 {
			t.Errorf("%d victims of 50; both seen waiting without a cycle %d times", victims, twice)
		}
	})
}

func holdersOf(ws []harness.Waiting, conn uint64) []uint64 {
	for _, w := range ws {
		if w.Conn == conn {
			return w.Holders
		}
	}
	return nil
}
