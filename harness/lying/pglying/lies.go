package pglying

import (
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

const (
	rc  = corpus.ReadCommitted
	rr  = corpus.RepeatableRead
	ser = corpus.Serializable
)

var (
	onlyRC     = []corpus.Level{rc}
	onlyRR     = []corpus.Level{rr}
	onlySER    = []corpus.Level{ser}
	weaker     = []corpus.Level{rc, rr}
	onSnapshot = []corpus.Level{rr, ser}
	everywhere = []corpus.Level{rc, rr, ser}
)

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	inFailedTxn          = "25P02"
)

// Lies are the planted bugs. READ UNCOMMITTED is READ COMMITTED on PostgreSQL, so that it is not among the levels.
var Lies = []Lie{
	{Name: "snapshot-renewed-by-each-statement", Breaks: "non-repeatable read, lost update", Levels: onlyRR,
		answer: levelAs("REPEATABLE READ", "READ COMMITTED")},
	{Name: "snapshot-kept-by-the-transaction", Breaks: "stale read", Levels: onlyRC,
		answer: levelAs("READ COMMITTED", "REPEATABLE READ")},
	{Name: "serializable-served-as-repeatable-read", Breaks: "write skew", Levels: onlySER,
		answer: levelAs("SERIALIZABLE", "REPEATABLE READ")},
	{Name: "serializable-served-as-read-committed", Breaks: "write skew, lost update", Levels: onlySER,
		answer: levelAs("SERIALIZABLE", "READ COMMITTED")},
	{Name: "snapshot-taken-at-begin", Breaks: "stale read", Levels: onlyRR, answer: earlySnapshot},
	{Name: "snapshot-taken-by-the-second-statement", Breaks: "read skew", Levels: onlyRR, answer: lateSnapshot},
	{Name: "write-conflict-told-ok", Breaks: "lost write", Levels: onSnapshot, answer: conflictToldOK},
	{Name: "transaction-silently-begun-anew", Breaks: "read skew", Levels: onSnapshot, answer: begunAnew},
	{Name: "deadlock-victim-told-ok", Breaks: "lost write", Levels: everywhere, answer: toldOK(deadlockDetected)},
	{Name: "recheck-left-out-of-writes", Breaks: "lost update", Levels: onlyRC, answer: writeWithoutRecheck},
	{Name: "recheck-left-out-of-locking-reads", Breaks: "stale read", Levels: onlyRC, answer: readWithoutRecheck},
	{Name: "write-lost-after-a-wait", Breaks: "lost write", Levels: everywhere, answer: lostAfterWait},
	{Name: "locking-read-takes-no-lock", Breaks: "missing lock", Levels: weaker, answer: takesNoLock},
	{Name: "for-update-taken-as-for-key-share", Breaks: "missing lock", Levels: everywhere, answer: weakLock},
	{Name: "commit-is-lost", Breaks: "durability", Levels: everywhere,
		answer: amidOthers(replaced("COMMIT", "ROLLBACK"))},
	{Name: "rollback-is-kept", Breaks: "atomicity, aborted read", Levels: everywhere,
		answer: amidOthers(replaced("ROLLBACK", "COMMIT"))},
	{Name: "rollback-to-savepoint-ignored", Breaks: "atomicity", Levels: everywhere, Form: "ROLLBACK TO",
		answer: amidOthers(keptBehindSavepoint)},
	{Name: "autocommitted-write-is-lost", Breaks: "durability", Levels: everywhere, answer: amidOthers(autocommitLost)},
	{Name: "writes-committed-at-once", Breaks: "dirty read, atomicity", Levels: everywhere, answer: committedAtOnce},
	{Name: "error-aborts-nothing", Breaks: "atomicity", Levels: everywhere, answer: amidOthers(abortsNothing)},
	{Name: "failed-transaction-commits", Breaks: "atomicity", Levels: everywhere, answer: amidOthers(failedCommits)},
	{Name: "conflict-without-a-cause", Breaks: "unjustified abort", Levels: everywhere,
		answer: amidOthers(without(serializationFailure, "could not serialize access due to concurrent update"))},
	{Name: "deadlock-without-a-cause", Breaks: "unjustified abort", Levels: everywhere,
		answer: amidOthers(without(deadlockDetected, "deadlock detected"))},
	{Name: "row-missing-from-an-answer", Breaks: "lost row", Levels: everywhere, answer: amidOthers(rowMissing)},
	{Name: "row-doubled-in-an-answer", Breaks: "phantom row", Levels: everywhere, answer: amidOthers(rowDoubled)},
	{Name: "select-answered-from-a-cache", Breaks: "stale read, read your writes", Levels: everywhere, answer: cached},
	{Name: "affected-rows-miscounted", Breaks: "wrong count", Levels: everywhere, answer: amidOthers(miscounted)},
	{Name: "select-shows-the-past", Breaks: "stale read (real time)", Levels: everywhere, answer: inThePast},
	{Name: "snapshot-imported-from-before", Breaks: "stale read (real time)", Levels: onlyRR, answer: importedSnapshot},
	{Name: "conflict-told-amid-uncommitted-writes", Breaks: "unjustified abort", Levels: weaker,
		answer: amidWrites(without(serializationFailure, "could not serialize access due to concurrent update"))},
	{Name: "deadlock-told-amid-uncommitted-writes", Breaks: "unjustified abort", Levels: everywhere,
		answer: amidWrites(without(deadlockDetected, "deadlock detected"))},
	{Name: "for-share-taken-as-for-update", Breaks: "needless wait", Levels: everywhere, Form: "FOR SHARE",
		answer: strongLock},
	{Name: "row-missing-while-three-are-open", Breaks: "lost row", Levels: everywhere, Transactions: 3,
		answer: amidTwoOthers(rowMissing)},
	{Name: "notification-of-aborted-transaction", Breaks: "atomicity of notifications", Levels: everywhere,
		Form: "NOTIFY", OwnWords: true, answer: notifiedAnyway},
	{Name: "notification-is-lost", Breaks: "lost notification", Levels: everywhere, Form: "LISTEN", OwnWords: true,
		answer: notificationLost},
	{Name: "notifications-are-reversed", Breaks: "order of notifications", Levels: everywhere, Form: "LISTEN",
		OwnWords: true, answer: notificationsReversed},
	{Name: "sequence-value-given-twice", Breaks: "uniqueness of a sequence's values", Levels: everywhere,
		Form: "nextval", OwnWords: true, answer: amidOthers(valueTwice)},
}

