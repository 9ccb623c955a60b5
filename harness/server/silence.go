package server

import (
	"context"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// silenceTimeout is how long a statement may be without an answer before it
// counts as waiting, on servers that cannot be asked.
const silenceTimeout = 500 * time.Millisecond

// silenceProber takes a statement for waiting that has not answered for long.
// It is wrong about slow statements, hence the kind of its own.
type silenceProber struct {
	since map[uint64]time.Time // when a connection was sent its statement
	after time.Duration
	clock func() time.Time
}

func newSilence() *silenceProber {
	return &silenceProber{since: map[uint64]time.Time{}, after: silenceTimeout, clock: time.Now}
}

func (p *silenceProber) Wake() <-chan struct{} { return nil }

func (p *silenceProber) Close() error { return nil }

// Submitted implements harness.SubmitObserver.
func (p *silenceProber) Submitted(conn uint64) { p.since[conn] = p.clock() }

// BeginCase forgets the statements of the case before.
func (p *silenceProber) BeginCase(context.Context, uint64, []uint64) error {
	clear(p.since)
	return nil
}

// EndCase does nothing.
func (p *silenceProber) EndCase(context.Context) error { return nil }

func (p *silenceProber) Waiting(_ context.Context, conns []uint64) ([]harness.Waiting, error) {
	var waiting []harness.Waiting
	for _, c := range conns {
		if p.silentFor(c) >= p.after {
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Silence})
		}
	}
	return waiting, nil
}

// silentFor is how long a connection has had a statement without an answer.
func (p *silenceProber) silentFor(conn uint64) time.Duration {
	now := p.clock()
	since, known := p.since[conn]
	if !known {
		p.since[conn] = now
		return 0
	}
	return now.Sub(since)
}
