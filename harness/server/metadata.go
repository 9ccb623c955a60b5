package server

import (
	"context"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// metadataState matches the states of all waits for locks above the engines,
// for example "Waiting for table metadata lock" and "Waiting for backup lock".
const metadataState = "STATE LIKE 'Waiting for % lock'"

// metadataPause is how long a thread has to wake up. It shows its state until
// it runs again, although the lock may be its own by then: asked right behind
// the holder's COMMIT, 5 of 100 were shown as waiting that waited no more.
const metadataPause = 2 * time.Millisecond

// metadataQuery asks which of conns are in such a state.
func metadataQuery(conns []uint64) string {
	q := append([]byte("SELECT ID FROM information_schema.processlist WHERE "+metadataState+" AND ID IN ("), appendIDs(nil, conns)...)
	return string(append(q, ')'))
}

// inMetadataState returns those of conns whose state is a wait for a metadata
// lock.
func inMetadataState(ctx context.Context, s *side, conns []uint64) ([]uint64, error) {
	rows, err := s.query(ctx, metadataQuery(conns))
	if err != nil {
		return nil, fmt.Errorf("ask for metadata lock waits: %w", err)
	}
	var found []uint64
	for _, r := range rows {
		c, err := number(r[0])
		if err != nil {
			return nil, fmt.Errorf("ask for metadata lock waits: connection id: %w", err)
		}
		found = append(found, c)
	}
	return found, nil
}

// confirmMetadata appends those of suspects, seen in a waiting state just now,
// that still are when they had time to wake up.
func confirmMetadata(ctx context.Context, s *side, suspects []uint64, waiting []harness.Waiting) ([]harness.Waiting, error) {
	if len(suspects) == 0 {
		return waiting, nil
	}
	if err := pause(ctx, metadataPause); err != nil {
		return nil, err
	}
	still, err := inMetadataState(ctx, s, suspects)
	if err != nil {
		return nil, err
	}
	for _, c := range still {
		waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Metadata})
	}
	return waiting, nil
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
