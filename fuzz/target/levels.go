package target

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// LevelsFor gives every session of a case the level that its header gives it,
// or else fallback.
func LevelsFor(c *corpus.Case, fallback corpus.Level) map[int]corpus.Level {
	out := map[int]corpus.Level{}
	for _, s := range c.Sessions() {
		if l, ok := c.LevelOf(s); ok {
			out[s] = l
		} else {
			out[s] = fallback
		}
	}
	return out
}

// LevelName names the levels of a run: one short name if they are all the
// same, else tx1=RC, tx2=RR.
func LevelName(levels map[int]corpus.Level) string {
	sessions := make([]int, 0, len(levels))
	for s := range levels {
		sessions = append(sessions, s)
	}
	slices.Sort(sessions)
	parts := make([]string, 0, len(sessions))
	same := true
	for _, s := range sessions {
		same = same && levels[s] == levels[sessions[0]]
		parts = append(parts, fmt.Sprintf("tx%d=%s", s, levels[s].Short()))
	}
	if same && len(sessions) > 0 {
		return levels[sessions[0]].Short()
	}
	return strings.Join(parts, ", ")
}

// Offered returns the levels asked for, all of which the target must know;
// none asked for: all it knows.
func Offered(t *Target, asked []corpus.Level) ([]corpus.Level, error) {
	have := t.Levels()
	if len(asked) == 0 {
		return have, nil
	}
	for _, l := range asked {
		if !slices.Contains(have, l) {
			return nil, &LevelError{t.Name, l, have, t.whyNot(l)}
		}
	}
	return asked, nil
}

// LevelError says that a target does not know a level that was asked for.
type LevelError struct {
	Target string
	Level  corpus.Level
	Have   []corpus.Level // those that it knows
	Why    string         `json:",omitempty"` // why it has not this one; empty: it is no level of the server
}

// Error names the levels that there are.
func (e *LevelError) Error() string {
	names := ""
	for i, l := range e.Have {
		if i > 0 {
			names += ", "
		}
		names += l.Short()
	}
	why := ""
	if e.Why != "" {
		why = ": " + e.Why
	}
	return fmt.Sprintf("target %s has no level %s%s; it has %s", e.Target, e.Level.Short(), why, names)
}

// Missing returns a level of a run that the target does not know.
func (t *Target) Missing(levels map[int]corpus.Level) (corpus.Level, bool) {
	have := map[corpus.Level]bool{}
	for _, l := range t.Levels() {
		have[l] = true
	}
	for _, l := range corpus.Levels {
		for _, want := range levels {
			if want == l && !have[l] {
				return l, true
			}
		}
	}
	return 0, false
}

// LevelNames returns the short names of levels, such as RC.
func LevelNames(levels []corpus.Level) []string {
	out := make([]string, len(levels))
	for i, l := range levels {
		out[i] = l.Short()
	}
	return out
}

// ParseLevels reads a list such as RC,RR. An empty text gives none.
func ParseLevels(text string) ([]corpus.Level, error) {
	var out []corpus.Level
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		l, err := corpus.ParseLevel(name)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
