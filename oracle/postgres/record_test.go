//go:build postgres

package postgres_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// recorder runs cases and answers a judge's questions.
type recorder struct {
	version  string
	sessions []*connection
	control  *connection
	// side evaluates statements alone.
	side *connection
}

func newRecorder(t *testing.T, c *cluster) *recorder {
	connect := func(schema string) *connection {
		s, err := c.connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if _, err := s.must("SET search_path = " + schema); err != nil {
			t.Fatal(err)
		}
		return s
	}
	r := &recorder{control: connect("live"), side: connect("scratch")}
	for range 3 {
		r.sessions = append(r.sessions, connect("live"))
	}
	r.version = r.control.pg.ParameterStatus("server_version")
	return r
}

// must executes what has no reason to fail.
func (c *connection) must(sql string) (harness.Reply, error) {
	r, err := c.Execute(sql)
	if err == nil && r.Err != nil {
		err = fmt.Errorf("%s: %s %s", sql, r.Err.State, r.Err.Message)
	}
	return r, err
}

// tables returns the names of the tables that a case makes.
func tables(c *corpus.Case) (names []string) {
	for _, l := range c.Init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			names = append(names, s.Table.Name.O)
		}
	}
	return names
}

// set makes a schema anew and runs those lines of a set-up that pass the filter.
func (c *connection) set(schema string, lines []corpus.Line, keep func(ast.StmtNode) bool) error {
	if _, err := c.must("DROP SCHEMA IF EXISTS " + schema + " CASCADE; CREATE SCHEMA " + schema); err != nil {
		return err
	}
	for _, l := range lines {
		sql, err := corpus.Format(l.Stmt, corpus.PostgreSQL)
		if err != nil {
			return err
		}
		if keep(l.Stmt) {
			if _, err := c.must(sql); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *connection) read(names []string) (out []history.Table, err error) {
	for _, name := range names {
		r, err := c.must("SELECT * FROM " + name)
		if err != nil {
			return nil, err
		}
		out = append(out, history.Table{Name: name, Columns: r.Columns, Rows: r.Rows})
	}
	return out, nil
}

// take is one run of a case.
type take struct {
	r    *recorder
	h    *history.History
	tick history.Tick
	// busy holds, by session, the index of the statement that has not returned; queued the
	// lines behind it.
	busy    map[int]int
	queued  map[int][]int
	inTxn   map[int]bool
	replies chan reply
	c       *corpus.Case
}

type reply struct {
	session int
	harness.Reply
	err error
}

// record runs a case: lines in their order, a line of a session that waits behind that wait.
func (r *recorder) record(c *corpus.Case) (*history.History, error) {
	if err := r.control.set("live", c.Init, func(ast.StmtNode) bool { return true }); err != nil {
		return nil, err
	}
	t := &take{r: r, c: c, busy: map[int]int{}, queued: map[int][]int{}, inTxn: map[int]bool{}, replies: make(chan reply, len(r.sessions)),
		h: &history.History{Server: history.Server{DBMS: history.PostgreSQL, Version: r.version}, Levels: map[int]corpus.Level{}, Answers: map[string]*history.Answer{}}}
	for _, n := range c.Sessions() {
		t.h.Levels[n] = corpus.ReadCommitted
	}
	var err error
	if t.h.Initial, err = r.control.read(tables(c)); err != nil {
		return nil, err
	}
	for line, l := range c.Steps {
		if _, busy := t.busy[l.Session]; busy || len(t.queued[l.Session]) > 0 {
			t.queued[l.Session] = append(t.queued[l.Session], line)
		} else if err := t.submit(line, false); err != nil {
			return nil, err
		}
		if err := t.unpark(); err != nil {
			return nil, err
		}
	}
	if len(t.busy) > 0 {
		return nil, fmt.Errorf("sessions wait for ever: %v", t.busy)
	}
	for _, s := range r.sessions {
		if _, err := s.must("ROLLBACK"); err != nil {
			return nil, err
		}
	}
	t.h.Final, err = r.control.read(tables(c))
	return t.h, err
}

// unpark submits queued lines of sessions that wait no more.
func (t *take) unpark() error {
	for {
		next := -1
		for n, lines := range t.queued {
			if _, busy := t.busy[n]; !busy && len(lines) > 0 && (next < 0 || lines[0] < next) {
				next = lines[0]
			}
		}
		if next < 0 {
			return nil
		}
		n := t.c.Steps[next].Session
		t.queued[n] = t.queued[n][1:]
		if err := t.submit(next, true); err != nil {
			return err
		}
	}
}

func (t *take) now() history.Tick {
	t.tick++
	return t.tick
}

// submit sends a line and returns when every session is idle or waits.
func (t *take) submit(line int, parked bool) error {
	l := t.c.Steps[line]
	sql, err := corpus.Format(l.Stmt, corpus.PostgreSQL)
	if err != nil {
		return err
	}
	t.h.Stmts = append(t.h.Stmts, history.Stmt{Line: line, Session: l.Session, Submit: t.now(), Parked: parked, InTxn: t.inTxn[l.Session]})
	t.busy[l.Session] = len(t.h.Stmts) - 1
	go func() {
		got, err := t.r.sessions[l.Session-1].Execute(sql)
		t.replies <- reply{l.Session, got, err}
	}()
	return t.settle()
}

// settle waits until every session is idle or waits for one that cannot go on by itself.
func (t *take) settle() error {
	deadline := time.Now().Add(time.Minute)
	for pause := time.Duration(0); len(t.busy) > 0; pause = min(pause+50*time.Microsecond, time.Millisecond) {
		select {
		case got := <-t.replies:
			if err := t.returned(got); err != nil {
				return err
			}
			pause = 0
			continue
		case <-time.After(pause):
		}
		waiting := 0
		for n := range t.busy {
			holders, err := t.r.blockers(n)
			if err != nil {
				return err
			}
			if t.waits(n, holders); len(holders) > 0 {
				waiting++
			}
		}
		if waiting == len(t.busy) && len(t.replies) == 0 && !t.cycle() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server goes on for ever")
		}
	}
	return nil
}

// blockers asks which sessions another one waits for.
func (r *recorder) blockers(session int) (out []int, err error) {
	got, err := r.control.must("SELECT pg_blocking_pids(" + strconv.FormatUint(r.sessions[session-1].ID(), 10) + ")")
	if err != nil {
		return nil, err
	}
	return r.sessionsOf(strings.FieldsFunc(got.Rows[0][0].Text, func(c rune) bool { return c < '0' || c > '9' })), nil
}

func (r *recorder) sessionsOf(pids []string) (out []int) {
	for _, pid := range pids {
		if k := slices.IndexFunc(r.sessions, func(s *connection) bool { return strconv.FormatUint(s.ID(), 10) == pid }); k >= 0 {
			out = append(out, k+1)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// waits notes what was seen of a session that has not returned.
func (t *take) waits(session int, holders []int) {
	st := &t.h.Stmts[t.busy[session]]
	last := len(st.Waits) - 1
	if open := last >= 0 && st.Waits[last].Until == 0; open {
		if slices.Equal(st.Waits[last].Holders, holders) {
			return
		}
		st.Waits[last].Until = t.now()
	}
	if len(holders) > 0 {
		st.Waits = append(st.Waits, history.Wait{Kind: history.RowLock, From: t.now(), Holders: holders})
	}
}

// cycle reports whether sessions wait for each other, which the server will end.
func (t *take) cycle() bool {
	next := func(n int) []int {
		i, busy := t.busy[n]
		if !busy || len(t.h.Stmts[i].Waits) == 0 {
			return nil
		}
		return t.h.Stmts[i].Waits[len(t.h.Stmts[i].Waits)-1].Holders
	}
	for n := range t.busy {
		reached := []int{n}
		for k := 0; k < len(reached); k++ {
			for _, m := range next(reached[k]) {
				if m == n {
					return true
				}
				if !slices.Contains(reached, m) {
					reached = append(reached, m)
				}
			}
		}
	}
	return false
}

var blockedBy = regexp.MustCompile(`Process (\d+) waits for [^;]*; blocked by process (\d+)`)

func (t *take) returned(got reply) error {
	if got.err != nil {
		return got.err
	}
	st := &t.h.Stmts[t.busy[got.session]]
	if got.Err != nil {
		// A deadlock can be found before its last wait is asked for; its error tells of it.
		for _, m := range blockedBy.FindAllStringSubmatch(got.Err.Message, -1) {
			if slices.Equal(t.r.sessionsOf(m[1:2]), []int{got.session}) {
				t.waits(got.session, t.r.sessionsOf(m[2:3]))
			}
		}
	}
	t.waits(got.session, nil)
	st.Return, st.Result = t.now(), got.Result
	t.inTxn[got.session] = got.InTxn
	delete(t.busy, got.session)
	return nil
}

// answer asks the server all that the judge of a history asks, until it asks no more.
func (r *recorder) answer(c *corpus.Case, h *history.History) error {
	err := r.side.set("scratch", c.Init, func(n ast.StmtNode) bool { _, ok := n.(*ast.CreateTableStmt); return ok })
	if err != nil {
		return err
	}
	for {
		judge := engines.New(c, h, rules.For(h.Server), false)
		_, _ = judge.Run()
		questions := judge.Asking().Questions()
		if len(questions) == 0 {
			return nil
		}
		for key, q := range questions {
			if h.Answers[key], err = r.evaluate(&q); err != nil {
				return err
			}
		}
	}
}

// evaluate runs a statement alone, on the rows of its question.
func (r *recorder) evaluate(q *history.Question) (*history.Answer, error) {
	layOut := "BEGIN"
	for _, t := range q.Tables {
		for _, row := range t.Rows {
			values := make([]string, len(row))
			for i, c := range row {
				if values[i] = "NULL"; !c.Null {
					values[i] = "'" + strings.ReplaceAll(c.Text, "'", "''") + "'"
				}
			}
			layOut += "; INSERT INTO " + t.Name + " VALUES (" + strings.Join(values, ", ") + ")"
		}
	}
	defer r.side.Execute("ROLLBACK")
	if _, err := r.side.must(layOut); err != nil {
		return nil, err
	}
	node, err := corpus.ParseStatement(q.SQL)
	if err != nil {
		return nil, err
	}
	sql, err := corpus.Format(node, corpus.PostgreSQL)
	if err != nil {
		return nil, err
	}
	got, err := r.side.Execute(sql)
	if err != nil {
		return nil, err
	}
	got.Result.InTxn = false
	a := &history.Answer{Result: got.Result}
	if got.Err == nil {
		for _, t := range q.Tables {
			after, err := r.side.read([]string{t.Name})
			if err != nil {
				return nil, err
			}
			a.After = append(a.After, after...)
		}
	}
	return a, nil
}
