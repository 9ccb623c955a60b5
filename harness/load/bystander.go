package load

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// bystanders are sessions with an open transaction each, which has written a row that nobody else touches. They hold no
// lock that anybody asks for, but stand in the server's list of active transactions, as those of a busy server do:
// whoever opens a snapshot goes through that list, and the longer it is, the more often others commit meanwhile.
type bystanders struct {
	sessions []*session
	// broken: faults may take their connections, which is no failure of theirs.
	broken bool
}

const (
	// MostBystanders is how many a run can have.
	MostBystanders = 1000
	// DefaultBystanders is how many a private server has room for beside the clients, which has 200 connections.
	DefaultBystanders = 64
)

// BystandersFor returns how many a run has that was not told: none on a server of somebody else, which may have few
// connections to spare, and none where faults would take their connections again and again.
func BystandersFor(b harness.Backend, faults []FaultKind) int {
	if _, ours := b.(harness.Crasher); !ours || len(faults) > 0 {
		return 0
	}
	return DefaultBystanders
}

const bystanderTable = "CREATE TABLE bystander (k BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL)"

// newBystanders makes the sessions, which connect when they are first asked to begin. READ COMMITTED keeps no snapshot
// and nothing that SERIALIZABLE has to remember of an open transaction.
func (r *run) newBystanders() bystanders {
	b := bystanders{broken: len(r.settings.Faults) > 0}
	for range r.settings.Bystanders {
		b.sessions = append(b.sessions, &session{
			dial: r.dial, timeout: r.settings.Timeout, setup: r.dialect.begin(corpus.ReadCommitted, r.database),
		})
	}
	return b
}

// define returns the statement that makes their table, if they need one.
func (b bystanders) define() []string {
	if len(b.sessions) == 0 {
		return nil
	}
	return []string{bystanderTable}
}

// first returns some of them.
func (b bystanders) first(n int) bystanders {
	b.sessions = b.sessions[:min(n, len(b.sessions))]
	return b
}

// begin opens their transactions, end rolls them back: at the end of an epoch, so that no row of it is kept for them.
func (b bystanders) begin(r *run) error {
	return b.each(func(i int, s *session) error {
		if err := s.untilConnected(r.life, r.patience()); err != nil {
			return err
		}
		for _, q := range []string{"BEGIN", fmt.Sprintf("INSERT INTO bystander (k, v) VALUES (%d, 0)", i)} {
			if err := s.exec(q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	})
}

func (b bystanders) end() error {
	return b.each(func(_ int, s *session) error {
		if s.conn == nil {
			return nil
		}
		return s.exec("ROLLBACK")
	})
}

func (b bystanders) close() {
	for _, s := range b.sessions {
		s.close()
	}
}

// atATime is how many of them are asked at the same moment: their transactions begin and end while no client works.
const atATime = 8

func (b bystanders) each(do func(i int, s *session) error) error {
	var wait sync.WaitGroup
	failed := make([]error, atATime)
	for first := range min(atATime, len(b.sessions)) {
		wait.Go(func() {
			for i := first; i < len(b.sessions) && failed[first] == nil; i += atATime {
				err := do(i, b.sessions[i])
				if err != nil && b.broken && !errors.Is(err, context.Canceled) {
					b.sessions[i].close()
					continue
				}
				if err != nil {
					failed[first] = fmt.Errorf("bystander %d: %w", i+1, err)
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
