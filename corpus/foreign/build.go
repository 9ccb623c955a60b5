package foreign

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Case makes a case of a script, or says why there is none.
func (w Words) Case(s *Script) (*corpus.Case, *Refusal) {
	b := &builder{words: w, sessions: map[int]*session{}}
	no := b.build(s)
	if no != nil {
		no.From = s.Path
		return nil, no
	}
	c := &corpus.Case{Header: slices.Clone(s.Header), Init: b.setup.lines}
	levels := b.place(c)
	c.SetLevels(levels)
	if left := slices.Concat(b.setup.leftOut, b.leftOut); len(left) > 0 {
		c.Set("x-left-out", strings.Join(left, "; "))
	}
	if err := c.Validate(); err != nil {
		return nil, &Refusal{From: s.Path, Reason: "the case is malformed", Detail: oneLine(err.Error())}
	}
	// What Print writes must be read as the same case: raw statements are only looked at there.
	again, err := corpus.Parse(s.Path, corpus.Print(c, corpus.Text))
	if err != nil {
		return nil, &Refusal{From: s.Path, Reason: "the case is malformed", Detail: oneLine(err.Error())}
	}
	return again, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// builder makes the lines of one case.
type builder struct {
	words    Words
	setup    *setup
	sessions map[int]*session
	steps    []step
	// leftOut holds what the sessions set and the case does not.
	leftOut []string
}

// step is a line, and whether a transaction begins with it, or a statement without one, and at which level.
type step struct {
	corpus.Line
	opens bool
	level corpus.Level
	// atAny says that it answers alike at all levels, or, as a query without locks, at READ COMMITTED and REPEATABLE READ.
	atAny bool
	query bool
}

// session is what is known of one behind the lines so far.
type session struct {
	// level is that of transactions which name none.
	level corpus.Level
	// begin is the line of the open transaction's BEGIN, -1 where none is open; asked says that it has run a statement.
	begin int
	asked bool
}

// byDefault is the level of a session that names none.
var byDefault = [...]corpus.Level{PostgreSQL: corpus.ReadCommitted, MySQL: corpus.RepeatableRead}

func (b *builder) build(s *Script) *Refusal {
	var blocks [][]statement
	used := map[string]bool{}
	for _, k := range s.Blocks {
		list, err := statements(k.SQL)
		if err != nil {
			return &Refusal{Reason: "SQL that cannot be taken apart", Detail: oneLine(err.Error())}
		}
		blocks = append(blocks, list)
		for _, st := range list {
			for _, t := range st {
				used[strings.ToLower(t.low)] = true
			}
		}
	}
	var no *Refusal
	if b.setup, no = b.words.setUp(s.SetUp, used); no != nil {
		return no
	}
	for i, k := range s.Blocks {
		se := b.sessions[k.Session]
		if se == nil {
			se = &session{level: byDefault[b.words], begin: -1}
			b.sessions[k.Session] = se
		}
		if no := b.block(se, &k, blocks[i]); no != nil {
			return no
		}
	}
	if len(b.steps) == 0 {
		return &Refusal{Reason: "no statement"}
	}
	return nil
}

// block adds the lines of a block. Several statements outside of a transaction get the BEGIN and COMMIT that PostgreSQL
// thinks around them.
func (b *builder) block(se *session, k *Block, list []statement) *Refusal {
	for i := 0; i < len(list); i++ {
		run := 0
		for se.begin < 0 && b.words == PostgreSQL && i+run < len(list) && !control(list[i+run]) {
			run++
		}
		if run > 0 && i+run < len(list) && (run > 1 || begins(list[i+run])) {
			return refuse(list[i+run], "transaction control behind statements of a block without a transaction")
		}
		if run < 2 {
			if no := b.statement(se, k, list[i]); no != nil {
				return no
			}
			continue
		}
		if no := b.begin(se, k, "BEGIN", 0); no != nil {
			return no
		}
		for _, s := range list[i : i+run] {
			if no := b.statement(se, k, s); no != nil {
				return no
			}
		}
		if no := b.end(se, k, "COMMIT"); no != nil {
			return no
		}
		i += run - 1
	}
	return nil
}

// statement adds one statement.
func (b *builder) statement(se *session, k *Block, s statement) *Refusal {
	done, no := b.control(se, k, s)
	if done || no != nil {
		return no
	}
	node, no := b.rows(s)
	if no != nil {
		return no
	}
	line := step{Line: corpus.Line{Session: k.Session, Stmt: node, Note: k.Note}, opens: se.begin < 0, level: se.level}
	line.atAny, line.query = line.opens && b.quiet(), line.opens && stmt.KindOf(node) == stmt.Select
	b.steps = append(b.steps, line)
	se.asked = true
	return nil
}

// quiet reports whether no session has begun a transaction that it has not ended. What is sent then has nobody beside
// it.
func (b *builder) quiet() bool {
	for _, se := range b.sessions {
		if se.begin >= 0 {
			return false
		}
	}
	return true
}

// simple adds a statement that is in this project's own words.
func (b *builder) simple(k *Block, sql string, opens bool, level corpus.Level) *Refusal {
	node, err := corpus.ParseStatement(sql)
	if err != nil { // a name that is none here
		return &Refusal{Reason: "SQL of a session that is not read", Detail: sql + ": " + oneLine(err.Error())}
	}
	line := corpus.Line{Session: k.Session, Stmt: node, Note: k.Note}
	b.steps = append(b.steps, step{Line: line, opens: opens, level: level})
	return nil
}

func (b *builder) begin(se *session, k *Block, sql string, level corpus.Level) *Refusal {
	if level == 0 {
		level = se.level
	}
	se.begin, se.asked = len(b.steps), false
	return b.simple(k, sql, true, level)
}

func (b *builder) end(se *session, k *Block, sql string) *Refusal {
	se.begin = -1
	return b.simple(k, sql, false, 0)
}

// atLevel reports whether a step answers at another level as it does at its own.
func (s *step) atLevel(l corpus.Level) bool {
	return s.atAny || s.query && l != corpus.Serializable && s.level != corpus.Serializable
}

// place puts the lines into the case and returns the level at which each session begins. A session that goes on at
// another level says so.
func (b *builder) place(c *corpus.Case) map[int]corpus.Level {
	first, now := map[int]corpus.Level{}, map[int]corpus.Level{}
	for _, s := range b.steps {
		switch n := s.Session; {
		case !s.opens:
		case now[n] == 0:
			first[n], now[n] = s.level, s.level
		case now[n] != s.level && !s.atLevel(now[n]):
			now[n] = s.level
			set, err := corpus.ParseStatement("SET SESSION TRANSACTION ISOLATION LEVEL " + s.level.String())
			if err != nil {
				panic(err) // the text is this function's own
			}
			c.Steps = append(c.Steps, corpus.Line{Session: n, Stmt: set, Note: s.Note})
		}
		c.Steps = append(c.Steps, s.Line)
	}
	for n, se := range b.sessions {
		if first[n] == 0 && slices.Contains(c.Sessions(), n) {
			first[n] = se.level
		}
	}
	return first
}
