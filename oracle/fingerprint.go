package oracle

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// fingerprint names the cause of a difference. A known deviation is its own
// cause: its rules and the level tell it. Else the kind, the level and the shape
// of the relation between the statements stand for the cause, so that equal
// causes meet in one name whatever the schema, the constants and the order.
func fingerprint(c *corpus.Case, h *history.History, r *mvcc.Replay, v *Verdict) string {
	level := levelNames(h)
	if v.Stmt >= 0 {
		level = h.Levels[h.Stmts[v.Stmt].Session].Short()
	}
	if v.Outcome == Known {
		return knownFingerprint(strings.Join(v.Rules, "+"), level)
	}
	parts := []string{string(v.Kind), level, shape(c, h, r, v.Stmt)}
	if len(v.Rules) > 0 {
		parts = append(parts, strings.Join(v.Rules, "+"))
	}
	return strings.Join(parts, "/")
}

func knownFingerprint(rules, level string) string {
	return strings.Join([]string{"known", rules, level}, "/")
}

// Causes returns the fingerprints of the single deviations that a known verdict
// of several combines, nil for all others: such a case is no finding of its own
// where each of them is one.
func (v *Verdict) Causes() []string {
	if v.Outcome != Known || len(v.Rules) < 2 {
		return nil
	}
	level := v.Fingerprint[strings.LastIndexByte(v.Fingerprint, '/')+1:]
	out := make([]string, len(v.Rules))
	for i, r := range v.Rules {
		out[i] = knownFingerprint(r, level)
	}
	return out
}

// Blind returns the fingerprint that a difference would have if no deviation
// were known: what fingerprints of unexplained violations are worth can be
// measured by it. Empty for a history without a difference.
func Blind(c *corpus.Case, h *history.History) string {
	r := mvcc.New(c, h, rules.For(h.Server), false)
	d, err := r.Run()
	if err != nil || d == nil {
		return ""
	}
	return fingerprint(c, h, r, &Verdict{Outcome: Violation, Kind: Kind(d.Kind), Stmt: d.Stmt})
}

// shape describes how the statement that differs relates to the others: its
// kind, whether it waited, and of the rows that it returned too many or too few
// the relation to who wrote them. Of several relations it is the first in text
// order, those to rows of the set-up last, so that rows which come and go beside
// it do not change the name.
func shape(c *corpus.Case, h *history.History, r *mvcc.Replay, stmt int) string {
	if stmt < 0 {
		return "final state"
	}
	st := &h.Stmts[stmt]
	out := string(mvcc.KindOf(c.Steps[st.Line].Stmt))
	if len(st.Waits) > 0 {
		out += " waited"
	}
	p := r.Steps[stmt].Expected
	if p == nil || p.Err != 0 || st.Result.Err != nil || len(st.Result.Columns) == 0 {
		return out
	}
	missing, extra := bagDifference(p.Cells(), st.Result.Rows)
	chains, _ := r.Account(stmt)
	var relations []string
	for _, side := range []struct {
		name string
		rows []string
	}{{"misses", missing}, {"adds", extra}} {
		for _, row := range side.rows {
			for _, x := range chains {
				for _, v := range x.Versions {
					if v.Row == row && !v.Deleted {
						relations = append(relations, side.name+" "+relation(c, h, stmt, &v))
					}
				}
			}
		}
	}
	if written := slices.DeleteFunc(slices.Clone(relations), func(s string) bool { return strings.HasSuffix(s, setUp) }); len(written) > 0 {
		relations = written
	}
	if len(relations) == 0 {
		return out
	}
	return out + " " + slices.Min(relations)
}

const setUp = "set-up"

// relation says who wrote a version, by what kind of statement, and how far
// that transaction had come when the statement was answered.
func relation(c *corpus.Case, h *history.History, stmt int, v *mvcc.RowVersion) string {
	if v.Stmt < 0 {
		return setUp
	}
	kind := string(mvcc.KindOf(c.Steps[h.Stmts[v.Stmt].Line].Stmt))
	switch {
	case v.Session == h.Stmts[stmt].Session:
		return "own " + kind
	case v.Undone:
		return "undone " + kind
	case endedBefore(h, v.Stmt, stmt):
		return "committed " + kind
	}
	return "open " + kind
}

// endedBefore reports whether the transaction of one statement had ended when
// another was sent.
func endedBefore(h *history.History, of, stmt int) bool {
	for j := of; j < len(h.Stmts); j++ {
		s := &h.Stmts[j]
		if s.Session == h.Stmts[of].Session && !s.Result.InTxn && s.Return > 0 {
			return s.Return < h.Stmts[stmt].Submit
		}
	}
	return false
}

// bagDifference returns the rows, as text, that one bag has and the other lacks.
func bagDifference(expected, actual [][]history.Cell) (missing, extra []string) {
	count := map[string]int{}
	for _, r := range expected {
		count[rowText(r)]++
	}
	for _, r := range actual {
		t := rowText(r)
		if count[t]--; count[t] < 0 {
			extra = append(extra, t)
		}
	}
	for _, r := range expected {
		if t := rowText(r); count[t] > 0 {
			count[t]--
			missing = append(missing, t)
		}
	}
	return missing, extra
}

func rowText(row []history.Cell) string {
	texts := make([]string, len(row))
	for i, c := range row {
		texts[i] = c.String()
	}
	return "(" + strings.Join(texts, ",") + ")"
}
