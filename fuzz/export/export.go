package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Files is an export: the text of a format's main file, and of files that go
// beside it, by their ending.
type Files struct {
	Text   []byte
	Beside map[string][]byte
}

// As is what an exported test expects.
type As string

const (
	// Test expects what is promised, where one answer is: it fails while the
	// anomaly shows. It is what a maintainer commits.
	Test As = "test"
	// Demo expects what was seen: it passes while the anomaly shows.
	Demo As = "demo"
)

// Kinds lists the values of As.
func Kinds() []string { return []string{string(Test), string(Demo)} }

// formats are tried by name; the order is that of the help.
var formats = []form{
	{"markdown", "the text of an issue", markdown, true},
	{"two-terminals", "SQL to paste into one terminal for each session", terminals, false},
	{"tidb", "a bug report for TiDB, in the form of its repository", tidbReport, true},
	{"jira", "a bug report for MariaDB's Jira, in its markup", jiraReport, true},
	{"bugs.mysql", "a bug report for bugs.mysql.com, in plain text", mysqlReport, true},
	{"pgsql-bugs", "a bug report for PostgreSQL, as its form asks for it", postgresReport, true},
	{"mtr", "a .test for mysql-test-run, with .result and .opt", mtr, false},
	{"isolationtester", "a .spec for PostgreSQL's isolationtester", isolationtester, false},
	{"gdb", "a script for gdb that holds a statement inside of the server, where a case of run --races does", inGDB, false},
	{"injection-point", "a .spec for isolationtester that holds a statement of such a case at an injection point of PostgreSQL", atInjectionPoint, false},
	{"go", "a Go test that needs nothing but go-sql-driver, or pgx for PostgreSQL", goTest, false},
	{"json", "everything, for programs", asJSON, false},
}

type form struct {
	name, about string
	write       func(*script) (Files, error)
	// reports says that it claims a bug.
	reports bool
}

// Reports says that a format claims a bug, and so needs one.
func Reports(name string) bool {
	return slices.ContainsFunc(formats, func(f form) bool { return f.name == name && f.reports })
}

// Formats lists the names of the formats.
func Formats() []string {
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = f.name
	}
	return out
}

// About describes the formats, one a line.
func About() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-16s %s\n", f.name, f.about)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Write exports a timeline in a format; what its tests expect is given by as,
// which the formats that are no tests ignore. An unknown format is an error, so is
// a case that the format cannot express.
func Write(t *timeline.Timeline, name string, as As) (Files, error) {
	i := slices.IndexFunc(formats, func(f form) bool { return f.name == name })
	if i < 0 {
		return Files{}, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(Formats(), ", "))
	}
	if h := t.History.TimedOut(); h != t.History {
		// A client waits until its time-out: nobody interrupts it.
		run := t.Run
		run.History = h
		t = timeline.Of(run)
	}
	if name != "json" { // programs count lines of the file
		if run := inOrder(t.Run); run.Case != t.Case {
			t = timeline.Of(run)
		}
	}
	s := newScript(t)
	s.demo = as == Demo
	if step, at := s.held(); step > 0 && slices.Contains(onlySend, name) {
		why := errHeld
		if at.Request != "" {
			why = errHeldRequest
		}
		return Files{}, fmt.Errorf("export %s as %s: %w", t.File, name, why)
	}
	if t.Run.History.Cluster != nil && slices.Contains(onlySend, name) {
		return Files{}, fmt.Errorf("export %s as %s: %w", t.File, name, errMembers)
	}
	if t.Run.Verdict.Kind.OfReplica() && slices.Contains(onlySend, name) {
		return Files{}, fmt.Errorf("export %s as %s: %w", t.File, name, errReplica)
	}
	if !s.Case.Protocol().IsText() && slices.Contains(sendText, name) {
		return Files{}, fmt.Errorf("export %s as %s: %w", t.File, name, errPrepared)
	}
	out, err := formats[i].write(s)
	if err != nil {
		return Files{}, fmt.Errorf("export %s as %s: %w", t.File, name, err)
	}
	return out, nil
}

// script is a timeline as a client has to act it out.
type script struct {
	*timeline.Timeline
	dialect corpus.Dialect
	actions []action
	// decided says that a server which keeps its promise answers otherwise: a
	// test can tell it from one that does not.
	decided bool
	// demo asks a test for what was seen.
	demo bool
	// needed are the settings that the run rests on.
	needed []setting
}

// seen says that a test expects what was seen.
func (s *script) seen() bool { return s.demo || !s.decided }

// action is a statement that is run, or sent and later reaped.
type action struct {
	*timeline.Moment
	sql  string
	kind stmt.Kind
	// recorded is what came, promised what had to come; the latter is the
	// former where nothing was promised. Both are nil for a send.
	recorded, promised *answer
	// about is what it does to a session, nil for a statement; unsent says that txnfuzz did not send
	// it, since its session was gone.
	about  *stmt.SessionStmt
	unsent bool
}

// answer is what a statement returns.
type answer struct {
	// err is 0 for success, -1 where success was due but its rows are unknown.
	err              int
	columns          []string
	rows             [][]history.Cell
	ordered          bool
	matched, changed int64
	warnings         int
	unknown          bool
}

