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
	since map[uint64]silentConn
	after time.Duration
	clock func() time.Time
}

// silentConn is when a connection was first and last asked about.
type silentConn struct{ first, last time.Time }

// silenceGap is longer than the runner leaves between two questions about one
// statement: a longer one means that another statement runs now.
const silenceGap = 100 * time.Millisecond

func (p *silenceProber) Wake() <-chan struct{} { return nil }

func (p *silenceProber) Close() error { return nil }

// BeginCase forgets the statements of the case before.
func (p *silenceProber) BeginCase(context.Context, uint64, []uint64) error {
	clear(p.since)
	return nil
}

// EndCase does nothing.
func (p *silenceProber) EndCase(context.Context) error { return nil }

func (p *silenceProber) Waiting(_ context.Context, conns []uint64) ([]harness.Waiting, error) {
	now := p.clock()
	var waiting []harness.Waiting
	for c := range p.since {
		if !contains(conns, c) {
			delete(p.since, c) // it answered
		}
	}
	for _, c := range conns {
		s, asked := p.since[c]
		if !asked || now.Sub(s.last) > silenceGap && now.Sub(s.first) < p.after {
			s.first = now
		}
		s.last = now
		p.since[c] = s
		if now.Sub(s.first) >= p.after {
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Silence})
		}
	}
	return waiting, nil
}
