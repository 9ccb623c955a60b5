package telling

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ShellOptions says how a shell talks.
type ShellOptions struct {
	In  io.Reader
	Out io.Writer
	// Echo repeats each line behind its prompt, for input that no terminal has
	// shown.
	Echo bool
	// Level is that of all sessions; 0: the strongest below SERIALIZABLE that
	// the target has.
	Level corpus.Level

	_ struct{}
}

// ShellResult says what a shell has seen.
type ShellResult struct {
	// Refused counts the lines that could not be used: syntax errors, unknown
	// commands, files that could not be written.
	Refused int
	// Violation says that the last check found one.
	Violation bool
}

// Shell lets a person run a case on a target statement by statement in several
// sessions, until the input ends or ctx does.
func Shell(ctx context.Context, t *target.Target, o ShellOptions) (ShellResult, error) {
	if o.Level == 0 {
		for _, l := range t.Levels() {
			if l < corpus.Serializable {
				o.Level = l
			}
		}
	}
	defer t.Hold()()
	s := &shell{t: t, o: o, levels: harness.At(o.Level)}
	if err := s.reset(ctx); err != nil {
		return s.result, err
	}
	err := s.loop(ctx)
	return s.result, errors.Join(err, s.live.Close(context.WithoutCancel(ctx)))
}

type shell struct {
	t       *target.Target
	o       ShellOptions
	live    *harness.Live
	levels  harness.Levels
	session int // the one that a line without a session is for; 0: set-up
	result  ShellResult
	ended   bool
}

const shellHelp = `  SQL            a statement of the session that the prompt names
  2> SQL         a statement of session 2, which stays the current one
  2              go to session 2; init: back to the set-up
  level RC       the isolation level of all sessions, or tx1=RC, tx2=RR
  show           the case so far
  check          is what was seen legal at these levels?
  save FILE      write the case
  reset          begin anew
  quit           end
`

// reset gives up the case so far.
func (s *shell) reset(ctx context.Context) error {
	if s.live != nil {
		if err := s.live.Close(ctx); err != nil {
			return err
		}
	}
	var err error
	s.live, err = s.t.Live(ctx, s.levels)
	s.session = corpus.InitSession
	return err
}

func (s *shell) printf(format string, args ...any) {
	fmt.Fprintf(s.o.Out, format, args...) // an output that is gone shows at the next line of input
}

func (s *shell) prompt() string {
	if s.session == corpus.InitSession {
		return "init> "
	}
	return strconv.Itoa(s.session) + "> "
}