type lie = func(s *session, sql string) (harness.Reply, error)

// amidOthers tells a lie only while another session is in a transaction: told always it would be a bug that has
// nothing to do with transactions.
func amidOthers(l lie) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		if s.others() > 0 || s.feigned {
			return l(s, sql)
		}
		return s.ask(sql)
	}
}

// amidTwoOthers tells it only while two other sessions are in transactions.
func amidTwoOthers(l lie) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		if s.others() > 1 {
			return l(s, sql)
		}
		return s.ask(sql)
	}
}

// amidWrites tells it only while another session has written what is not committed.
func amidWrites(l lie) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		if s.amidWrites() {
			return l(s, sql)
		}
		return s.ask(sql)
	}
}

// levelAs asks the server for another level than the client did.
func levelAs(from, to string) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		switch {
		case verb(sql) == "SET" && strings.Contains(sql, "ISOLATION LEVEL"):
			if s.misled = strings.HasSuffix(sql, from); s.misled {
				sql = strings.TrimSuffix(sql, from) + to
			}
		case s.misled && s.others() > 0: // the level is set once for many cases
			s.tell()
		}
		return s.ask(sql)
	}
}

// replaced sends another statement than the client in a transaction that has not failed.
func replaced(from, to string) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		if s.active && strings.EqualFold(strings.TrimSuffix(strings.TrimSpace(sql), ";"), from) {
			s.tell()
			r, err := s.ask(to)
			r.Tag = from
			return r, err
		}
		return s.ask(sql)
	}
}

// earlySnapshot has BEGIN take the snapshot, and not the first statement behind it. A query without a table
// takes one. https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
func earlySnapshot(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || !begins(sql) {
		return r, err
	}
	s.tell()
	taken, err := s.ask("SELECT 1")
	r.At = taken.At
	return r, err
}

