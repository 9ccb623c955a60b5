package promise

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ofLocks holds the errors of deadlocks, waits that took too long or that nobody wanted, changed records
// and write conflicts: only another transaction can be the cause.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://docs.pingcap.com/tidb/stable/error-codes
var ofLocks = map[uint16]bool{1020: true, 1205: true, 1213: true, 3572: true, 9007: true}

// errRecordChanged is MariaDB's of a row that was changed behind the snapshot.
const errRecordChanged = 1020

// ofOthers holds further errors that no server says of a statement alone: of interruptions, of a
// statement's time, and of TiDB's retries and schema, which other databases change, too.
var ofOthers = map[uint16]bool{1317: true, 1969: true, 3024: true, 8002: true, 8022: true, 8028: true}

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
}

func constraint(r *history.Result) bool { return OfConstraint(r.Err) }

// OfConstraint reports whether an error says that a constraint does not hold.
func OfConstraint(e *history.Error) bool { return e != nil && constraints[e.Code] }

// errDuplicate is that of a unique key.
const errDuplicate = 1062

func duplicate(r *history.Result) bool { return r.Err != nil && r.Err.Code == errDuplicate }
