package invariant

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// branches are transactions that are committed in two phases.
var branches = Workload{
	Name: "xa",
	Says: "what was prepared is there until it is ended, after a kill, too; it is ended once, and is then there as a " +
		"whole or not at all",
	Kinds: []Opportunity{
		{PreparedLost, "ended what another session, or one before a kill, had prepared"},
		{EndedTwice, "ended a prepared transaction again"}, {StillLocked, "ended a prepared transaction"},
		{Lost, "committed a prepared transaction and were acknowledged"}, {HalfDone, "committed a prepared transaction"},
	},
	lacks:  map[history.DBMS]string{history.TiDB: "TiDB has no XA (https://docs.pingcap.com/tidb/stable/mysql-compatibility)"},
	claims: true,
	usual: map[string]string{"1397": "unknown XID", "42704": "unknown prepared transaction", "3234": "XA: try again",
		"1614": "XA: deadlock", "1613": "XA: timeout", "1402": "XA: rolled back", "55000": "prepared transaction is busy",
		"53200": "as many prepared transactions as there may be"},
	define: func(d *dialect) []string {
		return []string{
			"CREATE TABLE branch (id BIGINT NOT NULL PRIMARY KEY, token BIGINT NOT NULL)" + d.engine,
			"CREATE TABLE branch_other (id BIGINT NOT NULL PRIMARY KEY, token BIGINT NOT NULL)" + d.engine,
			"CREATE TABLE branch_count (k BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)" + d.engine,
		}
	},
	begin: func(e *Epoch) state { return &twoPhase{e: e} },
}

// The errors that say that no prepared transaction has a name.
const (
	mysqlUnknown    = "1397"
	postgresUnknown = "42704"
)

func isUnknown(code string) bool { return code == mysqlUnknown || code == postgresUnknown }

const (
	branchCounters = 4
	mostInDoubt    = 12
)

type ending uint8

const (
	open      ending = iota
	committed        // or to be committed, if nobody knows whether it was
	rolledBack
)

// branch is a transaction that was to be prepared.
type branch struct {
	name  string
	token int64
	ids   []int64 // rows in both tables
	k     int64   // the counter it raises; 0: none
	// prepared: the server said so. sent is which end it was sent, ended says that the server acknowledged that.
	// cutOff: the connection was lost while it was being ended.
	prepared, ended, cutOff bool
	sent                    ending
}

type twoPhase struct {
	e       *Epoch
	mu      sync.Mutex
	next    int64
	all     []*branch
	inDoubt []*branch // prepared, and left behind by their sessions
	found   []Violation
	// lost: a connection was, whose transaction may still be rolled back.
	lost bool
}

func (x *twoPhase) fill() []string {
	x.next = x.e.first
	sql := "INSERT INTO branch_count (k, n) VALUES "
	for i := range int64(branchCounters) {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("(%d, 0)", x.e.first+i)
	}
	return []string{sql}
}

func (x *twoPhase) discard() (out []string) {
	for _, table := range []string{"branch", "branch_other"} {
		out = append(out, fmt.Sprintf("DELETE FROM %s WHERE id < %d", table, x.e.first))
	}
	return append(out, fmt.Sprintf("DELETE FROM branch_count WHERE k < %d", x.e.first))
}

func (x *twoPhase) transact(t *txn) {
	if t.rand.IntN(4) == 0 {
		x.mu.Lock()
		var b *branch
		if n := len(x.inDoubt); n > 0 {
			at := t.rand.IntN(n)
			b = x.inDoubt[at]
			x.inDoubt = slices.Delete(x.inDoubt, at, at+1)
		}
		x.mu.Unlock()
		if b != nil {
			x.resolve(t, b)
			return
		}
	}
	x.prepare(t)
}

// resolve ends what another session has prepared.
func (x *twoPhase) resolve(t *txn, b *branch) {
	end := b.sent
	if end == open {
		end = committed
		if t.rand.IntN(3) == 0 {
			end = rolledBack
		}
	}
	err := x.end(t, b, end)
	if err == nil {
		t.meets(PreparedLost)
	}
	t.close(err, true)
}

// endOf spells the end of a prepared transaction.
func endOf(d *dialect, name string, e ending) string {
	verb := "COMMIT"
	if e == rolledBack {
		verb = "ROLLBACK"
	}
	if d.postgres {
		return fmt.Sprintf("%s PREPARED '%s'", verb, name)
	}
	return fmt.Sprintf("XA %s '%s'", verb, name)
}

