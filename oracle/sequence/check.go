package sequence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// draw is a call of nextval that was answered.
type draw struct {
	*history.Stmt
	value int64
	// life counts the connections that the session had before.
	life int
}

// memory is what a session has drawn: the last value of each sequence and, by the empty name, of all. What it draws
// without an answer makes them unsure.
type memory struct {
	last   map[string]int64
	unsure bool
}

// reader follows the sessions of a history.
type reader struct {
	c *corpus.Case
	// cached holds the sequences of which sessions take several values at a time.
	cached map[string]bool
	// others says that something else draws from sequences, of which lastval tells.
	others bool
	draws  map[string][]draw
	lives  map[int]int
	of     map[int]*memory
}

// Check returns the first difference of a history, nil for none. Of a case in which a raw statement calls a function
// for sequences it claims nothing, since nobody knows how often.
func Check(c *corpus.Case, h *history.History) *history.Difference {
	about := func(l corpus.Line) bool { return stmt.KindOf(l.Stmt) == stmt.Sequence }
	if h.End != history.Complete || !slices.ContainsFunc(c.Steps, about) {
		return nil
	}
	r := &reader{c: c, cached: map[string]bool{}, draws: map[string][]draw{}, lives: map[int]int{}, of: map[int]*memory{}}
	for _, l := range slices.Concat(c.Init, c.Steps) {
		switch s := l.Stmt.(type) {
		case *stmt.SequenceStmt:
			r.cached[s.Name] = r.cached[s.Name] || s.Cache > 1
		case *stmt.RawStmt:
			if slices.ContainsFunc(s.Words(), func(w string) bool { return w == "nextval" || w == "setval" }) {
				return nil
			}
			r.others = r.others || slices.Contains(s.Words(), "identity")
		case *ast.CreateTableStmt:
			r.others = r.others || counts(s)
		}
	}
	for i := range h.Stmts {
		if d := r.statement(&h.Stmts[i]); d != nil {
			d.Stmt = i
			return d
		}
	}
	return nil
}

// counts reports whether a column of a table counts by itself, for which PostgreSQL has a sequence.
func counts(s *ast.CreateTableStmt) bool {
	counted := func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionAutoIncrement }
	return slices.ContainsFunc(s.Cols, func(col *ast.ColumnDef) bool { return slices.ContainsFunc(col.Options, counted) })
}

func (r *reader) memory(session int) *memory {
	if r.of[session] == nil {
		r.of[session] = &memory{last: map[string]int64{}}
	}
	return r.of[session]
}

func (r *reader) statement(st *history.Stmt) *history.Difference {
	failed := st.Result.Err
	switch s := r.c.Steps[st.Line].Stmt.(type) {
	case *stmt.SessionStmt:
		switch {
		case s.Does == stmt.Disconnect && failed == nil:
			r.leaves(st.Session)
		case s.Does == stmt.Kill && (failed == nil || s.Target == st.Session):
			r.leaves(s.Target)
		}
	case *stmt.SequenceStmt:
		switch {
		case s.Function != "nextval":
			return r.recall(st, s)
		case failed == nil:
			return r.draw(st, s)
		default: // it may have drawn before it was interrupted
			m := r.memory(st.Session)
			m.unsure = m.unsure || failed.State != inFailedTxn
		}
	}
	return nil
}

func (r *reader) leaves(session int) {
	r.lives[session]++
	delete(r.of, session)
}

const (
	// inFailedTxn is the SQLSTATE of what is refused since an error has aborted the transaction, undefined that of a
	// session that has drawn nothing.
	inFailedTxn = "25P02"
	undefined   = "55000"
)

// draw judges an answer of nextval.
func (r *reader) draw(st *history.Stmt, s *stmt.SequenceStmt) *history.Difference {
	got, ok := number(&st.Result)
	if !ok {
		return &history.Difference{Kind: "wrong-rows", Expected: "a number", Actual: history.Describe(stmt.Sequence, &st.Result),
			Reason: "nextval returns a number"}
	}
	d := draw{st, got, r.lives[st.Session]}
	for _, o := range r.draws[s.Name] {
		before, since := o, d
		if d.Return < o.Submit {
			before, since = d, o
		}
		switch {
		case o.value == got:
			return &history.Difference{Kind: "repeated-sequence-value", Expected: fmt.Sprintf("another value than %d", got),
				Actual: fmt.Sprint(got), Reason: fmt.Sprintf("tx%d has got %d from the sequence; "+
					"no value is given twice, whatever becomes of the transaction", o.Session, got)}
		case r.cached[s.Name] && (o.Session != d.Session || o.life != d.life):
		case before.Return < since.Submit && before.value > since.value:
			return &history.Difference{Kind: "decreasing-sequence-value", Expected: fmt.Sprintf("a value above %d", before.value),
				Actual: fmt.Sprint(since.value), Reason: fmt.Sprintf("tx%d had got %d from the sequence when tx%d asked",
					before.Session, before.value, since.Session)}
		}
	}
	r.draws[s.Name] = append(r.draws[s.Name], d)
	m := r.memory(st.Session)
	m.last[s.Name], m.last[""] = got, got
	return nil
}

// recall judges an answer of currval or lastval.
func (r *reader) recall(st *history.Stmt, s *stmt.SequenceStmt) *history.Difference {
	m := r.memory(st.Session)
	want, known := m.last[s.Name]
	failed := st.Result.Err
	if m.unsure || s.Name == "" && r.others || failed != nil && failed.State != undefined {
		return nil
	}
	got, ok := number(&st.Result)
	d := &history.Difference{Expected: fmt.Sprint(want), Actual: history.Describe(stmt.Sequence, &st.Result),
		Reason: s.Function + " tells what its session got last from nextval"}
	switch {
	case !known && failed == nil:
		d.Kind, d.Expected = "missing-error", "SQLSTATE "+undefined
		d.Reason += "; this one has got nothing"
	case known && failed != nil:
		d.Kind = "unexpected-error"
	case known && (!ok || got != want):
		d.Kind = "wrong-rows"
	default:
		return nil
	}
	return d
}

// number is the only value of an answer.
func number(r *history.Result) (int64, bool) {
	if len(r.Rows) != 1 || len(r.Rows[0]) != 1 || r.Rows[0][0].Null {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(r.Rows[0][0].Text), 10, 64)
	return n, err == nil
}