// loop takes lines, and between them what the server does of its own accord.
func (s *shell) loop(ctx context.Context) error {
	s.printf("%s %s. help lists the commands.\n", s.t.Name, s.t.Server().Version)
	lines, failed := readLines(ctx, s.o.In)
	for !s.ended {
		s.printf("%s", s.prompt())
		line, ok, err := s.next(ctx, lines)
		if err != nil {
			return err
		}
		if !ok {
			s.printf("\n")
			break
		}
		if s.o.Echo {
			s.printf("%s\n", line)
		}
		if err := s.line(ctx, strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	for _, n := range s.live.Outstanding() {
		s.printf("tx%d: still blocked at the end\n", n)
	}
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// readLines reads lines until the input ends. A read cannot be cancelled, so
// its goroutine may outlive the shell by one line.
func readLines(ctx context.Context, in io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			select {
			case lines <- sc.Text():
			case <-ctx.Done():
				return
			}
		}
		// A terminal that is hung up gives an error where a pipe gives an end.
		if err := sc.Err(); err != nil && !errors.Is(err, os.ErrClosed) && !isHangUp(err) {
			failed <- fmt.Errorf("read the input: %w", err)
		}
	}()
	return lines, failed
}

// next returns the next line. While statements wait it tells what becomes of
// them.
func (s *shell) next(ctx context.Context, lines <-chan string) (line string, ok bool, err error) {
	for len(s.live.Outstanding()) > 0 {
		type news struct {
			events []harness.Event
			err    error
		}
		waiting, stop := context.WithCancel(ctx)
		came := make(chan news, 1)
		go func() {
			events, err := s.live.Await(waiting)
			came <- news{events, err}
		}()
		var n news
		typed, done := false, false
		select {
		case line, ok = <-lines:
			typed = true
		case n = <-came:
			done = true
		case <-ctx.Done():
		}
		stop()
		if !done {
			n = <-came
		}
		if len(n.events) > 0 {
			s.printf("\n")
			s.tell(n.events)
		}
		switch {
		case n.err != nil:
			return "", false, n.err
		case typed:
			return line, ok, nil
		case ctx.Err() != nil:
			return "", false, nil
		}
		s.printf("%s", s.prompt())
	}
	select {
	case line, ok = <-lines:
		return line, ok, nil
	case <-ctx.Done():
		return "", false, nil
	}
}

var (
	// sessionPattern reads `2> SQL`, `2: SQL`, `tx2> SQL`, `/* tx2 */ SQL` and
	// the same with init; the SQL may be missing.
	sessionPattern = regexp.MustCompile(`(?is)^(?:/\*\s*)?(?:(init)|(?:tx|conn_)?([0-9]+))\s*(?:\*/|[>:]|$)\s*(.*)$`)
	wordPattern    = regexp.MustCompile(`^\\?([A-Za-z]+)\b;?\s*(.*?);?$`)
)

// line obeys one line. An error ends the shell: what the person did wrong is
// told, and counted, instead.
func (s *shell) line(ctx context.Context, line string) error {
	if m := sessionPattern.FindStringSubmatch(line); m != nil {
		session := corpus.InitSession
		if m[1] == "" {
			n, err := strconv.Atoi(m[2])
			if err != nil || n < 0 || n > harness.MaxLive {
				s.refuse("sessions are 1 to %d, and init", harness.MaxLive)
				return nil
			}
			session = n
		}
		s.session, line = session, m[3]
	}
	if line == "" || strings.HasPrefix(line, "-- ") || line == "--" {
		return nil
	}
	if m := wordPattern.FindStringSubmatch(line); m != nil {
		word, rest := strings.ToLower(m[1]), m[2]
		switch word {
		case "help":
			s.printf("%s", shellHelp)
			return nil
		case "quit", "exit":
			s.ended = true
			return nil
		case "level", "levels":
			s.setLevels(rest)
			return nil
		case "check":
			s.check(ctx)
			return nil
		case "save":
			s.save(rest)
			return nil
		case "reset":
			return s.reset(ctx)
		case "show":
			if rest == "" {
				s.printf("%s", corpus.Print(s.written(), corpus.Text))
				return nil
			}
		}
	}
	return s.statement(ctx, line)
}

// refuse tells a person what was wrong.
func (s *shell) refuse(format string, args ...any) {
	s.result.Refused++
	s.printf("error: "+format+"\n", args...)
}

func (s *shell) statement(ctx context.Context, sql string) error {
	stmt, err := corpus.ParseStatement(sql)
	if err != nil {
		var p *corpus.ParseError
		if errors.As(err, &p) {
			s.refuse("column %d: %s", p.Column, p.Msg)
			return nil
		}
		return err
	}
	var events []harness.Event
	if s.session == corpus.InitSession {
		err = s.live.Prepare(stmt)
	} else {
		events, err = s.live.Do(ctx, s.session, stmt)
	}
	var (
		refused *harness.RefusedError
		init    *harness.InitError
		level   *harness.LevelError
		lost    *harness.LostError
	)
	s.tell(events)
	switch {
	case err == nil && s.session == corpus.InitSession:
		s.printf("ok\n")
	case errors.As(err, &lost):
		return err
	case errors.As(err, &init):
		s.refuse("%d (%s): %s", init.Err.Code, init.Err.State, init.Err.Message)
	case errors.As(err, &refused), errors.As(err, &level), err != nil && s.session == corpus.InitSession:
		s.refuse("%v", err)
	default:
		return err
	}
	return nil
}

// tell prints what became of statements.
func (s *shell) tell(events []harness.Event) {
	for _, e := range events {
		stmt := s.live.Case().Steps[e.Line].Stmt
		switch e.Kind {
		case harness.Blocked:
			s.printf("tx%d: blocked%s\n", e.Session, byWhom(e.Holders))
		case harness.Parked:
			s.printf("tx%d: waits its turn, as its session is blocked\n", e.Session)
		case harness.Resumed:
			s.printf("tx%d: resumed: %s\n", e.Session, described(stmt, e.Result))
		default:
			s.printf("tx%d: %s\n", e.Session, described(stmt, e.Result))
		}
	}
}

// described is an answer in a few words.
func described(stmt ast.StmtNode, r *history.Result) string {
	if r.Err == nil && len(r.Columns) == 0 && r.Affected <= 0 && !oracle.KindOf(stmt).TouchesRows() {
		return "ok" // SET and such
	}
	return oracle.Describe(stmt, r)
}

func byWhom(holders []int) string {
	names := make([]string, len(holders))
	for i, h := range holders {
		names[i] = strconv.Itoa(h)
	}
	if len(names) == 0 {
		return ""
	}
	return " by " + strings.Join(names, " or ")
}

func sessionList(sessions []int) string {
	names := make([]string, len(sessions))
	for i, n := range sessions {
		names[i] = fmt.Sprintf("tx%d", n)
	}
	return strings.Join(names, ", ")
}
