package oracle

import (
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// count fills in how much of the history was judged: statements that touch
// tables, and those beside whose answer no other is allowed. A replay
// that does not count leaves it as it is.
func count(v *Verdict, r *mvcc.Replay, h *history.History) {
	if !r.Counts() {
		return
	}
	v.Statements, v.Judged = 0, 0
	for i := range h.Stmts {
		s := &r.Steps[i]
		if !s.Kind.TouchesRows() {
			continue
		}
		v.Statements++
		if s.Expected != nil && s.Expected.Only() {
			v.Judged++
		}
	}
}

func levelNames(h *history.History) string {
	seen := map[string]bool{}
	var out []string
	for _, l := range h.Levels {
		if n := l.Short(); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return strings.Join(out, "+")
}
