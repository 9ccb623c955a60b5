package mysqltest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// sessions makes the lines of the sessions.
func (b *builder) sessions() *foreign.Refusal {
	for i := b.begin; i < len(b.list); i++ {
		b.endWaits(i)
		s := &b.list[i]
		if no := b.line(i, s); no != nil {
			return no
		}
		b.tracker.see(&s.event)
		if s.role == kept && s.expect == fails && s.timesOut() {
			at := b.waitEnds(i)
			b.kills[at] = append(b.kills[at], s.conn)
		}
	}
	return nil
}

func (b *builder) line(i int, s *statement) *foreign.Refusal {
	open := b.tracker.of(s.conn).open
	switch {
	case s.ends && (!open || b.session[s.conn] == 0):
		return nil
	case s.ends:
		return b.add(i, s, "disconnect")
	case s.role == left:
		b.leave(s.word)
		return nil
	case s.role == passed, b.pointless(i, s):
		return nil
	}
	b.inDatabase(s)
	if b.early(s, open) {
		return b.addInit(s.sql, s.phrase)
	}
	if m := killPattern.FindStringSubmatch(s.sql); m != nil {
		conn, err := strconv.Atoi(m[2])
		if err != nil || b.session[conn] == 0 {
			return &foreign.Refusal{Reason: "KILL", Detail: s.sql}
		}
		return b.add(i, s, fmt.Sprintf("KILL %s tx%d", strings.TrimSpace(m[1]), b.session[conn]))
	}
	if s.phrase.begins("set") {
		return b.set(i, s)
	}
	return b.add(i, s, b.withoutReplace(s.sql, s.phrase))
}

// pointless reports whether a statement drops what nobody has made, or what nobody names behind it.
func (b *builder) pointless(i int, s *statement) bool {
	what, list := s.phrase.drops()
	if what == "" || s.expect == fails || s.sent {
		return false
	}
	tables := what == "table" || what == "tables" || what == "view"
	if tables && !b.known(s.phrase) || i >= b.dropsFrom {
		return true
	}
	if !tables || !b.tracker.quiet() {
		return false
	}
	for _, behind := range b.list[i+1:] {
		if slices.ContainsFunc(list, behind.phrase.hasName) {
			return false
		}
	}
	return true
}

// early reports whether a session makes a table that the set-up may as well make: nobody has asked for it before.
func (b *builder) early(s *statement, open bool) bool {
	name := s.phrase.makes()
	if name == "" || open || s.sent || s.expect == fails || s.phrase.has("select") || b.tables[name] {
		return false
	}
	if at := s.phrase.find("like"); at >= 0 {
		return false
	}
	for _, l := range b.ofStep {
		if l >= 0 && b.list[l].phrase.hasName(name) {
			return false
		}
	}
	return true
}

// set adds what a session sets. A level before all else is that with which it begins.
func (b *builder) set(i int, s *statement) *foreign.Refusal {
	list := assignments(s.sql)
	sets := b.tracker.of(s.conn).sets
	switch {
	case len(list) != 1 || list[0].scope != ofSession:
	case b.session[s.conn] == 0 && !slices.Contains(once, list[0].name):
		return nil // begins takes it over
	case list[0].isDefault && !slices.ContainsFunc(sets, func(o setting) bool { return o.name == list[0].name }):
		return nil
	}
	return b.add(i, s, s.sql)
}

// begins gives a connection its number. What it has set before is its first lines.
func (b *builder) begins(conn int) *foreign.Refusal {
	if b.session[conn] != 0 {
		return nil
	}
	b.session[conn] = len(b.session) + 1
	for _, set := range b.tracker.of(conn).sets {
		list := assignments(set.sql)
		if len(list) == 1 && list[0].level != 0 {
			b.level[conn] = list[0].level
			continue
		}
		if len(list) == 1 && isNeutral(list[0].name) {
			continue
		}
		if no := b.append(-1, conn, set.sql, ""); no != nil {
			return no
		}
	}
	return nil
}

func (b *builder) add(i int, s *statement, sql string) *foreign.Refusal {
	if no := b.begins(s.conn); no != nil {
		return no
	}
	note := ""
	if len(s.errors) > 0 {
		note = "error " + strings.Join(s.errors, ", ")
	}
	return b.append(i, s.conn, sql, note)
}

func (b *builder) append(i, conn int, sql, note string) *foreign.Refusal {
	node, err := corpus.ParseStatement(sql)
	if err != nil {
		node, err = corpus.ParseStatement(shareMode.ReplaceAllString(sql, "FOR SHARE $1"))
	}
	if err != nil {
		raw := b.raw(sql)
		if raw == nil {
			return unread("SQL of a session", sql, err)
		}
		node = raw
	}
	b.makes(node)
	b.steps = append(b.steps, corpus.Line{Session: b.session[conn], Stmt: node, Note: note})
	b.ofStep = append(b.ofStep, i)
	return nil
}

// shareMode is what MariaDB calls FOR SHARE, with what the parser does not read behind it.
var shareMode = regexp.MustCompile(`(?i)\bLOCK\s+IN\s+SHARE\s+MODE\s+(NOWAIT|SKIP\s+LOCKED)\s*$`)

// rowVerbs begin the statements that can be raw.
var rowVerbs = []string{"select", "with", "insert", "replace", "update", "delete"}

// raw is a statement that only the server reads, nil if it names no table or is none of rows.
func (b *builder) raw(sql string) ast.StmtNode {
	out := &stmt.RawStmt{SQL: sql}
	words := out.Words()
	if len(words) == 0 || !slices.Contains(rowVerbs, words[0]) {
		return nil
	}
	if words[0] == "replace" {
		words[0] = "insert"
	}
	out.Touch(words, b.tables)
	if phrase(words).has("share") && out.Lock == stmt.None {
		out.Lock = stmt.Share
	}
	if len(out.Reads)+len(out.Writes) == 0 {
		return nil
	}
	return out
}
