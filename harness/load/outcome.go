package load

import (
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

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

// aborts are the errors after which a transaction surely did not commit, wherever
// they come. https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
// https://docs.pingcap.com/tidb/stable/error-codes
var aborts = map[uint16]abort{
	1213: {"deadlock", true, true},
	1205: {"lock wait timeout", false, true}, // only the statement, unless innodb_rollback_on_timeout
	1020: {"row changed since the snapshot", true, true},
	1062: {"duplicate key", false, true},
	3572: {"lock not free (NOWAIT)", false, true},
	3101: {"refused by group certification", true, true},
	1317: {"interrupted", false, true},
	3024: {"statement timeout", false, true},
	// TiDB
	8002: {"FOR UPDATE write conflict", true, true},
	8022: {"commit failed, may be retried", true, true},
	8028: {"schema changed", true, true},
	8029: {"lock acquisition conflict", false, true},
	9007: {"write conflict", true, true},
	9004: {"resolve lock timeout", false, true},
}

// corrupt are the errors with which a server says that it cannot read what it stored
// itself, or that an index and its table contradict each other. No competition of clients
// and no kill explains them; the pages of error codes above describe them, and of TiDB's
// https://docs.pingcap.com/tidb/stable/troubleshoot-data-inconsistency-errors
var corrupt = map[uint16]bool{
	1034: true, // ER_NOT_KEYFILE: incorrect key file
	1194: true, // ER_CRASHED_ON_USAGE: marked as crashed
	1712: true, // ER_INDEX_CORRUPT
	1812: true, // ER_TABLESPACE_MISSING
	1877: true, // ER_TABLE_CORRUPT
	1932: true, // MariaDB: the table is not in its engine
	// TiDB: a statement, a write and ADMIN CHECK met an index entry without its row, or
	// another value in it than in the row; an assertion failed.
	8133: true, 8134: true, 8138: true, 8139: true, 8140: true, 8141: true, 8223: true,
}

// outcome is how a transaction ended with an error. In a commit, only an error
// that is known for an abort tells that nothing was committed. Before the COMMIT
// was sent nothing can be, whatever happened to the connection: a server rolls
// back the transactions of a connection that it lost.
// https://dev.mysql.com/doc/refman/en/innodb-autocommit-commit-rollback.html
func outcome(err error, committing bool) (status kv.Status, code uint16) {
	code = errorCode(err)
	if _, known := aborts[code]; known || !committing {
		return kv.Fail, code
	}
	return kv.Info, code
}

// errorCode is the number of the server's answer, 0 if the connection was lost.
func errorCode(err error) uint16 {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return answer.Number
	}
	return 0
}

// abortName tells an error code for people.
func abortName(code uint16) string {
	if code == 0 {
		return "connection lost"
	}
	if a, ok := aborts[code]; ok {
		return fmt.Sprintf("%d %s", code, a.name)
	}
	return fmt.Sprintf("%d", code)
}
