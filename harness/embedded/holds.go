//go:build !notidb

package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

var (
	_ harness.Holdable = (*backend)(nil)
	_ harness.Watcher  = (*holder)(nil)
)

// Holder implements harness.Holdable: what is held are requests to the store, since the sessions are no threads.
func (b *backend) Holder(context.Context) (harness.Holder, error) {
	b.spy.requests.users.Add(1)
	return &holder{b.instance}, nil
}

type holder struct{ in *instance }

// Arm implements harness.Holder.
func (h *holder) Arm(_ context.Context, conn uint64, at *corpus.Hold) (harness.Holding, error) {
	switch {
	case at.Request == "":
		return nil, &harness.UnheldError{Reason: fmt.Sprintf("the built-in TiDB holds requests to its store, as "+
			"store PessimisticLock, and %s is an instruction of a program (txnfuzz run --races FILE looks for a request)",
			at.Where())}
	case !slices.Contains(kinds, at.Request):
		return nil, &harness.UnheldError{Reason: fmt.Sprintf("the built-in TiDB sends no requests called %s to its "+
			"store, but %s", at.Request, strings.Join(kinds, ", "))}
	}
	return h.in.spy.requests.arm(conn, *at), nil
}

// Entry implements harness.Holder: no place has the name of a function.
func (h *holder) Entry(string) (*corpus.Hold, bool) { return nil, false }

// Record implements harness.Holder. What is recorded is each request, before it reaches the store and behind its
// answer.
func (h *holder) Record(_ context.Context, conn uint64, max int) (func() (harness.Trail, error), error) {
	r, t := h.in.spy.requests, &requestTrail{max: max, sent: map[string]int{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trail[conn] = t
	return func() (harness.Trail, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.trail, conn)
		return t, nil
	}, nil
}

// Watch implements harness.Watcher for the goroutines of a connection: they sleep where a lock request of theirs waits
// in the store, or the last answer has told of a lock, so that they try again and again.
func (h *holder) Watch(conn uint64) harness.Sight {
	r := h.in.spy.requests
	r.mu.Lock()
	sight := harness.Sight{Seen: true}
	if m := r.moves[conn]; m != nil {
		sight.Runs, sight.Asleep = m.answers, m.locked
	}
	r.mu.Unlock()
	sight.Asleep = sight.Asleep || h.in.spy.waits(context.Background(), conn)
	return sight
}

// Close implements harness.Holder.
func (h *holder) Close() error {
	h.in.spy.requests.users.Add(-1)
	return nil
}

// requestTrail is what a statement asked the store for.
type requestTrail struct {
	max  int
	at   []corpus.Hold
	sent map[string]int // by kind
}

// begins notes a request and returns its number among those of its kind.
func (t *requestTrail) begins(kind string) int {
	t.sent[kind]++
	t.note(corpus.Hold{Request: kind, Hit: t.sent[kind]})
	return t.sent[kind]
}

func (t *requestTrail) ends(kind string, n int) {
	t.note(corpus.Hold{Request: kind, Answered: true, Hit: n})
}

func (t *requestTrail) note(at corpus.Hold) {
	if len(t.at) < t.max {
		t.at = append(t.at, at)
	}
}

// Len implements harness.Trail.
func (t *requestTrail) Len() int { return len(t.at) }

// At implements harness.Trail.
func (t *requestTrail) At(i int) *corpus.Hold {
	at := t.at[i]
	return &at
}
