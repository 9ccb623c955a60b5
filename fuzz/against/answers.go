package against

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// compareAnswers compares what the servers answered to one statement. An answer has one
// difference at most: the others follow from it.
func (p *pair) compareAnswers(i int) {
	p.out.Statements++
	a, b := &p.h[0].Stmts[i].Result, &p.h[1].Stmts[i].Result
	kind := Kind("")
	switch {
	case code(a) != code(b):
		kind = Error
	case a.Err != nil:
		return
	case !slices.Equal(bag(a.Rows), bag(b.Rows)):
		kind = Rows
	case other(a.Matched, b.Matched), other(a.Changed, b.Changed), other(a.Affected, b.Affected):
		kind = Count
	case a.Warnings != b.Warnings:
		p.add(Difference{Kind: Warnings, Stmt: i, First: spelling.Count(a.Warnings, "warning"), Second: spelling.Count(b.Warnings, "warning")})
		return
	default:
		return
	}
	p.add(Difference{Kind: kind, Stmt: i, First: answer(a), Second: answer(b), codes: [2]uint16{code(a), code(b)}})
}

// other reports whether two counts differ. A server that does not tell one, as MariaDB of an
// UPDATE whose condition is never true, does not say another.
func other(a, b int64) bool { return a != b && a >= 0 && b >= 0 }

// code is the number of an answer's error, 0 for none.
func code(r *history.Result) uint16 {
	if r.Err == nil {
		return 0
	}
	return r.Err.Code
}

// sameTables compares what the tables hold, and reports whether it is the same.
func (p *pair) sameTables(kind Kind, a, b []history.Table) bool {
	if len(a) != len(b) {
		p.add(Difference{Kind: kind, Stmt: -1, First: fmt.Sprintf("%d tables", len(a)), Second: fmt.Sprintf("%d tables", len(b))})
		return false
	}
	same := true
	for i := range a {
		if a[i].Name != b[i].Name || !slices.Equal(bag(a[i].Rows), bag(b[i].Rows)) {
			p.add(Difference{Kind: kind, Stmt: -1, First: a[i].Name + ": " + timeline.Rows(a[i].Rows), Second: b[i].Name + ": " + timeline.Rows(b[i].Rows)})
			same = false
		}
	}
	return same
}

// bag gives each row as a text, in an order that does not depend on the server's.
func bag(rows [][]history.Cell) []string {
	out := history.RowTexts(rows)
	slices.Sort(out)
	return out
}

// answer tells an answer on one line.
func answer(r *history.Result) string {
	switch {
	case r.Err != nil:
		return r.Err.String()
	case r.Columns != nil:
		return timeline.Rows(r.Rows)
	case r.Matched >= 0:
		return fmt.Sprintf("%d matched, %d changed", r.Matched, r.Changed)
	case r.Affected > 0:
		return fmt.Sprintf("%d affected", r.Affected)
	}
	return "ok"
}

var (
	errorShape = regexp.MustCompile(`^error \d+`)
	stepShape  = regexp.MustCompile(`^tx\d+ goes on.*`)
)

// shape is what an answer has in common with others like it.
func shape(answer string) string {
	switch {
	case errorShape.MatchString(answer):
		return errorShape.FindString(answer)
	case stepShape.MatchString(answer):
		return "goes on"
	case strings.HasPrefix(answer, "waits"), strings.HasPrefix(answer, "the run"), strings.HasPrefix(answer, "it ran"), strings.HasPrefix(answer, "violation "), answer == "ok", answer == "known":
		return answer
	case strings.HasPrefix(answer, "no rows"):
		return "no rows"
	}
	return "an answer"
}

// Answer tells on one line what came of a statement.
func Answer(st *history.Stmt) string {
	waited := ""
	if len(st.Waits) > 0 {
		waited = "waits, "
	}
	switch {
	case st.Return == 0:
		return waited + "no answer"
	case st.Interrupted:
		return "waits to the end"
	}
	return waited + answer(&st.Result)
}
