package pgsession

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// suspects asks which of some backends wait at all, which is most of the time none and costs a third of
// what waiters does. A wait for a safe snapshot is no wait for a lock and has a function of its own.
// https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SESSION
const suspects = `PREPARE suspects(pg_catalog.int4[]) AS
SELECT pid FROM pg_catalog.unnest($1) AS asked(pid)
WHERE pg_catalog.pg_blocking_pids(pid) <> '{}' OR pg_catalog.pg_safe_snapshot_blocking_pids(pid) <> '{}'`

// waiters asks of such backends: pid, those in the way, the lock waited for, and those in the way once
// more. pg_locks is read between two looks at who is in the way: where both say the same, that is true of the
// lock, too. https://www.postgresql.org/docs/current/view-pg-locks.html
const waiters = `PREPARE waiters(pg_catalog.int4[]) AS
SELECT pid, before,
	(SELECT pg_catalog.concat_ws(' ', l.locktype, l.mode, l.database, l.relation, l.page, l.tuple, l.virtualxid,
			l.transactionid, l.classid, l.objid, l.objsubid)
		FROM pg_catalog.pg_locks l WHERE l.pid = w.pid AND NOT l.granted LIMIT 1),
	pg_catalog.pg_blocking_pids(pid), pg_catalog.pg_safe_snapshot_blocking_pids(pid)
FROM (SELECT pid, pg_catalog.pg_blocking_pids(pid) AS before, pg_catalog.pg_safe_snapshot_blocking_pids(pid) AS unsafe
	FROM pg_catalog.unnest($1) AS asked(pid) OFFSET 0) w
WHERE before <> '{}' OR unsafe <> '{}'`

// blockers asks who is in the way of one backend.
const blockers = "SELECT pg_catalog.pg_blocking_pids(%[1]d) || pg_catalog.pg_safe_snapshot_blocking_pids(%[1]d)"

// rowLocks are the types of lock that a wait for a row goes through; a wait for any other is one for
// what stands for a whole table or for a name.
var rowLocks = map[string]bool{"transactionid": true, "tuple": true, "spectoken": true}

// safeSnapshot is the ID of a wait of SERIALIZABLE READ ONLY DEFERRABLE.
const safeSnapshot = "safe snapshot"

// notifying is the lock of a COMMIT that notifies: it has it for a moment, until it is done.
const notifying = "object AccessExclusiveLock 0 1262 0 0"

// looks is how often a question is asked whose answer changed while it was given.
const looks = 4

// Prober asks a server who waits, on a connection of its own.
type Prober struct {
	session *Session
	text    []byte
}

var (
	_ harness.Prober   = (*Prober)(nil)
	_ harness.Blockers = (*Prober)(nil)
)

// NewProber makes a prober of a new session, which it owns.
func NewProber(s *Session) (*Prober, error) {
	for _, question := range []string{suspects, waiters} {
		if _, err := s.Query(question); err != nil {
			return nil, fmt.Errorf("prepare the question of who waits: %w", err)
		}
	}
	return &Prober{session: s}, nil
}

// Waiting implements harness.Prober.
func (p *Prober) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	if len(conns) == 0 {
		return nil, nil
	}
	defer context.AfterFunc(ctx, p.session.Cut)()
	p.text = append(p.text[:0], "EXECUTE suspects('{"...)
	for i, c := range conns {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		p.text = strconv.AppendUint(p.text, c, 10)
	}
	rows, err := p.ask()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	p.text = append(p.text[:0], "EXECUTE waiters('{"...)
	for i, r := range rows {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		p.text = append(p.text, r[0].Text...)
	}
	for look := 1; ; look++ {
		rows, err := p.ask()
		if err != nil {
			return nil, err
		}
		waiting, steady := read(rows)
		if steady || look == looks {
			return waiting, nil
		}
	}
}

// ask executes the question whose last pid stands at the end of the text.
func (p *Prober) ask() ([][]history.Cell, error) {
	rows, err := p.session.Query(string(p.text) + "}')")
	if err != nil {
		return nil, fmt.Errorf("ask who waits: %w", err)
	}
	return rows, nil
}

// read takes what waiters returns apart. What changed between its two looks is left out, and then
// steady is false.
func read(rows [][]history.Cell) (waiting []harness.Waiting, steady bool) {
	steady = true
	for _, r := range rows {
		pid, before, lock, after, unsafe := r[0].Text, r[1].Text, r[2], r[3].Text, r[4].Text
		conn, err := strconv.ParseUint(pid, 10, 64)
		if err != nil {
			continue
		}
		switch {
		case before == "{}" && after == "{}" && unsafe != "{}":
			w := harness.Waiting{Conn: conn, Kind: history.SafeSnapshot, Holders: pids(unsafe), ID: safeSnapshot}
			waiting = append(waiting, w)
		case before == "{}" || before != after, lock.Text == notifying:
			steady = false
		default:
			// A parallel worker may be the one that waits, under a pid of its own.
			w := harness.Waiting{Conn: conn, Kind: history.Metadata, Holders: pids(before), ID: lock.Text}
			if kind, _, _ := strings.Cut(lock.Text, " "); lock.Null || rowLocks[kind] {
				w.Kind = history.RowLock
			}
			waiting = append(waiting, w)
		}
	}
	return waiting, steady
}

// pids reads an array such as {12,13}; 0 stands for a prepared transaction, which is no session.
func pids(array string) []uint64 {
	return slices.DeleteFunc(inTheWayOf(array), func(pid uint64) bool { return pid == harness.Prepared })
}

func inTheWayOf(array string) (out []uint64) {
	for _, f := range strings.Split(strings.Trim(array, "{}"), ",") {
		if pid, err := strconv.ParseUint(f, 10, 64); err == nil && !slices.Contains(out, pid) {
			out = append(out, pid)
		}
	}
	return out
}

// Blockers implements harness.Blockers.
func (p *Prober) Blockers(ctx context.Context, conns []uint64) (map[uint64][]uint64, error) {
	defer context.AfterFunc(ctx, p.session.Cut)()
	out := map[uint64][]uint64{}
	for _, c := range conns {
		rows, err := p.session.Query(fmt.Sprintf(blockers, c))
		if err != nil {
			return nil, fmt.Errorf("ask who is in the way: %w", err)
		}
		out[c] = inTheWayOf(rows[0][0].Text)
	}
	return out, nil
}

// Wake implements harness.Prober: the runner polls.
func (p *Prober) Wake() <-chan struct{} { return nil }

// Close implements harness.Prober.
func (p *Prober) Close() error { return p.session.Close() }
