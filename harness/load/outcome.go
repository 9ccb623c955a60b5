package load

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// abort is what is known of an error that servers answer with.
type abort struct {
	name string
	// ended: the server has rolled the transaction back by itself.
	ended bool
	// usual: clients that compete get it from a sound server.
	usual bool
}

// code is what a server calls an error: MySQL and those that speak its protocol a number, PostgreSQL a SQLSTATE.
type code string

// noCode: the connection was lost.
const noCode code = ""

// adapterBroken is a failure of an adapter.
const adapterBroken code = "adapter"

// committedNot is what a COMMIT comes to whose answer says that it has rolled back.
const committedNot code = "ROLLBACK"

// aborts are the errors after which a transaction surely did not commit, wherever
// they come. https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
// https://docs.pingcap.com/tidb/stable/error-codes
// https://www.postgresql.org/docs/current/errcodes-appendix.html
//
// Nodes of a cluster refuse at COMMIT what does not get past certification: Galera with 1213, a group with 3101. Before
// that Galera ends a transaction in whose way a certified one is, with 1213 at whatever statement comes next. A node that
// has lost the others answers 1047, or 1290 where it has made itself read-only.
// https://mariadb.com/docs/galera-cluster/galera-architecture/certification-based-replication
// https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations
// https://dev.mysql.com/doc/refman/en/group-replication-summary.html
// https://dev.mysql.com/doc/refman/en/group-replication-limitations.html
var aborts = map[code]abort{
	"1213":    {"deadlock", true, true},
	"1205":    {"lock wait timeout", false, true}, // only the statement, unless innodb_rollback_on_timeout
	"1020":    {"row changed since the snapshot", true, true},
	"1062":    {"duplicate key", false, true},
	"3572":    {"lock not free (NOWAIT)", false, true},
	"3101":    {"refused by group certification", true, true},
	lockedOut: {"deadlock, told in COMMIT", true, true},
	"3100":    {"refused by a hook of the group", true, true},
	"1047":    {"node is not ready", false, false},
	"1290":    {"node is read-only", false, false},
	"1836":    {"node is read-only", false, false},
	blocked:   {"blocked while the primary is changed", false, false},
	"1317":    {"interrupted", false, true},
	"3024":    {"statement timeout", false, true},
	// TiDB
	"8002": {"FOR UPDATE write conflict", true, true},
	"8022": {"commit failed, may be retried", true, true},
	"8028": {"schema changed", true, true},
	"8029": {"lock acquisition conflict", false, true},
	"9007": {"write conflict", true, true},
	"9004": {"resolve lock timeout", false, true},
	// PostgreSQL, where behind each of them only ROLLBACK is heard.
	"40001":      {"serialization failure", false, true},
	"40P01":      {"deadlock", false, true},
	"23505":      {"duplicate key", false, true},
	"55P03":      {"lock not available", false, true},
	"57014":      {"statement canceled", false, true},
	"25P02":      {"in a failed transaction", false, false},
	committedNot: {"in answer to COMMIT", false, false},
}

// lockedOut is what 1180, an error in COMMIT, comes to where it quotes 149, which is the number of a deadlock: a member
// of a group has taken the locks of a transaction for a certified one. Behind any other number 1180 leaves open what
// became of the transaction.
const lockedOut code = "1180-149"

// blocked is the answer to each statement that comes while group_replication_set_as_primary() runs, to COMMIT too: "All
// queries have been blocked".
const blocked code = "4094"

// corrupt are the errors with which a server says that it cannot read what it stored
// itself, or that an index and its table contradict each other. No competition of clients
// and no kill explains them; the pages of error codes above describe them, and of TiDB's
// https://docs.pingcap.com/tidb/stable/troubleshoot-data-inconsistency-errors
var corrupt = map[code]bool{
	"1034": true, // ER_NOT_KEYFILE: incorrect key file
	"1194": true, // ER_CRASHED_ON_USAGE: marked as crashed
	"1712": true, // ER_INDEX_CORRUPT
	"1812": true, // ER_TABLESPACE_MISSING
	"1877": true, // ER_TABLE_CORRUPT
	"1932": true, // MariaDB: the table is not in its engine
	// TiDB: a statement, a write and ADMIN CHECK met an index entry without its row, or
	// another value in it than in the row; an assertion failed.
	"8133": true, "8134": true, "8138": true, "8139": true, "8140": true, "8141": true, "8223": true,
	"XX001": true, // PostgreSQL: data_corrupted
	"XX002": true, // index_corrupted
}

// notYet are the answers to a new connection after which another one may be welcome: the connections of before
// are not gone yet, or the server is starting or going down.
var notYet = map[code]bool{"1040": true, "53300": true, "57P01": true, "57P02": true, "57P03": true}

// duplicateKey are the errors of a row whose key is there.
var duplicateKey = map[code]bool{"1062": true, "23505": true}

// outcome is how a transaction ended with an error. In a commit, only an error
// that is known for an abort tells that nothing was committed. Before the COMMIT
// was sent nothing can be, whatever happened to the connection: a server rolls
// back the transactions of a connection that it lost.
// https://dev.mysql.com/doc/refman/en/innodb-autocommit-commit-rollback.html
func outcome(err error, committing bool) (kv.Status, code) {
	c := errorCode(err)
	if strings.HasPrefix(string(c), adapterUnknown) {
		return kv.Info, c
	}
	if _, known := abortOf(c); known || !committing {
		return kv.Fail, c
	}
	return kv.Info, c
}

// outcome is that of a transaction of the run. A member of a group that a fault takes from the others rolls back what it
// has sent them and not heard of, and says so: they may have committed it.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-responses-failure-partition.html
func (r *run) outcome(err error, committing bool) (kv.Status, code) {
	status, by := outcome(err, committing)
	if committing && refusedByGroup[by] && r.breakable() != nil && r.down.Load() > 0 {
		return kv.Info, by
	}
	return status, by
}

// refusedByGroup are the errors with which a member of a group ends a transaction in its COMMIT.
var refusedByGroup = map[code]bool{"3100": true, "3101": true}

// errorCode is the server's answer, noCode if the connection was lost.
func errorCode(err error) code {
	var number *mysql.MySQLError
	var state *pgsession.Refusal
	var greeting *pgconn.PgError
	var adapter *adapterAnswer
	switch {
	case errors.As(err, &adapter):
		return adapter.code()
	case adapterFailed(err):
		return adapterBroken
	case errors.As(err, &number) && number.Number == 1180 && strings.Contains(number.Message, "error 149 "):
		return lockedOut
	case errors.As(err, &number):
		return code(strconv.Itoa(int(number.Number)))
	case errors.As(err, &state):
		return code(state.Answer.State)
	case errors.As(err, &greeting):
		return code(greeting.Code)
	case errors.As(err, new(rolledBack)):
		return committedNot
	}
	return noCode
}

// String tells an error code to people.
func (c code) String() string {
	if c == noCode {
		return "connection lost"
	}
	if a, ok := aborts[c]; ok {
		return string(c) + " " + a.name
	}
	return string(c)
}
