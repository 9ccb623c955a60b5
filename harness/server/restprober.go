package server

import (
	"context"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// restProber takes a statement for waiting that has no answer although the server came to
// rest twice, with an answer to a question of the prober's own in between: the statement's
// would have come before. It is for servers that cannot be asked for waits. Where the
// server is not ours to watch, or never rests, silence decides.
type restProber struct {
	side
	*silenceProber
	*stillness
}

// restPatience is how long a statement is left alone. On a machine with too much to do, a
// server was at rest for 2 ms because it had not been sent the statement yet.
const restPatience = 10 * time.Millisecond

func (p *restProber) Close() error {
	p.stillness.close()
	return p.side.Close()
}

func (p *restProber) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	waiting, err := p.silenceProber.Waiting(ctx, conns)
	if err != nil || len(waiting) == len(conns) {
		return waiting, err
	}
	for _, c := range conns {
		if p.silentFor(c) < restPatience {
			return waiting, nil
		}
	}
	if !p.still(ctx) {
		return waiting, nil
	}
	if err := p.exec(ctx, "DO 1"); err != nil {
		return nil, fmt.Errorf("ask for a sign of life: %w", err)
	}
	if !p.still(ctx) {
		return waiting, nil
	}
	waiting = waiting[:0]
	for _, c := range conns {
		waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Silence})
	}
	return waiting, nil
}