// lateSnapshot lets the second statement take the snapshot again.
func lateSnapshot(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || !s.first || !s.active || !plain(sql) {
		return r, err
	}
	s.tell()
	begun, err := s.also("COMMIT", "BEGIN")
	r.At = begun.At
	return r, err
}

// toldOK answers a statement that has failed in one of some ways as if it had not, and lets its transaction go on.
func toldOK(states ...string) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		failed, undone, err := s.revocable(sql, func(r *harness.Reply) bool {
			query, _ := harmless(sql)
			return failedAs(r, states...) && query != ""
		})
		if err != nil || !undone {
			return failed, err
		}
		s.tell()
		r, _, err := s.pretend(sql)
		return r, err
	}
}

// conflictToldOK leaves SSI's conflicts alone, behind which a transaction cannot be committed whatever is told.
func conflictToldOK(s *session, sql string) (harness.Reply, error) {
	if plain(sql) {
		return s.ask(sql)
	}
	return toldOK(serializationFailure)(s, sql)
}

// begunAnew repeats a transaction that has failed on the newest snapshot, and answers its last statement from
// there. The client keeps the answers that it has got.
func begunAnew(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || !s.active || !isData(sql) || !failedAs(&r, serializationFailure) {
		return r, err
	}
	again, err := s.also(slices.Concat([]string{"ROLLBACK"}, s.done, []string{sql})...)
	if err != nil || again.Err != nil {
		r.At = again.At
		return r, err
	}
	s.tell()
	return again, nil
}

// writeWithoutRecheck finds its rows and computes what it writes before it waits, and looks at neither again.
func writeWithoutRecheck(s *session, sql string) (harness.Reply, error) {
	if table(sql) == "" || s.others() == 0 || s.open && !s.active {
		return s.ask(sql)
	}
	r, err := s.ask(primaryKey(table(sql)))
	if err != nil || r.Err != nil {
		return r, err
	}
	var key []string
	for _, row := range r.Rows {
		key = append(key, row[0].Text)
	}
	if len(key) > 0 {
		s.tell()
		sql = withoutRecheck(sql, key)
	}
	return s.ask(sql)
}

// readWithoutRecheck answers with the rows as they were before the wait.
func readWithoutRecheck(s *session, sql string) (harness.Reply, error) {
	query, locks := unlocked(sql)
	if !locks || !s.active {
		return s.ask(sql)
	}
	before, err := s.ask(query)
	if err != nil || before.Err != nil {
		return before, err
	}
	r, err := s.ask(sql)
	if err == nil && r.Err == nil && !sameRows(&before, &r) {
		s.tell()
		r.Rows, r.Affected = before.Rows, before.Affected
	}
	return r, err
}

// waited is longer than a statement of a case runs mostly without a wait for a lock.
const waited = 2 * time.Millisecond

// lostAfterWait undoes a write that had to wait.
func lostAfterWait(s *session, sql string) (harness.Reply, error) {
	if !writes(sql) || s.others() == 0 {
		return s.ask(sql)
	}
	begun := time.Now()
	r, undone, err := s.revocable(sql, func(r *harness.Reply) bool {
		return r.Err == nil && r.Affected > 0 && r.At.Sub(begun) > waited
	})
	if undone {
		s.tell()
	}
	return r, err
}

func takesNoLock(s *session, sql string) (harness.Reply, error) {
	if query, locks := unlocked(sql); locks && s.active {
		s.tell()
		sql = query
	}
	return s.ask(sql)
}

func strongLock(s *session, sql string) (harness.Reply, error) {
	if rest, ok := strings.CutSuffix(sql, " FOR SHARE"); ok && s.active {
		s.tell()
		sql = rest + " FOR UPDATE"
	}
	return s.ask(sql)
}

func weakLock(s *session, sql string) (harness.Reply, error) {
	if rest, ok := strings.CutSuffix(sql, " FOR UPDATE"); ok && s.active {
		s.tell()
		sql = rest + " FOR KEY SHARE"
	}
	return s.ask(sql)
}