// end sends one end of a branch, and at times a second one, which must not find it. What was not ended is in doubt.
func (x *twoPhase) end(t *txn, b *branch, e ending) error {
	x.mu.Lock()
	b.sent = e
	x.mu.Unlock()
	sql := endOf(t.set.dialect, b.name, e)
	err := t.exec(sql, b.ids...)
	x.mu.Lock()
	if err == nil {
		b.ended = true
	} else {
		// A session may still hold on to it, or the connection was lost: the end of the epoch tells.
		b.cutOff = b.cutOff || t.set.host.Outcome(err, false).Code == ""
		x.inDoubt = append(x.inDoubt, b)
	}
	x.mu.Unlock()
	if err != nil {
		return err
	}
	if !t.set.dialect.postgres && !t.set.kills {
		t.meets(StillLocked)
	}
	if e == committed {
		t.meets(Lost, HalfDone)
	}
	if t.rand.IntN(8) > 0 {
		return nil
	}
	err = t.exec(sql, b.ids...)
	switch {
	case err == nil:
		t.violates(violation(EndedTwice, b.ids, "%s was answered with OK twice", sql))
	case isUnknown(t.set.host.Outcome(err, false).Code):
		t.meets(EndedTwice)
	}
	return nil // the first answer counts
}

// prepare prepares a branch and then ends it, or leaves it to others.
func (x *twoPhase) prepare(t *txn) {
	d := t.set.dialect
	b := &branch{token: t.token, name: fmt.Sprintf("%s_%d", t.set.name, t.token)}
	x.mu.Lock()
	for range 1 + t.rand.IntN(2) {
		b.ids = append(b.ids, x.next)
		x.next++
	}
	x.all = append(x.all, b)
	leaves := len(x.inDoubt) < mostInDoubt && t.rand.IntN(3) == 0
	x.mu.Unlock()
	if !leaves && t.rand.IntN(3) == 0 {
		b.k = x.e.first + t.rand.Int64N(branchCounters)
	}
	begin, prepare := "BEGIN", fmt.Sprintf("PREPARE TRANSACTION '%s'", b.name)
	if !d.postgres {
		begin, prepare = fmt.Sprintf("XA START '%s'", b.name), fmt.Sprintf("XA PREPARE '%s'", b.name)
	}
	if err := x.work(t, b, begin); err != nil {
		x.giveUp(t, err)
		return
	}
	if err := t.exec(prepare, b.ids...); err != nil {
		x.giveUp(t, err)
		return
	}
	x.mu.Lock()
	b.prepared = true
	if leaves {
		x.inDoubt = append(x.inDoubt, b)
	}
	x.mu.Unlock()
	if leaves {
		if !d.postgres { // MariaDB lets no other session end what one that is connected has prepared
			t.conn.Drop()
		}
		t.close(nil, false)
		return
	}
	e := committed
	if t.rand.IntN(6) == 0 {
		e = rolledBack
	}
	t.close(x.end(t, b, e), true)
}

// work runs the statements of a branch up to the one that prepares it.
func (x *twoPhase) work(t *txn, b *branch, begin string) error {
	if err := t.exec(begin); err != nil {
		return err
	}
	for _, id := range b.ids {
		for _, table := range []string{"branch", "branch_other"} {
			if err := t.exec(fmt.Sprintf("INSERT INTO %s (id, token) VALUES (%d, %d)", table, id, b.token), id); err != nil {
				return err
			}
		}
	}
	if b.k != 0 {
		if err := t.exec(fmt.Sprintf("UPDATE branch_count SET n = n + 1 WHERE k = %d", b.k), b.k); err != nil {
			return err
		}
	}
	if t.set.dialect.postgres {
		return nil
	}
	return t.exec(fmt.Sprintf("XA END '%s'", b.name), b.ids...)
}

// giveUp rolls back what was not prepared, with its connection where the server takes nothing else.
func (x *twoPhase) giveUp(t *txn, err error) {
	lost := t.set.host.Outcome(err, false).Code == ""
	t.close(err, false)
	switch {
	case lost:
		x.mu.Lock()
		x.lost = true
		x.mu.Unlock()
	case t.set.dialect.postgres:
		_ = t.exec("ROLLBACK") // should the connection break here the server rolls back all the same
	default:
		t.conn.Drop()
	}
}

