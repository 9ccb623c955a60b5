package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Run is a recorded execution of a case and its judgement.
type Run struct {
	// File is where the case is kept, Target what it ran on, without a
	// password.
	File, Target string
	Case         *corpus.Case
	Levels       map[int]corpus.Level
	// History is nil if the case could not be run; then Verdict says why.
	History *history.History
	Verdict oracle.Verdict
	// Reduction is nil where the case was not reduced, or nobody knows how.
	Reduction *Reduction
}

// Moment is a point at which something can be told: a statement is sent and
// answered, or starts to wait, or is answered after it waited.
type Moment struct {
	// Stmt is the index into History.Stmts; Step is the number of its line
	// among the case's steps, from 1.
	Stmt, Step int
	Session    int
	SQL        string
	// Waits says that the statement was sent and did not return at once,
	// Resumed that this is its return. Holders names who stood in the way.
	Waits, Resumed bool
	Holders        []int
	// At is where it waits, in words; empty where the server did not tell.
	At string
	// Silent says that the server could not be asked whether it waits: it had
	// not answered for long.
	Silent bool
	// Held says where the statement is held inside of the server; empty where it is not.
	Held string
	// Parked says that the line came late because its session was waiting.
	Parked bool
	// Answered is false for a statement that never returned.
	Answered bool
	// Answer is what came back, on one line; Expected what was promised, empty
	// where nothing was. Both are empty at the start of a wait.
	Answer, Expected string
	Differs          bool
}

// Timeline is a run with its moments in order.
type Timeline struct {
	Run
	Sessions []int
	Moments  []Moment
	Account  oracle.Account
}

// Of makes the timeline of a run with a history.
func Of(r Run) *Timeline {
	t := &Timeline{Run: r, Sessions: r.Case.Sessions(), Account: oracle.Tell(r.Case, r.History, &r.Verdict)}
	type at struct {
		tick    history.Tick
		stmt    int
		resumed bool
	}
	var order []at
	for i, s := range r.History.Stmts {
		order = append(order, at{tick: s.Submit, stmt: i})
		if len(s.Waits) > 0 && s.Return > 0 {
			order = append(order, at{tick: s.Return, stmt: i, resumed: true})
		}
	}
	slices.SortStableFunc(order, func(a, b at) int { return int(a.tick - b.tick) })
	for _, o := range order {
		t.Moments = append(t.Moments, t.moment(o.stmt, o.resumed))
	}
	return t
}

func (t *Timeline) moment(i int, resumed bool) Moment {
	st := &t.History.Stmts[i]
	m := Moment{
		Stmt: i, Step: st.Line + 1, Session: st.Session, SQL: corpus.Shown(t.Case.Steps[st.Line].Stmt, corpus.Text),
		Waits: len(st.Waits) > 0 && !resumed, Resumed: resumed, Parked: st.Parked && !resumed, Answered: st.Return > 0,
	}
	for _, w := range st.Waits {
		if at := t.Case.Steps[st.Line].Hold; w.Kind == history.Held && at != nil {
			if m.Held = at.String(); at.Request == "" {
				m.Held = "at " + at.Where()
			}
		}
		m.Silent = m.Silent || w.Kind == history.Silence
		for _, h := range w.Holders {
			if !slices.Contains(m.Holders, h) {
				m.Holders = append(m.Holders, h)
			}
		}
	}
	for k := range t.Account.Waits {
		if w := &t.Account.Waits[k]; w.Stmt == i && m.At == "" {
			m.At = w.String()
		}
	}
	if m.Waits && m.Answered {
		return m
	}
	s := &t.Account.Steps[i]
	m.Answer, m.Expected, m.Differs = s.Actual, s.Expected, s.Differs
	switch {
	case !m.Answered:
		m.Answer = "no answer"
	case st.Interrupted:
		m.Answer = "interrupted: nothing was left that could release it"
	}
	return m
}

// Wrong is the first difference: its step, 0 for the final state, what was
// promised and what came.
func (t *Timeline) Wrong() (step int, expected, actual string) {
	if w := t.Account.Wrong; w >= 0 {
		return t.History.Stmts[w].Line + 1, t.Account.Steps[w].Expected, t.Account.Steps[w].Actual
	}
	return 0, t.Verdict.Expected, t.Verdict.Actual
}

// WaitText says what a waiting statement waits for.
func (m *Moment) WaitText() string {
	if m.Held != "" {
		return "is held inside, " + m.Held
	}
	if m.Silent {
		return "silent: waits, or is slow"
	}
	at := ""
	if m.At != "" {
		at = " at " + m.At
	}
	if len(m.Holders) == 0 {
		return "waits" + at
	}
	names := make([]string, len(m.Holders))
	for i, h := range m.Holders {
		names[i] = fmt.Sprintf("tx%d", h)
	}
	return "waits for " + strings.Join(names, ", ") + at
}

// Rows prints rows on one line.
func Rows(rows [][]history.Cell) string {
	if len(rows) == 0 {
		return "no rows"
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = history.RowText(row, history.Cell.String)
	}
	return strings.Join(out, " ")
}

// LevelText names the levels of a run: REPEATABLE READ where they are all the
// same, else READ COMMITTED (tx1), REPEATABLE READ (tx2).
func (r *Run) LevelText() string {
	sessions := r.Case.Sessions()
	same := true
	parts := make([]string, len(sessions))
	for i, s := range sessions {
		parts[i] = fmt.Sprintf("%s (tx%d)", r.Levels[s], s)
		same = same && r.Levels[s] == r.Levels[sessions[0]]
	}
	if same && len(sessions) > 0 {
		return r.Levels[sessions[0]].String()
	}
	return strings.Join(parts, ", ")
}

// Reduction tells how a case became as small as it is.
type Reduction struct {
	LinesBefore      int `json:"lines_before"`
	LinesAfter       int `json:"lines_after"`
	CharactersBefore int `json:"characters_before"`
	CharactersAfter  int `json:"characters_after"`
	// Attempts counts the candidates that ran.
	Attempts int  `json:"attempts"`
	Minimal  bool `json:"minimal"`
	// Path holds the candidates that were kept, in order.
	Path []Reduced `json:"path"`
}

// Reduced is a candidate that was kept, and the size that it brought.
type Reduced struct {
	Attempt    int    `json:"attempt"`
	Layer      string `json:"layer"`
	Operation  string `json:"operation"`
	Lines      int    `json:"lines"`
	Characters int    `json:"characters"`
}
