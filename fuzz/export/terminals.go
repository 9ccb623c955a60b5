package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// terminals writes the case in the form of the hermitage tests: a line a
// statement, its comment names the terminal it is for and what to see there.
// https://github.com/ept/hermitage
func terminals(s *script) (Files, error) {
	var b bytes.Buffer
	first := s.Sessions[0]
	comment(&b, "--", "%s", s.title())
	comment(&b, "--", "%s", s.serverLine())
	if on := s.topologyText(); on != "" {
		comment(&b, "--", "%s", on)
	}
	if needs := s.needsText(plainCode); needs != "" {
		comment(&b, "--", "%s", needs)
	}
	for _, x := range s.options(false) {
		comment(&b, "--", "Start the server with %s.", x.Option)
	}
	if often := s.howOften(plainCode); often != "" {
		comment(&b, "--", "%s", often)
	}
	comment(&b, "--", "Each of tx1, tx2 and so on is a terminal of its own. Paste each line into the terminal\nthat its comment names, in an empty database.\nGo on when it returns or, where it says BLOCKS, when it hangs.")
	if s.database() != "" || s.onPostgres() {
		make, use := s.fresh()
		comment(&b, "--", "Make a place for the tables, and use it in each terminal:\n  %s;\n  %s;", make, use)
	}
	s.idsByHand(&b)
	b.WriteByte('\n')
	// A step of 0 is none of the case.
	line := func(session, step int, sql string, notes ...string) {
		note := strings.Map(printable, strings.Join(full(notes), ". "))
		if note != "" {
			note = ". " + note
		}
		if step > 0 {
			note = fmt.Sprintf(", step %d%s", step, note)
		}
		fmt.Fprintf(&b, "%s; -- tx%d%s\n", sql, session, note)
	}
	for _, n := range s.Sessions {
		for _, sql := range s.prepare(n, true) {
			line(n, 0, sql)
		}
	}
	if s.past() {
		line(slices.Max(s.Sessions)+1, 0, holdsPurge, "Leave it open: it keeps InnoDB from purging deleted rows")
	}
	for _, sql := range s.setup() {
		line(first, 0, sql)
	}
	b.WriteByte('\n')
	for i := range s.actions {
		a := &s.actions[i]
		if a.Resumed {
			continue // told at the line that released it
		}
		var notes []string
		switch {
		case !a.Answered && s.crashed():
			notes = append(notes, s.unanswered())
		case a.Waits:
			notes = append(notes, blocks(a))
		default:
			notes = append(notes, result(a))
		}
		for j := i + 1; j < len(s.actions) && s.actions[j].Resumed; j++ {
			back := fmt.Sprintf("tx%d returns from step %d", s.actions[j].Session, s.actions[j].Step)
			if shown := result(&s.actions[j]); shown != "" {
				back += ": " + shown
			}
			notes = append(notes, back)
		}
		line(a.Session, a.Step, a.sql, append(a.byHand(a.Session), notes...)...)
	}
	if s.crashed() {
		b.WriteString(strings.Join(append(s.answersFirst(), ""), "\n"))
	}
	b.WriteByte('\n')
	// A SELECT within a transaction that the case left open would show its
	// snapshot and its own writes.
	for _, n := range s.Sessions {
		if leftOpen(s.History, n) && !s.crashed() {
			line(n, 0, "ROLLBACK")
		}
	}
	for i, t := range s.History.Final {
		note := "shows " + timeline.Rows(t.Rows)
		if i < len(s.Account.Final) && bag(t.Rows) != bag(s.Account.Final[i].Rows) {
			note += ", expected " + timeline.Rows(s.Account.Final[i].Rows)
		}
		line(first, 0, s.readsTable(t.Name), note)
	}
	b.WriteByte('\n')
	for _, w := range s.why() {
		comment(&b, "--", "%s", w)
	}
	for _, l := range s.Account.Links {
		comment(&b, "--", "%s", l)
	}
	return Files{Text: b.Bytes()}, nil
}

// leftOpen reports whether a session was in a transaction when its last
// statement had returned.
func leftOpen(h *history.History, session int) bool {
	open := false
	for i := range h.Stmts {
		if st := &h.Stmts[i]; st.Session == session {
			open = st.Return > 0 && st.Result.InTxn
		}
	}
	return open
}

// blocks says that a statement hangs, and who holds what it waits for.
func blocks(a *action) string {
	if len(a.Holders) == 0 {
		return "BLOCKS"
	}
	names := make([]string, len(a.Holders))
	for i, h := range a.Holders {
		names[i] = fmt.Sprintf("tx%d", h)
	}
	return "BLOCKS until " + strings.Join(names, " and ") + " lets it go on"
}

// result says what a statement shows, and what it had to show.
func result(a *action) string {
	if a.Differs {
		return "shows " + a.Answer + ", expected " + a.Expected
	}
	if a.Answer == "ok" {
		return ""
	}
	return "shows " + a.Answer
}

// full drops the empty notes.
func full(notes []string) []string {
	var out []string
	for _, n := range notes {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
