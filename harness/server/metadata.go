package server

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The states of waits for locks above the engines, for example "Waiting for
// table metadata lock" and "Waiting for backup lock".
var (
	metadataBefore = []byte("Waiting for ")
	metadataBehind = []byte(" lock")
)

// Columns of SHOW PROCESSLIST, the same on all servers.
const (
	processID    = 0
	processState = 6
)

// metadataPause is how long a thread that cannot be watched gets to wake up. A
// thread shows its waiting state until it runs again, even if it has been given the
// lock: right after the holder's COMMIT, 5 of 100 threads were shown as waiting that
// no longer were, and on a busy machine 1 in 100 even after the pause.
const metadataPause = 2 * time.Millisecond

// inMetadataState returns those of conns whose state is a wait for a metadata
// lock. INFORMATION_SCHEMA.PROCESSLIST would do the selecting, but fills a
// temporary table for it: that takes 90 µs on MySQL and 220 on MariaDB, this
// 10 to 40.
func inMetadataState(ctx context.Context, s *side, conns []uint64) ([]uint64, error) {
	var found []uint64
	var bad error
	err := s.each(ctx, "SHOW PROCESSLIST", func(row []driver.Value) {
		state, _ := row[processState].([]byte)
		if !bytes.HasPrefix(state, metadataBefore) || !bytes.HasSuffix(state, metadataBehind) {
			return
		}
		c, err := number(row[processID])
		if err != nil {
			bad = err
		} else if contains(conns, c) {
			found = append(found, c)
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, fmt.Errorf("ask for metadata lock waits: %w", err)
	}
	return found, nil
}

// confirmMetadata appends those of suspects, seen in a waiting state just now,
// that still are, and whose thread slept all the while or, where it cannot be
// watched, had time to wake up.
func confirmMetadata(ctx context.Context, s *side, t *threads, suspects []uint64, waiting []harness.Waiting) ([]harness.Waiting, error) {
	if len(suspects) == 0 {
		return waiting, nil
	}
	before := map[uint64]harness.Sight{}
	watched := true
	for _, c := range suspects {
		before[c] = t.Watch(c)
		watched = watched && before[c].Seen
	}
	if !watched {
		if err := delay(ctx, metadataPause); err != nil {
			return nil, err
		}
	}
	still, err := inMetadataState(ctx, s, suspects)
	if err != nil {
		return nil, err
	}
	for _, c := range still {
		if now := t.Watch(c); !now.Seen || now.Asleep && now == before[c] {
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Metadata})
		}
	}
	return waiting, nil
}

// delay waits for d or the end of ctx.
func delay(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
