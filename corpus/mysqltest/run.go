package mysqltest

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

const (
	// mostRounds is how many rounds of a loop are written out.
	mostRounds = 20
	// mostCommands is how many commands are done of a file, with its loops written out.
	mostCommands = 100_000
	// deepestSource is how deep files may read files.
	deepestSource = 10
)

// runner does what mysqltest does, and writes down what it would send.
type runner struct {
	source  Source
	vars    map[string]value
	conns   map[string]*connection
	made    int
	current *connection
	events  []event
	// expected is what --error says of the next command, nil for nothing.
	expected []string
	// lenient says that a statement may fail without a word.
	lenient bool
	// send says that the next SQL is not waited for.
	send bool
	// server holds what a new connection gets of what the file has set for the whole server.
	server  []setting
	line    int
	depth   int
	done    int
	stopped bool
}

func newRunner(source Source) *runner {
	r := &runner{source: source, vars: map[string]value{}, conns: map[string]*connection{}}
	r.current = r.connect(ofDefault, nil)
	return r
}

// run does commands in order.
func (r *runner) run(list []command) {
	for i := range list {
		if r.stopped {
			return
		}
		c := &list[i]
		if r.depth == 0 {
			r.line = c.in.line(c.at)
		}
		if r.done++; r.done > mostCommands {
			r.refuse("more commands than are done", "")
			r.stopped = true
			return
		}
		r.command(c)
	}
}

// refuse notes that something happens here that no case can say.
func (r *runner) refuse(reason, detail string) {
	no := &foreign.Refusal{Reason: reason, Detail: oneLine(detail)}
	r.events = append(r.events, event{conn: r.current.id, line: r.line, no: no})
}

// shells run programs, restarts end the server, waits are about a second one, and users begin a connection anew.
var (
	shells   = []string{"exec", "execw", "system"}
	restarts = []string{"shutdown_server", "send_shutdown"}
	waits    = []string{"sync_slave_with_master", "sync_with_master", "save_master_pos", "wait_for_slave_to_stop"}
	users    = []string{"change_user", "reset_connection"}
)

// Reasons that several places have.
const (
	noLoop     = "a loop or condition"
	noVariable = "a variable whose value the server says"
	noSource   = "a file that it reads"
	noRestart  = "a restart of the server"
	noReplica  = "replication"
)

func (r *runner) command(c *command) {
	expected := r.expected
	if !quiet[c.name] && !strings.HasPrefix(c.name, enable) && !strings.HasPrefix(c.name, disable) {
		r.expected = nil
	}
	switch name := c.name; {
	case name == "":
		r.sql(c.text, expected)
	case name == "error":
		codes, _, _ := strings.Cut(c.text, "#")
		r.expected = strings.FieldsFunc(codes, func(b rune) bool { return b == ',' || b == ' ' || b == '\t' })
	case name == "disable_abort_on_error", name == "enable_abort_on_error":
		r.lenient = name == "disable_abort_on_error"
	case name == "let":
		r.let(c.text)
	case name == "inc", name == "dec":
		r.count(c.text, name == "inc")
	case name == "if", name == "while":
		r.branch(c)
	case name == "connect":
		r.opens(c, expected)
	case name == "connection":
		r.switches(c)
	case name == "disconnect", name == "dirty_close":
		r.closes(c)
	case name == "send", name == "send_eval":
		r.send = true
		if c.text != "" {
			r.sqlWith(c.text, name == "send_eval", nil)
		}
	case name == "reap":
		r.reap(expected)
	case sendsSQL[name]:
		r.sqlWith(c.text, strings.HasPrefix(name, "eval"), expected)
	case name == "source":
		r.include(c)
	case name == "exit", name == "skip", name == "die":
		r.stopped = true
	case slices.Contains(shells, name):
		r.refuse(name, c.text)
	case slices.Contains(restarts, name):
		r.refuse(noRestart, name)
	case slices.Contains(waits, name):
		r.refuse(noReplica, name)
	case slices.Contains(users, name):
		r.refuse(name, c.text)
	}
}

// quiet are the commands between --error and that of which it speaks.
var quiet = map[string]bool{
	"sorted_result": true, "partially_sorted_result": true, "replace_result": true, "replace_column": true,
	"replace_regex": true, "replace_numeric_round": true, "lowercase_result": true, "horizontal_results": true,
	"vertical_results": true, "error": true, "echo": true, "send": true, "send_eval": true, "query_attributes": true,
}

// sqlWith sends SQL in which variables stand, if eval says so.
func (r *runner) sqlWith(sql string, eval bool, expected []string) {
	if eval {
		text, ok := r.expand(sql)
		p := phraseOf(text)
		if !ok && p.begins("set") {
			text, ok = unexpanded.ReplaceAllString(text, "DEFAULT"), true // tests keep what a variable was
		}
		if !ok && !looksOnly(p) {
			r.send = false
			r.refuse(noVariable, sql)
			return
		}
		sql = text
	}
	r.sql(sql, expected)
}

var unexpanded = regexp.MustCompile(`['"]?\$[A-Za-z0-9_]+['"]?`)

func (r *runner) sql(sql string, expected []string) {
	sent := r.send
	r.send = false
	c := r.current
	if c.no != nil {
		r.refuse(c.no.Reason, c.no.Detail)
		return
	}
	e := event{conn: c.id, line: r.line, sql: plainSQL(sql), sent: sent, reaped: len(r.events) + 1}
	if e.sql == "" || r.keeps(e.sql) {
		return
	}
	if m := byVariable.FindStringSubmatch(e.sql); m != nil && c.numbers[strings.ToLower(m[2])] != "" {
		e.sql = m[1] + c.numbers[strings.ToLower(m[2])]
	}
	if sent {
		c.pending = len(r.events)
		e.reaped = math.MaxInt
	} else {
		e.expect, e.errors = r.outcome(expected)
	}
	r.events = append(r.events, e)
	if e.expect != fails {
		r.setsServer(e.sql)
	}
}

var byVariable = regexp.MustCompile(`(?i)^(kill\s.*)(@\w+)$`)

// outcome is what --error says: codes, names of errors and SQLSTATEs; 0 stands for success.
func (r *runner) outcome(expected []string) (outcome, []string) {
	switch {
	case len(expected) == 0 && r.lenient:
		return unsaid, nil
	case len(expected) == 0, len(expected) == 1 && expected[0] == "0":
		return succeeds, nil
	case slices.Contains(expected, "0"):
		return unsaid, expected
	}
	return fails, expected
}

func (r *runner) reap(expected []string) {
	c := r.current
	if c.pending < 0 {
		return
	}
	e := &r.events[c.pending]
	e.reaped = len(r.events)
	e.expect, e.errors = r.outcome(expected)
	c.pending = -1
}
