package mysqltest

import (
	"maps"
	"slices"
	"strings"
)

// part is a piece of a file that begins with no table and no open transaction.
type part struct {
	number int
	events []event
	// from is the number of its first event in the file.
	from int
	// before is what the connections have set before it.
	before map[int]*status
}

// status is what is known of a connection behind the events so far.
type status struct {
	// open says that a transaction is open, manual that every statement opens one: autocommit is 0.
	open, manual bool
	database     string
	// sets holds the statements that set its variables, in order, under their names.
	sets []setting
}

type setting struct{ name, sql string }

// tracker follows the transactions of connections, and the tables that there are.
type tracker struct {
	conns  map[int]*status
	tables map[string]bool
}

func newTracker() *tracker { return &tracker{conns: map[int]*status{}, tables: map[string]bool{}} }

func (t *tracker) of(conn int) *status {
	s := t.conns[conn]
	if s == nil {
		s = &status{}
		t.conns[conn] = s
	}
	return s
}

func (t *tracker) quiet() bool {
	for _, s := range t.conns {
		if s.open {
			return false
		}
	}
	return true
}

// see follows an event.
func (t *tracker) see(e *event) {
	s := t.of(e.conn)
	switch {
	case e.ends:
		s.open = false
		return
	case e.no != nil:
		return
	}
	p := phraseOf(e.sql)
	if p.begins("set") {
		e.sql = restored(e.sql)
	}
	if e.expect == fails {
		s.open = s.open && !slices.ContainsFunc(e.errors, func(code string) bool { return rollsBack[code] })
		return
	}
	switch {
	case p.begins("use") && len(p) == 2:
		s.database = p[1]
	case p.begins("begin"), p.begins("start", "transaction"):
		s.open = true
	case p.begins("commit"), p.begins("rollback") && !p.has("to"):
		s.open = p.has("chain") && !p.has("no")
	case p.begins("set"):
		t.set(s, e.sql)
	case commits(p):
		s.open = false
	case s.manual && !looksOnly(p):
		s.open = true
	}
	t.objects(s, p)
}

// rollsBack are the errors behind which a transaction is gone.
var rollsBack = map[string]bool{"ER_LOCK_DEADLOCK": true, "1213": true, "ER_CHECKREAD": true, "1020": true}

// commits reports whether a statement commits, whatever it does besides.
// https://dev.mysql.com/doc/refman/en/implicit-commit.html
func commits(p phrase) bool {
	switch {
	case len(p) == 0:
		return false
	case p.has("temporary"):
		return false
	}
	return slices.Contains([]string{"create", "drop", "alter", "rename", "truncate", "analyze", "lock", "grant"}, p[0])
}

func (t *tracker) set(s *status, sql string) {
	for _, a := range assignments(sql) {
		if a.scope != ofSession || slices.Contains(once, a.name) {
			continue
		}
		if a.name == "autocommit" {
			s.manual = a.off
			s.open = s.open && a.off
		}
		s.sets = slices.DeleteFunc(slices.Clone(s.sets), func(o setting) bool { return o.name == a.name })
		if !a.isDefault {
			s.sets = append(s.sets, setting{a.name, a.sql()})
		}
	}
}

// objects follows which tables there are.
func (t *tracker) objects(s *status, p phrase) {
	name := func(n string) string {
		if strings.Contains(n, ".") || s.database == "" || s.database == "test" {
			return n
		}
		return s.database + "." + n
	}
	if n := p.makes(); n != "" {
		t.tables[name(n)] = true
	}
	switch what, list := p.drops(); what {
	case "table", "tables":
		for _, n := range list {
			delete(t.tables, name(n))
		}
	case "database", "schema":
		for _, n := range list {
			maps.DeleteFunc(t.tables, func(table string, _ bool) bool { return strings.HasPrefix(table, n+".") })
		}
	}
	from, to := p.renames()
	for i := range from {
		if t.tables[name(from[i])] {
			delete(t.tables, name(from[i]))
			t.tables[name(to[i])] = true
		}
	}
}

// parts cuts events where all tables have been dropped, no transaction is open and no answer is missing. Parts without
// a table are left out: nothing of them is about rows.
func parts(events []event) []part {
	var out []part
	t := newTracker()
	now := part{before: map[int]*status{}}
	made, waited := false, 0
	add := func() {
		if made {
			now.number = len(out) + 1
			out = append(out, now)
		}
	}
	for i := range events {
		e := &events[i]
		now.events = append(now.events, *e)
		t.see(e)
		made = made || len(t.tables) > 0
		if e.sent {
			waited = max(waited, e.reaped)
		}
		if !made || len(t.tables) > 0 || !t.quiet() || waited > i+1 {
			continue
		}
		add()
		made = false
		now = part{from: i + 1, before: map[int]*status{}}
		for conn, s := range t.conns {
			again := *s
			now.before[conn] = &again
		}
	}
	add()
	return out
}
