package server

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// tidbProber asks a TiDB for the transactions that it shows as LockWaiting. That is the
// state of every transaction which asks for a lock, also for one that it gets at once; but
// the time at which it asked is shown, too. A transaction that is shown twice with the same
// time waits if the server came to rest in between. Where it never does, because of other
// sessions, or cannot be watched, the transaction waits if it is shown for long.
//
// What TiDB shows nothing of (a COMMIT or a read that meets the lock of another COMMIT)
// counts as waiting after some silence.
// https://docs.pingcap.com/tidb/stable/information-schema-tidb-trx
type tidbProber struct {
	side
	*silenceProber
	*stillness
	asked map[uint64]lockSight
}

// lockSight is a request for a lock as a connection was seen with it.
type lockSight struct {
	at    string    // when the lock was asked for, by the server's clock
	first time.Time // seen, by ours
	seen  int       // times
	// awake holds the threads of the server that have been awake all the while without
	// getting a processor: one of them may be at this request. Nil: they cannot be seen.
	awake map[string]string
}

const (
	// lockPatience is how long, and lockSights how often, a request must have been seen
	// where the server does not rest: a lock that is free is had within a millisecond of
	// a processor, and a thread gets one for that long.
	lockPatience = 5 * time.Millisecond
	lockSights   = 4
	// unseenPatience is lockPatience where the server cannot be watched: on a machine with
	// too much to do, 20 ms were too few for 1 of 800 locks that were free.
	unseenPatience = 100 * time.Millisecond
)

// https://docs.pingcap.com/tidb/stable/information-schema-tidb-trx
const lockWaitingQuery = "SELECT SESSION_ID, WAITING_START_TIME FROM information_schema.TIDB_TRX " +
	"WHERE STATE = 'LockWaiting'"

// showsTransactions says that a TiDB can be asked for its transactions while they come and
// go: others unlock a mutex that is not locked, now and then, and end.
// https://github.com/pingcap/tidb/issues/57798
// https://docs.pingcap.com/tidb/stable/release-7.5.5
// https://docs.pingcap.com/tidb/stable/release-8.5.1
func showsTransactions(s history.Server) bool {
	v := history.VersionNumbers(strings.TrimPrefix(s.Version, "v"))
	return !newerNumbers([3]int{8, 5, 1}, v) || v[0] == 7 && v[1] == 5 && v[2] >= 5
}

func newTiDBProber(ask side, pid int) *tidbProber {
	return &tidbProber{side: ask, silenceProber: newSilence(), stillness: newStillness(pid), asked: map[uint64]lockSight{}}
}

func (p *tidbProber) Close() error {
	p.stillness.close()
	return p.side.Close()
}

// BeginCase forgets the statements of the case before.
func (p *tidbProber) BeginCase(ctx context.Context, key uint64, conns []uint64) error {
	clear(p.asked)
	return p.silenceProber.BeginCase(ctx, key, conns)
}

func (p *tidbProber) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	// A rest is of use only behind a sight: then the next question is the last.
	rested := len(p.asked) > 0 && p.still(ctx)
	requests, err := p.requests(ctx)
	if err != nil {
		return nil, err
	}
	var waiting []harness.Waiting
	var fresh []uint64
	for _, c := range conns {
		at, asks := requests[c]
		if !asks {
			delete(p.asked, c)
			if p.silentFor(c) >= p.after {
				waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.Silence})
			}
			continue
		}
		s := p.asked[c]
		again := s.at == at
		if !again {
			s = lockSight{at: at, first: p.clock(), awake: p.awake()}
		}
		s.seen++
		p.asked[c] = s
		switch {
		case again && (rested || p.lasts(s)):
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.RowLock, ID: at})
		case !again:
			fresh = append(fresh, c)
		}
	}
	if len(fresh) == 0 || !p.still(ctx) {
		return waiting, nil
	}
	requests, err = p.requests(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range fresh {
		if at, asks := requests[c]; asks && at == p.asked[c].at {
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.RowLock, ID: at})
		}
	}
	return waiting, nil
}

// lasts says that a request for a lock, which the server has just shown once more, is no
// short one.
func (p *tidbProber) lasts(s lockSight) bool {
	age := p.clock().Sub(s.first)
	if s.awake == nil {
		return s.seen >= lockSights && age >= unseenPatience
	}
	return p.stuck(s.awake) == 0 && s.seen >= lockSights && age >= lockPatience
}

// requests returns when each connection that asks for a lock right now began to.
func (p *tidbProber) requests(ctx context.Context) (map[uint64]string, error) {
	out := map[uint64]string{}
	var bad error
	err := p.each(ctx, lockWaitingQuery, func(row []driver.Value) {
		conn, err := number(row[0])
		at, ok := row[1].([]byte)
		if err != nil {
			bad = err
		} else if ok { // else it has just got its lock
			out[conn] = string(at)
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, fmt.Errorf("ask for lock waits: %w", err)
	}
	return out, nil
}
