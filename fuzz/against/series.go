package against

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sameSeries reports whether two servers are of one series, such as MySQL 9.7: builds of
// one have the same optimiser, locks and messages, and what a promise leaves open they
// should decide alike.
func sameSeries(a, b history.Server) bool {
	return a.DBMS == b.DBMS && series(a.Version) == series(b.Version)
}

// series is major and minor of a version.
func series(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
