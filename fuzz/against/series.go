package against

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sameSeries reports whether two servers are of one series, such as MySQL 9.7: builds of
// one have the same optimiser, locks and messages, and what a promise leaves open they
// should decide alike.
func sameSeries(a, b history.Server) bool {
	return a.DBMS == b.DBMS && series(a) == series(b)
}

// series is major and minor of a version; PostgreSQL's minor ones only mend.
// https://www.postgresql.org/support/versioning/
func series(s history.Server) string {
	of := 2
	if s.DBMS == history.PostgreSQL {
		of = 1
	}
	parts := strings.SplitN(s.Version, ".", 3)
	return strings.Join(parts[:min(len(parts), of)], ".")
}
