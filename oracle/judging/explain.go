package judging

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// losses says in words what the oracle's slugs stand for; %s is the detail.
var losses = map[string]string{
	"an error beside SQL that the server computes": "a statement failed, or should have, whose SQL only the server can compute: on which row it fails is not known; it answered %s",
	"silence": "the server could not be asked whether a statement waits, and one was silent for long",
	"order in which a condition is evaluated":       "it depends on the order in which the server evaluates a condition %s",
	"auto-increment exhausted":                      "the AUTO_INCREMENT column has run out of values",
	"set-up of unknown effect":                      "the set-up has a statement whose effect the oracle does not know: %s",
	"level of one transaction, carried over or not": "a transaction whose level or access mode was set for it alone ended without COMMIT or ROLLBACK, and servers differ in what the next one has",
	"engine":                                 "a table's engine, %s, has no transactions",
	"view":                                   "the oracle does not know the effect of a statement on view %s",
	"table that no set-up line creates":      "the oracle knows no table %s, although the server has one",
	"other columns than the server's":        "the oracle counts other columns of table %s than the server",
	"value that cannot be read":              "the oracle cannot read a value that the server returned: %s",
	"table in the end that no line creates":  "the oracle knows no table %s, although the server has one in the end",
	"work":                                   "the case needs more work than the oracle does for one: its rows, its statements and the places where they may have waited multiply",
	"text error predicted":                   "the oracle expects error %s, for its syntax, names, clauses or options, of a statement to which the server gave another answer",
	"schema":                                 "the oracle cannot read a table's definition: %s",
	"solver":                                 "the oracle cannot compute a statement's effect: %s",
	"key":                                    "the oracle cannot compute a key's value: %s",
	"server-lost":                            "the connection to the server broke before the end",
	oracle.ReasonElsewhere:                   "a statement waited where the rules give it no reason to, by what the server told: no path on which all wait at the places told gives these answers",
	"out-of-time":                            "the run was ended before its last statement returned",
	"unsupported: a write to several tables": "the oracle does not know the effect of a write to several tables",
	"unsupported: a write to several tables that fails":                    "the oracle does not know on which row a write to several tables failed",
	"unsupported: a write to several tables that waits while others write": "the oracle does not know which rows a write to several tables had read before others wrote there, while it waited",
	"unsupported: uncommitted rows amid a write to several tables":         "the oracle does not know which rows a write to several tables had changed when it waited, and uncommitted data was read",
	"unsupported: a condition that may be found impossible":                "the server may have found a statement's condition impossible before it looked at a table, and could not be asked for the plan",
	"unsupported: a table that no set-up line creates":                     "a statement names a table that no set-up line creates",
	"unsupported: an INSERT into something else than a table":              "an INSERT goes into something else than a table",
}

// Explain makes of the verdict unknown on a case that ran a sentence for
// people: what the oracle does not know and, where that can be told, at which
// step it met it. The reason stays, as what such verdicts are counted by.
func Explain(v *oracle.Verdict, c *corpus.Case, h *history.History) {
	if v.Outcome != oracle.Unknown || h == nil || v.Actual != "" {
		return
	}
	slug := v.Reason
	if strings.HasPrefix(v.Expected, unsupported) {
		slug = v.Expected // a loss inside of another
	}
	says, known := losses[slug]
	what, lacks := strings.CutPrefix(slug, unsupported)
	switch {
	case known:
		says = strings.Replace(says, "%s", PlainSQL(v.Expected), 1)
	case slug == unsupported+"a statement of unknown effect":
		says = "the oracle does not know the effect of " + v.Expected
	case lacks:
		says = "the oracle does not know this SQL: " + PlainSQL(what)
	default:
		return
	}
	if slug == "work" { // which would be spent again for each statement
		v.Expected, v.Actual = "", says
		return
	}
	if i := lostAt(v, c, h); i >= 0 {
		says += "; at " + StatementText(c, h, i)
	}
	if v.Unpromised != "" {
		says += "; nor can it be judged by what the level promises: " + v.Unpromised
	}
	v.Expected, v.Actual = "", strings.TrimSpace(says)
}

// lostAt returns the statement at which the oracle gives up, -1 where it cannot
// be told: the one whose addition turns a history that it follows into one that
// it does not. Costs a judgement for each statement of the history.
func lostAt(v *oracle.Verdict, c *corpus.Case, h *history.History) int {
	order := make([]int, len(h.Stmts))
	for i := range order {
		order[i] = i
	}
	// A statement that waited took effect when it returned.
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(effect(&h.Stmts[i]), effect(&h.Stmts[j])) })
	part := *h
	part.Final = nil
	followed := true
	for n := 0; n <= len(order); n++ {
		kept := slices.Sorted(slices.Values(order[:n]))
		part.Stmts = nil
		for _, i := range kept {
			part.Stmts = append(part.Stmts, h.Stmts[i])
		}
		w, ok := checked(c, &part)
		switch {
		case !ok:
			return -1
		case w.Outcome == oracle.Unknown && w.Reason == v.Reason:
			if n == 0 || !followed {
				return -1
			}
			return order[n-1]
		}
		followed = w.Outcome != oracle.Unknown && w.Outcome != oracle.Violation
	}
	return -1
}

func effect(s *history.Stmt) history.Tick {
	if len(s.Waits) > 0 && s.Return > 0 {
		return s.Return
	}
	return s.Submit
}

// nodePattern finds the names of the parser's types.
var nodePattern = regexp.MustCompile(`\*ast\.[A-Z][A-Za-z]+`)

// PlainSQL puts the parser's names of nodes into the words of SQL.
func PlainSQL(s string) string {
	return nodePattern.ReplaceAllStringFunc(s, solve.NodeWords)
}

// checked is oracle.Check; ok is false if that breaks down, as it may on a part of a history.
func checked(c *corpus.Case, h *history.History) (v oracle.Verdict, ok bool) {
	defer func() { ok = recover() == nil }()
	return oracle.Check(c, h), true
}
