package promise

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ofLocks holds the errors of deadlocks, waits that took too long or that nobody wanted, changed records
// and write conflicts: only another transaction can be the cause.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://docs.pingcap.com/tidb/stable/error-codes
// https://www.postgresql.org/docs/current/errcodes-appendix.html (40001, 40P01, 55P03; see history.NumberOf)
var ofLocks = map[uint16]bool{
	1020: true, 1205: true, 1213: true, 3572: true, 9007: true,
	errSerialization: true, errDeadlocked: true, 55903: true,
}

// errDeadlocked is PostgreSQL's of the victim of a deadlock, which tells for whom that waited.
const errDeadlocked = 40901

// errSerialization is PostgreSQL's of a transaction that cannot be where its reads and writes put it.
const errSerialization = 40001

// errInFailed is PostgreSQL's of whatever a transaction is sent that an error has aborted.
const errInFailed = 25902

// errSyntax is PostgreSQL's of a text that it cannot read, which it does before all else.
// https://www.postgresql.org/docs/current/parser-stage.html
const errSyntax = 42601

// refusal reports whether an error is one that a statement may meet in an aborted transaction.
func refusal(e *history.Error) bool { return e.Code == errInFailed || e.Code == errSyntax }

// errRecordChanged is MariaDB's of a row that was changed behind the snapshot.
const errRecordChanged = 1020

// ofOthers holds further errors that no server says of a statement alone: of interruptions, of a
// statement's time, and of TiDB's retries and schema, which other databases change, too.
var ofOthers = map[uint16]bool{57014: true, 1317: true, 1969: true, 3024: true, 8002: true, 8022: true, 8028: true}

// retryable reports whether an error may take the place of any answer.
func (j *judge) retryable(e *history.Error) bool {
	return e != nil && (j.ofLocks(e) || ofOthers[e.Means()])
}

// ofLocks reports whether only another transaction can be the cause of an error.
func (j *judge) ofLocks(e *history.Error) bool {
	d := j.h.Server.Declared
	return ofLocks[e.Means()] || d != nil && slices.Contains(d.Conflicts, history.ConflictOf(e))
}

// constraints holds the errors of unique and foreign keys, NOT NULL and CHECK, and of SIGNAL. Of two that
// are due at once no manual says which is told.
var constraints = map[uint16]bool{
	1022: true, 1048: true, 1062: true, 1216: true, 1217: true, 1451: true, 1452: true, 1557: true, 1586: true,
	1644: true, 1761: true, 1762: true, 3819: true, 4025: true,
	23001: true, 23502: true, 23503: true, errUnique: true, 23514: true, errExcluded: true,
}

func constraint(r *history.Result) bool { return OfConstraint(r.Err) }

// OfConstraint reports whether an error says that a constraint does not hold.
func OfConstraint(e *history.Error) bool { return e != nil && constraints[e.Code] }

// errDuplicate is that of a unique key.
const errDuplicate = 1062

// errUnique is PostgreSQL's, errExcluded that of an exclusion constraint (23P01), which is checked in the same way.
// https://www.postgresql.org/docs/current/sql-createtable.html (EXCLUDE)
const errUnique, errExcluded = 23505, 23901

func duplicate(r *history.Result) bool {
	return r.Err != nil && (r.Err.Code == errDuplicate || r.Err.Code == errUnique || r.Err.Code == errExcluded)
}
