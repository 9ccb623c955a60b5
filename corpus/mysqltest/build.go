package mysqltest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// statement is an event with what becomes of it.
type statement struct {
	event
	phrase phrase
	role   role
	// word is what is left out, or why it is refused.
	word string
}

// builder makes the case of a part.
type builder struct {
	part
	list []statement
	// begin is the statement with which the sessions begin; what stands before it sets up.
	begin int
	// dropsFrom is the statement from which on the part only drops what there is.
	dropsFrom int
	tracker   *tracker
	tables    map[string]bool
	init      []corpus.Line
	steps     []corpus.Line
	// ofStep holds the place in list of each step, -1 of one that is the case's own.
	ofStep []int
	// session holds the numbers of connections, and level those with which they begin.
	session map[int]int
	level   map[int]corpus.Level
	// kills holds, by the event before which it is, whose wait ends there by the timeout.
	kills     map[int][]int
	databases map[string]bool
	leftOut   []string
	counts    map[string]int
}

// build makes a case, or says why there is none.
func (p part) build(path, file string) (corpus.Stored, *foreign.Refusal) {
	b := &builder{
		part: p, tracker: newTracker(), tables: map[string]bool{}, databases: map[string]bool{},
		session: map[int]int{}, level: map[int]corpus.Level{}, kills: map[int][]int{}, counts: map[string]int{},
	}
	for conn, s := range p.before {
		again := *s
		b.tracker.conns[conn] = &again
	}
	if no := b.sort(); no != nil {
		return corpus.Stored{}, no
	}
	b.begin = b.setUpEnds()
	if no := b.setUp(); no != nil {
		return corpus.Stored{}, no
	}
	if no := b.sessions(); no != nil {
		return corpus.Stored{}, no
	}
	for n := len(b.steps); n > 0 && stmt.KindOf(b.steps[n-1].Stmt) == stmt.Disconnect; n-- {
		b.steps = b.steps[:n-1] // nobody sees it
	}
	c := &corpus.Case{Init: b.init, Steps: b.steps}
	c.Header = []corpus.Field{
		{Key: "source", Value: "mysqltest, " + file},
		{Key: "note", Value: fmt.Sprintf("part %d, from line %d", p.number, p.events[0].line)},
	}
	if len(c.Sessions()) < 2 {
		return corpus.Stored{}, &foreign.Refusal{Reason: oneConnection, Detail: p.events[0].sql}
	}
	c.SetLevels(b.levels(c.Sessions()))
	if len(b.leftOut) > 0 {
		var words []string
		for _, w := range b.leftOut {
			words = append(words, fmt.Sprintf("%s (%d)", w, b.counts[w]))
		}
		c.Set("x-left-out", strings.Join(words, "; "))
	}
	return b.finish(path, c)
}

// levels returns that of each session if one has named it: the others have the server's.
func (b *builder) levels(sessions []int) map[int]corpus.Level {
	if len(b.level) == 0 {
		return nil
	}
	out := map[int]corpus.Level{}
	for _, n := range sessions {
		out[n] = corpus.RepeatableRead
	}
	for conn, l := range b.level {
		out[b.session[conn]] = l
	}
	return out
}

// finish returns the case as it is read back from what Print writes.
func (b *builder) finish(path string, c *corpus.Case) (out corpus.Stored, _ *foreign.Refusal) {
	malformed := func(err error) *foreign.Refusal {
		return &foreign.Refusal{Reason: "the case is malformed", Detail: oneLine(err.Error())}
	}
	if err := c.Validate(); err != nil {
		return out, malformed(err)
	}
	named, err := c.Database()
	delete(b.databases, named)
	if err != nil || len(b.databases) > 1 || len(b.databases) == 1 && named != "" {
		names := strings.Join(slices.Sorted(maps.Keys(b.databases)), ", ")
		return out, &foreign.Refusal{Reason: noDatabase, Detail: strings.Trim(named+", "+names, ", ")}
	}
	again, err := corpus.Parse(path, corpus.Print(c.WithoutDatabase(), corpus.Text))
	if err != nil {
		return out, malformed(err)
	}
	return corpus.Stored{Path: path, Case: again}, nil
}

// sort says of each event what becomes of it, or why the part is no case.
func (b *builder) sort() *foreign.Refusal {
	used := func(name string) bool {
		return slices.ContainsFunc(b.events, func(e event) bool {
			sql := strings.ToLower(e.sql)
			return strings.Contains(sql, "@"+strings.ToLower(name)) && !strings.HasPrefix(sql, "set")
		})
	}
	var no *foreign.Refusal
	speak := map[int]bool{}
	for _, e := range b.events {
		s := statement{event: e, phrase: phraseOf(e.sql)}
		switch {
		case e.no != nil:
			s.role, s.word = refused, e.no.Reason
			if no == nil {
				no = e.no
			}
		case e.ends:
		case b.kill(&s):
		default:
			s.sql = restored(s.sql)
			s.role, s.word = roleOf(s.phrase, s.sql, used)
			if s.role == refused && s.expect == fails && harmless(s.phrase) {
				s.role, s.word = left, s.word+" that fails"
			}
		}
		if what, _ := s.phrase.drops(); !e.ends && what == "" && s.role != passed && s.role != left {
			speak[e.conn] = true
		}
		if s.role == refused && no == nil {
			no = &foreign.Refusal{Reason: s.word, Detail: e.sql}
		}
		b.list = append(b.list, s)
	}
	b.dropsFrom = b.onlyDrops()
	if len(speak) < 2 {
		return &foreign.Refusal{Reason: oneConnection, Detail: b.events[0].sql}
	}
	return no
}

// harmless reports whether a statement that fails can be left out: others may have waited by then.
func harmless(p phrase) bool {
	return p.begins("create") || p.begins("set") || p.begins("prepare")
}

// onlyDrops returns the place from which on statements only drop.
func (b *builder) onlyDrops() int {
	n := len(b.list)
	for n > 0 {
		s := &b.list[n-1]
		what, _ := s.phrase.drops()
		other := what == "" || s.sent || s.expect == fails
		if other && !s.ends && s.role != left && s.role != passed {
			break
		}
		n--
	}
	return n
}

var killPattern = regexp.MustCompile(
	`(?i)^kill\s+(?:hard\s+|soft\s+)?(query\s+|connection\s+)?` + numberOf + `([0-9]+)$`)

// kill reports whether a statement kills a connection by the number that it has told.
func (b *builder) kill(s *statement) bool { return killPattern.MatchString(s.sql) }

// unread is what is said of SQL that a case cannot have, since nobody reads it.
func unread(what, sql string, err error) *foreign.Refusal {
	return &foreign.Refusal{Reason: what + " that is not read", Detail: sql + ": " + oneLine(err.Error())}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