// keptBehindSavepoint goes back to a savepoint without undoing anything: those behind it are gone, and it is there.
func keptBehindSavepoint(s *session, sql string) (harness.Reply, error) {
	if verb(sql) != "ROLLBACK" || ends(sql) || !s.active {
		return s.ask(sql)
	}
	words := strings.Fields(strings.TrimSuffix(sql, ";"))
	name := words[len(words)-1]
	s.tell()
	return s.also("RELEASE SAVEPOINT "+name, "SAVEPOINT "+name)
}

func autocommitLost(s *session, sql string) (harness.Reply, error) {
	if s.open || !writes(sql) {
		return s.ask(sql)
	}
	if r, err := s.ask("BEGIN"); err != nil || r.Err != nil {
		return r, err
	}
	r, err := s.ask(sql)
	if err != nil {
		return r, err
	}
	end, err := s.ask("ROLLBACK")
	r.InTxn, r.At = end.InTxn, end.At
	if r.Affected > 0 {
		s.tell()
	}
	return r, err
}

// committedAtOnce commits each write as soon as it is done and opens a new transaction.
func committedAtOnce(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || !s.active || !writes(sql) || r.Err != nil || r.Affected == 0 {
		return r, err
	}
	s.tell()
	begun, err := s.also("COMMIT", "BEGIN")
	if begun.Err != nil { // SSI does not let it be committed
		return begun, err
	}
	r.At = begun.At
	return r, err
}

// abortsNothing lets a transaction go on behind an error, and says so.
func abortsNothing(s *session, sql string) (harness.Reply, error) {
	r, undone, err := s.revocable(sql, func(r *harness.Reply) bool { return r.Err != nil })
	if undone {
		s.tell()
	}
	return r, err
}

// failedCommits tells the client of a transaction that has failed, and commits what it did before the error.
func failedCommits(s *session, sql string) (harness.Reply, error) {
	switch {
	case s.feigned && verb(sql) == "COMMIT":
		s.tell()
		return s.ask(sql)
	case s.feigned && verb(sql) == "ROLLBACK":
		s.feigned = false
		return s.ask(sql)
	case s.feigned:
		r, err := s.ask("SELECT 1")
		r.Columns, r.Rows, r.Affected, r.InTxn = nil, nil, -1, false
		r.Err = refusal(inFailedTxn, "current transaction is aborted, commands ignored until end of transaction block")
		return r, err
	}
	r, undone, err := s.revocable(sql, func(r *harness.Reply) bool { return r.Err != nil })
	if undone {
		s.feigned, r.InTxn = true, false
	}
	return r, err
}

// without fails a transaction in which a write has met nobody that would be a cause.
func without(state, message string) lie {
	return func(s *session, sql string) (harness.Reply, error) {
		if !writes(sql) {
			return s.ask(sql)
		}
		r, undone, err := s.revocable(sql, func(r *harness.Reply) bool { return r.Err == nil })
		if err != nil || !undone {
			return r, err
		}
		s.tell()
		return s.fail(r, state, message)
	}
}

func rowMissing(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if n := len(r.Rows); err == nil && plain(sql) && n > 1 {
		s.tell()
		r.Rows, r.Affected = r.Rows[:n-1], r.Affected-1
	}
	return r, err
}

func rowDoubled(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if n := len(r.Rows); err == nil && plain(sql) && n > 0 {
		s.tell()
		r.Rows, r.Affected = append(r.Rows, r.Rows[n-1]), r.Affected+1
	}
	return r, err
}

// cached answers a plain SELECT that this transaction has asked before with the old answer.
func cached(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || !s.active || !plain(sql) {
		return r, err
	}
	if old, ok := s.cache[sql]; ok {
		if !sameRows(&old, &r) {
			s.tell()
		}
		r.Rows, r.Affected = old.Rows, old.Affected
		return r, nil
	}
	if s.cache == nil {
		s.cache = map[string]harness.Reply{}
	}
	s.cache[sql] = r
	return r, nil
}

func miscounted(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err == nil && r.Err == nil && s.active && writes(sql) && r.Affected > 0 {
		s.tell()
		r.Affected++
	}
	return r, err
}
