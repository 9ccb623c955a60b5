package export

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// held is the step that is held inside of the server, counted from 1 as the export counts, and where; 0
// where none is.
func (s *script) held() (step int, at *corpus.Hold) {
	if i, _ := s.Case.Held(); i >= 0 && s.History.Held() {
		return i + 1, s.Case.Steps[i].Hold
	}
	return 0, nil
}

// onlySend are the forms that do nothing but send statements.
var onlySend = []string{"mtr", "isolationtester", "go"}

// errHeld, errHeldRequest, errMembers and errReplica are why they cannot express a case.
var (
	errHeld = errors.New("one statement is held inside of the server, at an instruction of its program: " +
		"want --format gdb")
	errHeldRequest = errors.New("a request of one statement to the store of TiDB is held, which is done in the " +
		"built-in TiDB only: want --format two-terminals or markdown")
	errMembers = errors.New("its sessions are on different nodes of a cluster: want --format two-terminals, markdown, jira " +
		"or bugs.mysql")
	errReplica = errors.New("what is wrong is on a replica, which such a test does not look at: want --format two-terminals, " +
		"markdown, jira or bugs.mysql")
)

//go:embed gdb.py
var gdbProgram string

// programs names the process of a server as pidof wants it.
var programs = map[history.DBMS]string{history.MySQL: "mysqld", history.MariaDB: "mariadbd", history.PostgreSQL: "postgres"}

// threadOf asks for the system's id of a session's own thread.
var threadOf = map[history.DBMS]string{
	history.MySQL:   "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
	history.MariaDB: "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
	// Each session is a process of one thread.
	history.PostgreSQL: "SELECT pg_backend_pid()",
}

// inGDB writes a script for gdb that holds the statement, and above it the lines that go into the terminals.
func inGDB(s *script) (Files, error) {
	switch step, at := s.held(); {
	case step == 0:
		return Files{}, errors.New("no statement of the case was held inside of the server: want --format two-terminals")
	case at.Request != "":
		return Files{}, errHeldRequest
	}
	steps, err := terminals(s)
	if err != nil {
		return Files{}, err
	}
	var b bytes.Buffer
	for line := range strings.Lines(string(steps.Text)) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	b.WriteString("\n" + s.gdbScript())
	return Files{Text: b.Bytes()}, nil
}

// gdbScript holds the statement of a case that has one, and says at its top how it is used; "" for another
// case, and for one of which a request to the store is held.
func (s *script) gdbScript() string {
	step, at := s.held()
	if step == 0 || at.Request != "" {
		return ""
	}
	session, dbms := s.Case.Steps[step-1].Session, s.History.Server.DBMS
	pid := "$(pidof " + programs[dbms] + ")"
	if dbms == history.PostgreSQL {
		pid = "that number"
	}
	var b bytes.Buffer
	comment(&b, "#", "A debugger holds the thread of tx%d in step %d, at %s; the other threads go on. The program is that of the\n"+
		"build id %s (readelf -n tells it): in another build the place is elsewhere. On a server of your own:\n"+
		"1. Do all that stands before step %d, and in tx%d ask for its thread:\n   %s;\n"+
		"2. PID=%s TID=that number gdb -q -x a file with these lines\n"+
		"3. Once gdb says that it is armed, send step %d; gdb says that it is held.\n"+
		"4. Go on with the steps behind it; then say: release",
		session, step, at.Where(), at.Build, step, session, threadOf[dbms], pid, step)
	fill := strings.NewReplacer("@ADDRESS@", addressOf(at), "@HIT@", strconv.Itoa(at.Hit), "@PROGRAM@", programs[dbms])
	b.WriteString(fill.Replace(gdbProgram))
	return b.String()
}

// addressOf is a place as gdb's Python computes it: where the file is loaded and a number, or a symbol and
// what is added.
func addressOf(at *corpus.Hold) string {
	if start, err := strconv.ParseUint(strings.TrimPrefix(at.Function, "fn_"), 16, 64); err == nil && strings.HasPrefix(at.Function, "fn_") {
		return fmt.Sprintf("base + %#x", start+at.Offset)
	}
	return fmt.Sprintf("int(gdb.parse_and_eval(\"(unsigned long)&'%s'\")) + %#x", at.Function, at.Offset)
}
