package mysqltest

import (
	"regexp"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

// setsUp are the first words of what can stand in a set-up.
var setsUp = []string{
	"create", "insert", "replace", "update", "delete", "alter", "rename", "drop", "truncate", "set", "analyze",
	"commit", "rollback",
}

// defines are the first words of those that make or change tables, which is no work of sessions.
var defines = []string{"create", "alter", "rename", "truncate"}

// setUpEnds returns the place of the statement with which the sessions begin: the first of a second connection, or one
// that begins a transaction, or is not waited for. Tables that are changed before that belong to the set-up, whoever
// changes them.
func (b *builder) setUpEnds() int {
	t := newTracker()
	for conn, s := range b.before {
		again := *s
		t.conns[conn] = &again
	}
	first, committed, others := 0, 0, false
	for i := range b.list {
		s := &b.list[i]
		what, _ := s.phrase.drops()
		if s.ends || s.role != kept || what != "" && !s.sent {
			t.see(&s.event)
			continue
		}
		if first == 0 {
			first = s.conn
		}
		others = others || s.conn != first && !s.phrase.begins("set")
		plain := s.phrase.begins("select") && !t.of(s.conn).manual
		undoes := s.phrase.begins("rollback") && t.of(s.conn).open
		if s.sent || !plain && !slices.Contains(setsUp, s.phrase[0]) || undoes || s.setsMore() {
			break
		}
		t.see(&s.event)
		if t.quiet() && (!others || s.expect != fails && slices.Contains(defines, s.phrase[0])) {
			committed = i + 1
		}
	}
	return committed
}

// setsMore reports whether a statement sets something else than a variable of the session.
func (s *statement) setsMore() bool {
	return s.phrase.begins("set") && slices.ContainsFunc(assignments(s.sql), func(a assignment) bool {
		return a.scope != ofSession
	})
}

// leave counts a statement that is left out.
func (b *builder) leave(word string) {
	if b.counts[word]++; b.counts[word] == 1 {
		b.leftOut = append(b.leftOut, word)
	}
}

// setUp makes the lines that make tables and rows. What a connection sets there it has later, too.
func (b *builder) setUp() *foreign.Refusal {
	for i := range b.list[:b.begin] {
		s := &b.list[i]
		if s.role == left {
			b.leave(s.word)
		}
		switch what, _ := s.phrase.drops(); {
		case s.ends, s.role != kept:
		case s.expect == fails:
			b.leave("statements of the set-up that fail")
		case s.phrase.begins("select"):
			b.leave("SELECT of the set-up")
		case s.phrase.begins("commit"), s.phrase.begins("rollback"), s.phrase.begins("analyze"):
		case what != "" && !b.known(s.phrase):
		case s.phrase.begins("set"):
			for _, a := range assignments(s.sql) {
				if a.scope == ofSession && a.name != "autocommit" && a.level == 0 && !isNeutral(a.name) {
					if no := b.addInit(a.sql(), s.phrase); no != nil {
						return no
					}
				}
			}
		default:
			if no := b.addInit(s.sql, s.phrase); no != nil {
				return no
			}
			b.inDatabase(s)
		}
		b.tracker.see(&s.event)
	}
	return nil
}

// known reports whether the set-up has made what a statement drops.
func (b *builder) known(p phrase) bool {
	_, list := p.drops()
	return slices.ContainsFunc(list, func(n string) bool { return b.tables[n] })
}

// inDatabase keeps in which database a statement looks for names that are given without one.
func (b *builder) inDatabase(s *statement) {
	if d := b.tracker.of(s.conn).database; d != "" {
		b.databases[d] = true
	} else {
		b.databases["test"] = true
	}
}

func (b *builder) addInit(sql string, p phrase) *foreign.Refusal {
	sql = b.withoutReplace(sql, p)
	node, err := corpus.ParseStatement(sql)
	if err != nil {
		return unread("SQL of the set-up", sql, err)
	}
	b.init = append(b.init, corpus.Line{Session: corpus.InitSession, Stmt: node})
	b.makes(node)
	return nil
}

var orReplace = regexp.MustCompile(`(?i)^create\s+or\s+replace\s+table`)

// withoutReplace takes OR REPLACE away from a statement that makes a table which is not there.
func (b *builder) withoutReplace(sql string, p phrase) string {
	if b.tables[p.makes()] {
		return sql
	}
	return orReplace.ReplaceAllString(sql, "CREATE TABLE")
}

func (b *builder) makes(node ast.StmtNode) {
	switch s := node.(type) {
	case *ast.CreateTableStmt:
		b.tables[s.Table.Name.L] = true
	case *ast.CreateViewStmt:
		b.tables[s.ViewName.Name.L] = true
	case *ast.RenameTableStmt:
		for _, t := range s.TableToTables {
			b.tables[t.NewTable.Name.L] = true
		}
	}
}