func newScript(t *timeline.Timeline) *script {
	t = forStrangers(t)
	s := &script{Timeline: t, dialect: dialectOf(t.History.Server.DBMS)}
	for i := range t.Moments {
		m := &t.Moments[i]
		if s.crashed() && !m.Answered {
			sent := *m // it waits for nobody
			sent.Waits = false
			m = &sent
		}
		st := &t.History.Stmts[m.Stmt]
		line := t.Case.Steps[st.Line]
		a := action{Moment: m, sql: corpus.Shown(line.Stmt, s.dialect), kind: oracle.KindOf(line.Stmt)}
		about, _ := line.Stmt.(*stmt.SessionStmt)
		a.ofSession(about, st)
		if !m.Waits && m.Answered {
			a.recorded = recorded(&st.Result)
			a.promised = promised(&t.Account.Steps[m.Stmt], a.recorded)
			if m.Differs && !a.same() {
				s.decided = true
			}
		}
		s.actions = append(s.actions, a)
	}
	if !s.decided && t.Account.Final != nil {
		for i := range t.History.Final {
			s.decided = s.decided || bag(t.History.Final[i].Rows) != bag(t.Account.Final[i].Rows)
		}
	}
	if s.crashed() {
		s.decided = true // a test fails with the server
	}
	s.needed = s.needs()
	return s
}

func (a *action) same() bool {
	r, p := a.recorded, a.promised
	if r.err != p.err || r.err == 0 && r.changed != p.changed {
		return false
	}
	return values(r.rows, p.ordered) == values(p.rows, p.ordered)
}

// values are rows as the exported Go test prints them, bytes as they are.
func values(rows [][]history.Cell, ordered bool) string {
	if len(rows) == 0 {
		return "no rows"
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = history.RowText(row, history.Cell.Raw)
	}
	if !ordered {
		slices.Sort(out)
	}
	return strings.Join(out, " ")
}

func bag(rows [][]history.Cell) string { return values(rows, false) }

func recorded(r *history.Result) *answer {
	a := &answer{columns: r.Columns, rows: r.Rows, matched: r.Matched, changed: r.Changed, warnings: r.Warnings}
	if r.Err != nil {
		a.err = int(r.Err.Code)
	}
	if a.changed < 0 {
		a.changed = r.Affected
	}
	return a
}

// promised turns a step's promise into an answer with the columns of the
// recorded one.
func promised(s *oracle.Step, got *answer) *answer {
	if p := s.Promised; p != nil {
		out := &answer{err: int(p.Err), columns: got.columns, rows: p.Rows, ordered: p.Ordered, matched: p.Matched, changed: p.Changed, warnings: got.warnings}
		if p.Changed < 0 {
			out.changed = got.changed
		}
		got.ordered = p.Ordered
		return out
	}
	if s.Differs && got.err != 0 {
		return &answer{unknown: s.Kind.TouchesRows()}
	}
	return got
}

func dialectOf(d history.DBMS) corpus.Dialect {
	switch d {
	case history.MySQL:
		return corpus.MySQL
	case history.MariaDB:
		return corpus.MariaDB
	case history.TiDB:
		return corpus.TiDB
	case history.PostgreSQL:
		return corpus.PostgreSQL
	}
	return corpus.Text
}

// setup returns the lines that make tables and rows.
func (s *script) setup() []string {
	out := make([]string, len(s.Case.Init))
	for i, l := range s.Case.Init {
		out[i] = corpus.Shown(l.Stmt, s.dialect)
	}
	return out
}

// holdsPurge opens a view beside the case, in a session of its own: while it is
// open, InnoDB keeps deleted rows and their index entries, which decide what is
// locked and where a scan stops. The run was recorded beside such a view.
const holdsPurge = "START TRANSACTION WITH CONSISTENT SNAPSHOT"

// past reports whether the set-up, or a transaction before the statement that goes wrong
// is sent, or before one that waits, leaves old rows or index entries for InnoDB to purge.
// By hand they would be gone before the next statement is sent.
func (s *script) past() bool {
	if s.dialect == corpus.TiDB || s.onPostgres() {
		return false
	}
	if slices.ContainsFunc(s.Case.Init, func(l corpus.Line) bool { return leavesRecords(l.Stmt, nil) }) {
		return true
	}
	keyed := keyColumns(s.Case)
	left := map[int]bool{} // by session: what is not committed
	gone, wrong := false, false
	for i := range s.actions {
		a := &s.actions[i]
		if gone && !a.Resumed && a.kind.TouchesRows() && (a.Waits || !wrong) {
			return true
		}
		wrong = wrong || a.Differs
		if !a.Answered || a.Waits {
			continue
		}
		st := &s.History.Stmts[a.Stmt]
		left[a.Session] = left[a.Session] || leavesRecords(s.Case.Steps[st.Line].Stmt, keyed)
		if left[a.Session] && !st.Result.InTxn && a.kind != stmt.Rollback {
			gone, left[a.Session] = true, false
		}
	}
	return false
}

// waits reports whether a session waits for a lock that others let go. Who sends the
// lines by hand may take longer than the time-out of 50 seconds that vendors ship.
func (s *script) waits(session int) bool {
	return slices.ContainsFunc(s.actions, func(a action) bool { return a.Session == session && a.Waits && a.Answered })
}

// setLevel is the statement that gives a session its level.
func (s *script) setLevel(session int) string {
	if s.onPostgres() {
		return "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + s.Levels[session].String()
	}
	return "SET SESSION TRANSACTION ISOLATION LEVEL " + s.Levels[session].String()
}

// tables lists the tables in the order of their last reading.
func (s *script) tables() []string {
	out := make([]string, len(s.History.Final))
	for i, t := range s.History.Final {
		out[i] = t.Name
	}
	return out
}

// serverLine names the server and the levels.
func (s *script) serverLine() string {
	return fmt.Sprintf("%s, %s", serverText(s.History.Server), s.LevelText())
}

// comment writes text as comment lines behind a mark.
func comment(b *bytes.Buffer, mark string, format string, args ...any) {
	for _, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		b.WriteString(strings.TrimRight(mark+" "+strings.Map(printable, line), " ") + "\n")
	}
}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// quoteName puts a table's name into backticks.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
