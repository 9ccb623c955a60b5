package mysqltest

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

// connection is one of a file; two of the same name, one after the other, are two.
type connection struct {
	id, pending int
	// no says why it can do nothing that a case could say.
	no *foreign.Refusal
	// numbers holds the variables of the user's in which there are numbers of connections.
	numbers map[string]string
}

const ofDefault = "default"

func (r *runner) connect(name string, no *foreign.Refusal) *connection {
	r.made++
	c := &connection{id: r.made, pending: -1, no: no, numbers: map[string]string{}}
	r.conns[name] = c
	return c
}

// opens does connect (name, host, user, password, database, port, …).
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQL_TEST_COMMANDS.html
func (r *runner) opens(c *command, expected []string) {
	text, ok := r.expand(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(c.text), "("), ")"))
	args := strings.Split(text, ",")
	for len(args) < 6 {
		args = append(args, "")
	}
	for i := range args {
		args[i] = strings.Trim(strings.TrimSpace(args[i]), `'"`)
	}
	if o, _ := r.outcome(expected); o != succeeds {
		if o == unsaid {
			r.refuse("a connection that may not come about", c.text)
		}
		return
	}
	var no *foreign.Refusal
	switch {
	case strings.Contains(args[5], "SLAVE") || strings.Contains(args[5], "SERVER_"):
		no = &foreign.Refusal{Reason: noReplica, Detail: c.text}
	case args[2] != "" && args[2] != "root":
		no = &foreign.Refusal{Reason: "a connection of another user", Detail: c.text}
	case args[4] != "" && args[4] != "test" && !ok, args[4] != "" && args[4] != "test" && args[4] != "mtr":
		no = &foreign.Refusal{Reason: noDatabase, Detail: c.text}
	}
	r.current = r.connect(args[0], no)
	for _, s := range r.server {
		r.sql(s.sql, nil)
	}
}

// given are the variables of the server that a new connection gets and that the levels are about.
var given = []string{"tx_isolation", "autocommit"}

// setsServer keeps what new connections get from now on.
func (r *runner) setsServer(sql string) {
	if p := phraseOf(sql); !p.begins("set") || !p.has("global") {
		return
	}
	for _, a := range assignments(restored(sql)) {
		if a.scope != ofServer || !slices.Contains(given, a.name) {
			continue
		}
		r.server = slices.DeleteFunc(r.server, func(o setting) bool { return o.name == a.name })
		if !a.isDefault && !a.reads {
			a.node.IsGlobal = false
			r.server = append(r.server, setting{a.name, a.sql()})
		}
	}
}

func (r *runner) switches(c *command) {
	name, _ := r.expand(c.text)
	to, found := r.conns[strings.TrimSpace(name)]
	if !found {
		r.refuse("a connection that the file does not make", c.text)
		return
	}
	r.current = to
}

func (r *runner) closes(c *command) {
	name, _ := r.expand(c.text)
	name = strings.TrimSpace(name)
	gone, found := r.conns[name]
	if !found {
		return
	}
	delete(r.conns, name)
	e := event{conn: gone.id, line: r.line, ends: true, expect: succeeds, reaped: len(r.events) + 1}
	r.events = append(r.events, e)
}
