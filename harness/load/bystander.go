package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// bystanders are sessions with an open transaction each, which has written a row that nobody else touches. They hold no
// lock that anybody asks for, but stand in the server's list of active transactions, as those of a busy server do:
// whoever opens a snapshot goes through that list, and the longer it is, the more often others commit meanwhile.
type bystanders struct {
	sessions []*session
	begun    time.Time // their transactions; zero: they are in none
	// broken: faults may take their connections, which is no failure of theirs.
	broken bool
}

const (
	// MostBystanders is how many a run can have.
	MostBystanders = 1000
	// Private servers take ourConnections at a time, of which some are spare: for what a run does beside its clients.
	ourConnections   = 200
	spareConnections = 14
)

// BystandersFor returns how many a run has that was not told: as many as a private server has connections for, if the
// workload is after what a long list brings about. Processes cost more than threads. There are none on a server of
// somebody else, which may have few connections to spare, and none where faults would take them again and again.
func BystandersFor(b harness.Backend, s Settings) int {
	if _, ours := b.(harness.Crasher); !ours || len(s.Faults) > 0 || s.Workload != chainName {
		return 0
	}
	free := max(0, ourConnections-spareConnections-s.Clients)
	if b.Server().DBMS == history.PostgreSQL {
		return min(free, 40)
	}
	return free
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

// bystanderTime is how long their transactions stay open: others may keep old rows for them.
const bystanderTime = 20 * time.Second

// renew rolls their transactions back and opens new ones, if it is time to. No client is at work.
func (b *bystanders) renew(r *run) error {
	if !b.begun.IsZero() && time.Since(b.begun) < bystanderTime {
		return nil
	}
	if !b.begun.IsZero() {
		if err := b.end(); err != nil {
			return err
		}
	}
	b.begun = time.Now()
	return b.begin(r)
}

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
