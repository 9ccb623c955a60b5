package oracle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
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
	parts := []string{string(plainKind(c, h, v)), level, shape(c, h, r, v.Stmt)}
	if len(v.Rules) > 0 {
		parts = append(parts, strings.Join(v.Rules, "+"))
	}
	return strings.Join(parts, "/")
}

// plainKind is the kind of a difference less what depends on the values that
// other rows happen to have: whether a wrong answer is one that a lost write
// would have given.
func plainKind(c *corpus.Case, h *history.History, v *Verdict) Kind {
	switch v.Kind {
	case "lost-own-write", "lost-write", "lost-commit":
		if v.Stmt < 0 {
			return v.Kind
		}
		switch mvcc.KindOf(c.Steps[h.Stmts[v.Stmt].Line].Stmt) {
		case stmt.Update, stmt.Delete, stmt.Insert:
			return "wrong-count"
		}
		if v.Kind != "lost-commit" {
			return "wrong-rows"
		}
	}
	return v.Kind
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
	c, h = read(c, h, &Verdict{})
	c, err := resolved(c, h)
	if err != nil {
		return ""
	}
	r := engines.New(c, h, rules.For(h.Server), false)
	d, err := r.Run()
	if err != nil || d == nil {
		return ""
	}
	return fingerprint(c, h, r, &Verdict{Outcome: Violation, Kind: Kind(d.Kind), Stmt: d.Stmt})
}

// shape describes how the statement that differs relates to the others: whether
// it reads or locks, whether it waited, and what was done to the rows that it
// got wrong. A row that a write left as it was, or whose keys a write changed,
// says more than who wrote it last; else it is the relation to who wrote what was
// returned too much or too little. Of several relations it is the first in text
// order, those to rows of the set-up last, so that rows which come and go beside
// it do not change the name.
func shape(c *corpus.Case, h *history.History, r *mvcc.Replay, at int) string {
	if at < 0 {
		return "final state"
	}
	st := &h.Stmts[at]
	kind := mvcc.KindOf(c.Steps[st.Line].Stmt)
	out := string(kind)
	chains, _ := r.Account(at)
	wrong, relations := chains, []string(nil)
	p := r.Steps[at].Expected
	if p != nil && p.Err == 0 && st.Result.Err == nil && len(st.Result.Columns) > 0 {
		if wrong, relations = differing(c, h, at, chains, p.Cells()); len(wrong) == 0 {
			wrong = chains
		}
	}
	if e := wrongError(p, &st.Result); e != "" {
		if p.Err == errRecordChanged {
			e += anyUnchanged(chains)
		}
		return e
	}
	if kind == stmt.Select {
		if done := handling(wrong, st.Session); done != "" {
			return out + " of a row " + done
		}
	}
	if n := tooMany(p, &st.Result); n != "" {
		out += " " + n
	}
	if len(st.Waits) > 0 {
		out += " waited"
	}
	if written := slices.DeleteFunc(slices.Clone(relations), func(s string) bool { return strings.HasSuffix(s, setUp) }); len(written) > 0 {
		relations = written
	}
	if len(relations) == 0 {
		return out
	}
	return out + " " + slices.Min(relations)
}

// differing returns the rows that a statement returned too many or too few, and
// the relations to who wrote them.
func differing(c *corpus.Case, h *history.History, stmt int, chains []mvcc.RowHistory, expected [][]history.Cell) (wrong []mvcc.RowHistory, relations []string) {
	missing, extra := bagDifference(expected, h.Stmts[stmt].Result.Rows)
	for _, x := range chains {
		found := false
		for _, v := range x.Versions {
			for _, side := range []struct {
				name string
				rows []string
			}{{"misses", missing}, {"adds", extra}} {
				if !v.Deleted && slices.Contains(side.rows, v.Row) {
					found = true
					relations = append(relations, side.name+" "+relation(c, h, stmt, &v))
				}
			}
		}
		if found {
			wrong = append(wrong, x)
		}
	}
	return wrong, relations
}

// handling tells what was done to rows that says most of a wrong read: a write
// of its own transaction that changed nothing, or a change of keys by another.
func handling(rows []mvcc.RowHistory, session int) string {
	unchanged, moved := false, false
	for _, x := range rows {
		var own *mvcc.RowVersion
		for k := range x.Versions {
			v := &x.Versions[k]
			switch {
			case v.Undone || v.Stmt < 0:
			case v.Session == session:
				own = v
			default:
				moved = moved || v.Moved
			}
		}
		unchanged = unchanged || own != nil && own.Same
	}
	switch {
	case unchanged:
		return "rewritten unchanged"
	case moved:
		return "moved in a key"
	}
	return ""
}

// anyUnchanged tells whether a write left a row as it was.
func anyUnchanged(rows []mvcc.RowHistory) string {
	for _, x := range rows {
		if slices.ContainsFunc(x.Versions, func(v mvcc.RowVersion) bool { return v.Same }) {
			return " after a row was rewritten unchanged"
		}
	}
	return ""
}

// errRecordChanged: the record has changed since the last read.
const errRecordChanged = 1020

// wrongError tells the codes of the errors that were promised and seen.
func wrongError(p *mvcc.Prediction, r *history.Result) string {
	want, got := "none", "none"
	if p == nil {
		return ""
	}
	if p.Err != 0 {
		want = strconv.Itoa(int(p.Err))
	}
	if r.Err != nil {
		got = strconv.Itoa(int(r.Err.Code))
	}
	if want == got {
		return ""
	}
	return "error " + got + " for " + want
}

// tooMany tells in which direction the count of a write is wrong.
func tooMany(p *mvcc.Prediction, r *history.Result) string {
	if p == nil || p.Err != 0 || r.Err != nil || len(r.Columns) > 0 {
		return ""
	}
	got, want := r.Affected, p.Changed
	if p.Matched >= 0 && r.Matched >= 0 && p.Matched != r.Matched {
		got, want = r.Matched, p.Matched
	}
	switch {
	case got < want:
		return "too few"
	case got > want:
		return "too many"
	}
	return ""
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

func rowText(row []history.Cell) string { return history.RowText(row, history.Cell.Key) }
