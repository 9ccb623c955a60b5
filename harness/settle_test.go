package harness

import (
	"context"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestMayWait holds which statements are looked at before their answer.
func TestMayWait(t *testing.T) {
	for _, c := range []struct {
		name   string
		just   traits
		script traits
		level  corpus.Level
		open   bool // another session has a transaction
		want   bool
	}{
		{"DML", locks, 0, corpus.ReadCommitted, true, true},
		{"DML alone", locks, 0, corpus.ReadCommitted, false, false},
		{"plain read", plainRead, 0, corpus.RepeatableRead, true, false},
		{"plain read that locks", plainRead, 0, corpus.Serializable, true, true},
		{"plain read at a level not known", plainRead, 0, 0, true, true},
		{"COMMIT", ends, 0, corpus.Serializable, true, false},
		{"BEGIN", 0, 0, corpus.RepeatableRead, true, false},
		{"GET_LOCK()", taints, 0, corpus.RepeatableRead, true, true},
		{"plain read alone beside DDL", plainRead, altersSchema, corpus.ReadCommitted, false, true},
	} {
		r, _ := phase(c.just, 0)
		r.s.traits = c.script
		r.h.Levels = map[int]corpus.Level{1: c.level}
		r.lanes[0].level = c.level
		r.lanes[1].stmt, r.lanes[1].inTxn = -1, c.open
		if got := r.mayWait(r.lanes[0]); got != c.want {
			t.Errorf("%s: may wait: %v, want %v", c.name, got, c.want)
		}
	}
}

// restless is a server of which every thread runs.
type restless struct {
	Prober
	looks int
}

func (p *restless) Wake() <-chan struct{} { return nil }

func (p *restless) Waiting(context.Context, []uint64) ([]Waiting, error) { return nil, nil }

func (p *restless) Watch(uint64) Sight {
	p.looks++
	return Sight{Runs: 2, Seen: true}
}

// TestLooksPause lets a COMMIT wake a waiter that takes a while: a look that is
// repeated without a pause takes the processor on which the server would answer.
func TestLooksPause(t *testing.T) {
	r, sessions := phase(locks, ends)
	post, err := newCouriers()
	if err != nil {
		t.Fatal(err)
	}
	defer post.close()
	server := &restless{}
	r.w.mail, r.w.prober, r.look = post, server, server
	r.w.pool.opt = PoolOptions{DeadLine: time.Minute, Silence: time.Minute}
	r.end = time.Now().Add(time.Minute)
	r.lanes[0].waits, r.lanes[0].slept = true, Sight{Runs: 1, Asleep: true, Seen: true}
	r.h.Stmts[0].Waits = []history.Wait{{Kind: history.RowLock, From: r.tick()}}
	post.putBack(answer{session: sessions[1], Reply: Reply{At: time.Now()}})
	begun := time.Now()
	time.AfterFunc(20*time.Millisecond, func() {
		post.putBack(answer{session: sessions[0], Reply: Reply{At: time.Now()}})
	})
	if err := r.settle(t.Context(), r.lanes[1]); err != nil {
		t.Fatal(err)
	}
	if most := 2 * (int(time.Since(begun)/glancePause) + 2); server.looks < 2 || server.looks > most {
		t.Errorf("%d looks at threads, want 2 to %d", server.looks, most)
	}
	if n := r.outstanding(); n > 0 {
		t.Errorf("%d statements outstanding, want none", n)
	}
}

// sleeper is a server whose threads are all seen to do the same.
type sleeper struct{ sight Sight }

func (s sleeper) Watch(uint64) Sight { return s.sight }

// TestSleptThrough holds when a wait that was seen twice is one.
func TestSleptThrough(t *testing.T) {
	dozed := Sight{Runs: 4, Asleep: true, Seen: true}
	for _, c := range []struct {
		name string
		look Watcher
		ago  time.Duration
		want bool
	}{
		{"asleep all the time", sleeper{dozed}, 0, true},
		{"asleep again", sleeper{Sight{Runs: 5, Asleep: true, Seen: true}}, 0, false},
		{"runs", sleeper{Sight{Seen: true}}, 0, false},
		{"runs, for too long to be on its way to a deadlock", sleeper{Sight{Seen: true}}, 2 * cyclePatience, true},
		{"not to be seen", sleeper{}, 0, true},
		{"no threads known", nil, 0, true},
	} {
		r, _ := phase(locks, locks)
		r.lanes[0].dozed, r.lanes[1].dozed = dozed, dozed
		if got := r.sleptThrough(c.look, time.Now().Add(-c.ago)); got != c.want {
			t.Errorf("%s: slept through: %v, want %v", c.name, got, c.want)
		}
	}
}
