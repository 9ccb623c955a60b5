package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// inTheEnd says what is wrong where it is no answer to a statement.
var inTheEnd = map[oracle.Kind]string{
	"not-serializable":    "no order of the transactions, one after the other, gives their answers",
	"lost-commit":         "what a transaction committed is missing in the end",
	"lost-write":          "what a statement wrote is missing in the end",
	"kept-rollback":       "what was rolled back is there in the end",
	"wrong-final-state":   "a table holds wrong rows in the end",
	"lost-wakeup":         "a statement goes on waiting after all that blocked it have ended",
	"undetected-deadlock": "a deadlock is not detected",
	"server-crash":        "the server dies",
}

// title says in one line what is wrong, in words that need no knowledge of this
// project.
func (s *script) title() string {
	c := s.History.Cluster
	if c == nil {
		return s.titleOnOne()
	}
	if text := s.clusterTitle(); text != "" {
		return c.Form + ": " + text
	}
	return c.Form + ": " + s.titleOnOne()
}

// titleOnOne is title, but for the servers that it takes.
func (s *script) titleOnOne() string {
	kind := s.Verdict.Kind
	if kind == "" {
		return "nothing wrong at " + s.LevelText()
	}
	if w := s.Account.Wrong; w >= 0 && kind != "not-serializable" {
		_, expected, actual := s.Wrong()
		kind := string(s.Account.Steps[w].Kind)
		if s.Account.Steps[w].Kind == stmt.SelectForShare {
			kind = sharing(s.Timeline, w)
		}
		if leavesOpen(s.Timeline) {
			return fmt.Sprintf("%s at %s leaves a transaction open after a deadlock, though autocommit is on and no BEGIN was sent", kind, s.LevelText())
		}
		return fmt.Sprintf("%s at %s %s", kind, s.LevelText(), contrast(cut(expected), cut(actual)))
	}
	if words := s.lastWords(); s.crashed() && words != "" {
		return s.LevelText() + ": " + s.fate() + ": " + words
	}
	if r := s.History.Replica; r != nil && kind.OfReplica() {
		return replicaTitle(r)
	}
	if text, ok := inTheEnd[kind]; ok {
		return s.LevelText() + ": " + text
	}
	return s.LevelText() + ": " + strings.ReplaceAll(string(kind), "-", " ")
}

// why explains what is wrong in sentences, then gives its name in the literature and,
// where the server told them, the plans of the statements.
func (s *script) why() []string {
	out := slices.Clone(s.Account.Why)
	if s.crashed() && len(out) > 0 {
		out = out[1:] // what was expected and seen, which every form tells
	}
	out = append(s.protocolText(), out...)
	for i := range s.Account.Anomalies {
		a := &s.Account.Anomalies[i]
		out = append(out, fmt.Sprintf("Anomaly: %s: %s.", a.Name, a.Cycle))
	}
	if plans := s.Plans(); len(plans) > 0 {
		out = append(out, "EXPLAIN right before the statements said: "+strings.Join(plans, "; ")+".")
	}
	return out
}

func contrast(expected, actual string) string {
	switch {
	case strings.HasPrefix(expected, "waits"):
		return fmt.Sprintf("does not wait for a lock, but gives %s", actual)
	case strings.HasPrefix(actual, "waits"), actual == "no answer":
		return fmt.Sprintf("waits instead of giving %s", expected)
	}
	return fmt.Sprintf("gives %s instead of %s", actual, expected)
}

// cut shortens an answer for a title: an error to its number, rows to a few.
func cut(s string) string {
	if strings.HasPrefix(s, "error ") {
		s, _, _ = strings.Cut(s, " (")
	}
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
