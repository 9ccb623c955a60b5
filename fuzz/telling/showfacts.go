package telling

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// writeFacts tells in brief what a server told that was asked in this run: how each
// statement reads its tables, and what was held at the step that went wrong.
func writeFacts(b *strings.Builder, t *timeline.Timeline) {
	f := t.History.Facts
	if f == nil {
		return
	}
	b.WriteString("  the server was asked in this run, before each statement for its plan:\n")
	for _, s := range t.Plans() {
		fmt.Fprintf(b, "    %s\n", wrapped(s, "      "))
	}
	if h := heldAt(t.History, t.Account.Wrong); h != nil {
		step := t.History.Stmts[t.Account.Wrong].Line + 1
		for _, s := range heldText(h) {
			fmt.Fprintf(b, "    %s\n", wrapped(fmt.Sprintf("behind step %d: %s", step, s), "      "))
		}
	}
	for _, s := range f.Untold {
		fmt.Fprintf(b, "    %s\n", wrapped("not told: "+s, "      "))
	}
}

// heldAt returns what was held when a statement had answered or was known to wait; nil
// where that was not asked.
func heldAt(h *history.History, stmt int) *history.Holding {
	if stmt < 0 || h.Facts == nil {
		return nil
	}
	sent := h.Stmts[stmt].Submit
	i := slices.IndexFunc(h.Facts.Holdings, func(x history.Holding) bool { return x.After >= sent })
	if i < 0 {
		return nil
	}
	return &h.Facts.Holdings[i]
}

// heldText tells what the transactions held, a sentence for each session and kind.
func heldText(h *history.Holding) []string {
	var out []string
	say := func(session int, verb string, waits bool) {
		var parts []string
		for i := range h.Locks {
			if l := &h.Locks[i]; l.Session == session && l.Waits == waits {
				parts = append(parts, lockText(l))
			}
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("tx%d %s %s", session, verb, strings.Join(parts, ", ")))
		}
	}
	var sessions []int
	for i := range h.Locks {
		if s := h.Locks[i].Session; !slices.Contains(sessions, s) {
			sessions = append(sessions, s)
		}
	}
	for _, s := range sessions {
		say(s, "has locked", false)
		say(s, "waits for", true)
	}
	for _, v := range h.Views {
		out = append(out, fmt.Sprintf("tx%d has a read view: it shows what transactions below %d wrote, nothing of %d and later ones", v.Session, v.Sees, v.NotFrom))
	}
	if len(h.Views) > 0 && len(h.Transactions) > 0 {
		var ids []string
		for _, s := range slices.Sorted(maps.Keys(h.Transactions)) {
			ids = append(ids, fmt.Sprintf("tx%d is transaction %d", s, h.Transactions[s]))
		}
		out = append(out, strings.Join(ids, ", "))
	}
	return out
}

// lockText is a lock in the server's words: "X,REC_NOT_GAP on (5) of PRIMARY of t".
func lockText(l *history.Lock) string {
	switch {
	case l.Kind == history.TableLock:
		return l.Mode + " on " + l.Table
	case l.Kind == history.Supremum:
		return fmt.Sprintf("%s on the end of %s of %s", l.Mode, l.Index, l.Table)
	case len(l.Fields) == 0:
		return fmt.Sprintf("%s on an entry of %s of %s", l.Mode, l.Index, l.Table)
	}
	return fmt.Sprintf("%s on (%s) of %s of %s", l.Mode, strings.Join(l.Fields, ","), l.Index, l.Table)
}

// ShowFacts writes all that a server told in a run, in its own words: the plan and the
// optimizer's trace of each statement, and what was held behind each.
func ShowFacts(w io.Writer, r timeline.Run) error {
	var b strings.Builder
	if r.History == nil || r.History.Facts == nil {
		b.WriteString("nothing was asked in this run\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	f := r.History.Facts
	t := timeline.Of(r)
	for i := range t.Moments {
		m := &t.Moments[i]
		if m.Resumed {
			continue
		}
		fmt.Fprintf(&b, "step %d, tx%d: %s\n", m.Step, m.Session, m.SQL)
		for _, x := range []struct{ what, text string }{{"plan", f.Plans[m.Stmt]}, {"optimizer's trace", f.Traces[m.Stmt]}} {
			if x.text != "" {
				fmt.Fprintf(&b, "  %s:\n    %s\n", x.what, strings.ReplaceAll(strings.TrimRight(x.text, "\n"), "\n", "\n    "))
			}
		}
		if h := heldAt(r.History, m.Stmt); h != nil {
			for _, s := range heldText(h) {
				fmt.Fprintf(&b, "  %s\n", wrapped("then "+s, "    "))
			}
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