// listed returns the names of the prepared transactions that the server knows and this run, or one like it, has drawn.
func listed(c Conn, d *dialect) ([]string, error) {
	sql := "XA RECOVER"
	if d.postgres {
		sql = "SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE database = current_database() AND owner = current_user"
	}
	rows, err := c.Query(sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	var out []string
	for _, r := range rows {
		if name := r[len(r)-1].Text; drawn.MatchString(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// drawn is a name of a prepared transaction of a run; the first group is the run's.
var drawn = regexp.MustCompile(`^(txnfuzz_[0-9]+_[0-9a-f]{8}_load)_[0-9]+$`)

// settleTime is how long is waited for what a session that is gone has prepared, or is still ending.
const settleTime = 15 * time.Second

// untilSettled looks again and again until something is settled, or for settleTime, and tells which. Clients stand still
// meanwhile. It has to ask: no server tells others that a session which has lost its client is gone.
func untilSettled(look func() (settled bool, err error)) (bool, error) {
	for end := time.Now().Add(settleTime); ; time.Sleep(20 * time.Millisecond) {
		settled, err := look()
		if settled || err != nil || time.Now().After(end) {
			return settled, err
		}
	}
}

// finish ends what is prepared, and reads what the branches have left.
func (x *twoPhase) finish(r *reader) ([]Violation, error) {
	found, err := x.endAll(r)
	if err != nil {
		return nil, err
	}
	locked, err := x.stillLocked(r)
	if err != nil {
		return nil, err
	}
	found = append(slices.Clone(found), locked...)
	var one, other, counted [][]int64
	in := between("id", x.e.first, x.e.last)
	var wrong []Violation
	_, err = untilSettled(func() (bool, error) {
		err := r.snapshot(func() (err error) {
			if one, err = r.numbers("SELECT id, token FROM branch WHERE " + in); err != nil {
				return err
			}
			if other, err = r.numbers("SELECT id, token FROM branch_other WHERE " + in); err == nil {
				counted, err = r.numbers("SELECT k, n FROM branch_count WHERE " + between("k", x.e.first, x.e.last))
			}
			return err
		})
		owed := false
		wrong, owed = x.judge(one, other, counted)
		return !owed, err // a COMMIT that was not answered may be under way
	})
	return append(found, wrong...), err
}

// endAll ends the branches that are prepared, and says which are not there any more or are there again.
func (x *twoPhase) endAll(r *reader) ([]Violation, error) {
	s := r.epoch.set
	_, err := untilSettled(func() (bool, error) {
		names, err := listed(r.conn, s.dialect)
		if err != nil {
			return false, err
		}
		left := 0
		for _, b := range x.all {
			there := slices.Contains(names, b.name)
			switch {
			case there && b.ended:
				x.back(b)
				// So that its locks are gone; the list shows if not.
				_, _ = r.conn.Change(endOf(s.dialect, b.name, b.sent))
				left++
			case there:
				left++
				e := b.sent
				if e == open {
					e = committed
				}
				b.sent = e
				if _, err := r.conn.Change(endOf(s.dialect, b.name, e)); err == nil {
					b.ended = true
				}
			case b.prepared && b.sent == open:
				x.note(violation(PreparedLost, b.ids, "%s was prepared and acknowledged, nobody has ended it, and the server does not know it any more",
					b.name))
				b.sent = rolledBack
				b.ended = true
			}
		}
		return left == 0, nil
	})
	return x.found, err
}

// lockWaits is how often the end of an epoch waits three seconds for rows whose transactions have all ended.
const lockWaits = 4

// stillLocked locks the rows of the epoch, of which nobody has any more. What a lost connection has begun may still be
// rolled back, so then nothing is said; nor on PostgreSQL, where the list of what is prepared is that of what holds locks.
func (x *twoPhase) stillLocked(r *reader) ([]Violation, error) {
	cutOff := func(b *branch) bool { return b.cutOff || b.prepared && !b.ended }
	if r.epoch.set.dialect.postgres || x.lost || slices.ContainsFunc(x.all, cutOff) {
		return nil, nil
	}
	if _, err := r.conn.Change("SET SESSION innodb_lock_wait_timeout = 3"); err != nil {
		return nil, err
	}
	sql := "SELECT id FROM branch WHERE " + between("id", x.e.first, x.e.last) + " FOR UPDATE"
	for n := 1; ; n++ {
		err := r.snapshot(func() error {
			_, err := r.conn.Query(sql)
			return err
		})
		switch o := r.epoch.set.host.Outcome(err, false); {
		case err == nil:
			return nil, nil
		case !locked[o.Code]:
			return nil, fmt.Errorf("%s: %w", sql, err)
		case n == lockWaits:
			return []Violation{violation(StillLocked, nil,
				"at the end of the epoch rows are still locked, although each branch was ended and that acknowledged, and no client is at work:\n%s fails with %v",
				sql, err)}, nil
		}
	}
}

// back takes note of a branch that is prepared although its end was acknowledged. A ROLLBACK that a kill undoes is none:
// by presumed abort whoever finds the branch again rolls it back again (X/Open XA, 2.3.3).
func (x *twoPhase) back(b *branch) {
	switch {
	case b.sent == committed:
		x.note(violation(Lost, b.ids, "at the end of the epoch %s is prepared, although its COMMIT was acknowledged", b.name))
	case !x.e.set.kills:
		x.note(violation(EndedTwice, b.ids, "at the end of the epoch %s is prepared, although its ROLLBACK was acknowledged", b.name))
	}
}

// note keeps a violation until the end of the epoch is read whole.
func (x *twoPhase) note(v Violation) {
	if !slices.ContainsFunc(x.found, func(f Violation) bool { return slices.Equal(f.Keys, v.Keys) }) {
		x.found = append(x.found, v)
	}
}

// judge holds the rows of both tables (id, token) and the counters (k, n) against what was ended. owed says that a COMMIT
// whose connection was lost has left nothing so far.
func (x *twoPhase) judge(one, other, counted [][]int64) (out []Violation, owed bool) {
	there := [2]map[int64]bool{{}, {}}
	for i, rows := range [][][]int64{one, other} {
		for _, r := range rows {
			there[i][r[0]] = true
		}
	}
	count := map[int64]int64{}
	for _, b := range x.all {
		n := 0
		for _, id := range b.ids {
			for _, t := range there {
				if t[id] {
					n++
				}
			}
		}
		all := n == 2*len(b.ids)
		if all && b.k != 0 {
			count[b.k]++
		}
		says := func(kind, format string, args ...any) {
			out = append(out, violation(kind, b.ids, "at the end of the epoch "+format, args...))
		}
		switch {
		case n > 0 && !all:
			says(HalfDone, "%d of %d rows of %s are there", n, 2*len(b.ids), b.name)
		case b.sent == committed && b.ended && !all:
			says(Lost, "nothing is there of %s, which was committed and acknowledged", b.name)
		case b.sent == committed && b.prepared && !all:
			owed = owed || b.cutOff
			says(PreparedLost, "nothing is there of %s, which was prepared and acknowledged, and sent COMMIT alone", b.name)
		case b.sent == rolledBack && n > 0:
			says(Kept, "the rows of %s are there, which was sent a ROLLBACK alone", b.name)
		case b.sent == open && n > 0:
			says(Kept, "the rows of %s are there, which nobody has committed", b.name)
		}
	}
	for _, c := range counted {
		if c[1] != count[c[0]] {
			out = append(out, violation(HalfDone, c[:1], "at the end of the epoch counter %d is %d, and %d of the committed transactions that raised it are there",
				c[0], c[1], count[c[0]]))
		}
	}
	return out, owed
}

// claim takes the lock that says that a run is alive whose names begin with name.
func claim(d *dialect, name string) string {
	if d.postgres {
		return fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", lockOf(name))
	}
	return fmt.Sprintf("DO GET_LOCK('%s', 0)", name)
}

// lockOf is a number for a name, where locks have numbers.
func lockOf(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // which never fails
	return int64(h.Sum64())
}

// Sweep rolls back what runs that are gone have left prepared, and with all what this run has. What others have
// prepared has other names. It is nothing for workloads that leave nothing behind.
func (s *Set) Sweep(c Conn, all bool) error {
	if !s.Workload.claims {
		return nil
	}
	left := ""
	settled, err := untilSettled(func() (bool, error) {
		names, err := listed(c, s.dialect)
		if err != nil {
			return false, err
		}
		left = ""
		for _, name := range names {
			run := drawn.FindStringSubmatch(name)[1]
			ours := run == s.name
			if ours && !all {
				continue
			}
			if !ours {
				dead, err := isDead(c, s.dialect, run)
				if err != nil {
					return false, err
				}
				if !dead {
					continue
				}
			}
			if _, err := c.Change(endOf(s.dialect, name, rolledBack)); err != nil {
				left = fmt.Sprintf("%s: %v", name, err)
			}
		}
		return left == "", nil
	})
	if err == nil && !settled {
		err = fmt.Errorf("roll back what is prepared: %s", left)
	}
	return err
}

// isDead says that nobody holds the lock of a run.
func isDead(c Conn, d *dialect, run string) (bool, error) {
	sql := fmt.Sprintf("SELECT IS_FREE_LOCK('%s')", run)
	if d.postgres {
		n := lockOf(run)
		sql = fmt.Sprintf("SELECT CASE WHEN pg_try_advisory_lock(%d) THEN pg_advisory_unlock(%[1]d)::int ELSE 0 END", n)
	}
	rows, err := c.Query(sql)
	if err != nil {
		return false, fmt.Errorf("%s: %w", sql, err)
	}
	return len(rows) == 1 && rows[0][0].Text == "1", nil
}
