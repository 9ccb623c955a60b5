package commute

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Outcome says how two runs compare.
type Outcome int

// The outcomes.
const (
	Equal Outcome = iota
	// WaitsDiffer: other statements waited, or a deadlock chose another victim. Nothing
	// promises in which order locks are granted, or who is the victim.
	WaitsDiffer
	Differ
)

// Compare holds a run against one of the same case with two statements swapped. Of two runs
// that differ, what says how. The caller must know that the difference is not chance: each
// order differs from the other in every run.
func Compare(h, swapped *history.History) (o Outcome, what string) {
	if h.End != swapped.End || len(h.Stmts) != len(swapped.Stmts) {
		return WaitsDiffer, "one run ended in another way"
	}
	a, b := bySession(h), bySession(swapped)
	for session, list := range a {
		other := b[session]
		if len(list) != len(other) {
			return WaitsDiffer, "one run left statements out"
		}
		for i := range list {
			if len(list[i].Waits) > 0 != (len(other[i].Waits) > 0) {
				return WaitsDiffer, fmt.Sprintf("statement %d of tx%d waits in one run", i+1, session)
			}
			if victim(list[i]) != victim(other[i]) {
				return WaitsDiffer, fmt.Sprintf("statement %d of tx%d is the victim of a deadlock in one run", i+1, session)
			}
		}
	}
	for _, session := range slices.Sorted(maps.Keys(a)) {
		for i, st := range a[session] {
			if x, y := answer(st), answer(b[session][i]); x != y {
				return Differ, fmt.Sprintf("statement %d of tx%d answers %s; with the two swapped, %s", i+1, session, x, y)
			}
		}
	}
	if x, y := tables(h.Final), tables(swapped.Final); x != y {
		return Differ, fmt.Sprintf("the end is %s; with the two swapped, %s", x, y)
	}
	return Equal, ""
}

func bySession(h *history.History) map[int][]*history.Stmt {
	out := map[int][]*history.Stmt{}
	for i := range h.Stmts {
		out[h.Stmts[i].Session] = append(out[h.Stmts[i].Session], &h.Stmts[i])
	}
	return out
}

// errDeadlock is ER_LOCK_DEADLOCK.
const errDeadlock = 1213

func victim(st *history.Stmt) bool { return st.Result.Err != nil && st.Result.Err.Code == errDeadlock }

// answer is what a client sees, rows in no order.
func answer(st *history.Stmt) string {
	r := &st.Result
	switch {
	case st.Return == 0:
		return "nothing"
	case r.Err != nil:
		return fmt.Sprintf("error %d", r.Err.Code)
	case len(r.Columns) > 0:
		return rows(r.Rows)
	}
	return fmt.Sprintf("%d affected, %d matched, %d changed", r.Affected, r.Matched, r.Changed)
}

func rows(list [][]history.Cell) string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = history.RowText(r, func(c history.Cell) string {
			if !c.Null && c.Text == "NULL" {
				return "'NULL'"
			}
			return c.Key()
		})
	}
	if len(out) == 0 {
		return "no rows"
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func tables(list []history.Table) string {
	var out []string
	for i := range list {
		out = append(out, list[i].Name+": "+rows(list[i].Rows))
	}
	return strings.Join(out, "; ")
}
