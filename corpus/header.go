package corpus

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const levelKey = "level"

// allSessions is the key in a level map for sessions that have no own entry.
const allSessions = -1

// parseLevels reads the value of the header line `level`.
func parseLevels(value string) (map[int]Level, error) {
	if !strings.Contains(value, "=") {
		l, err := ParseLevel(strings.TrimSpace(value))
		if err != nil {
			return nil, err
		}
		return map[int]Level{allSessions: l}, nil
	}
	out := map[int]Level{}
	for _, part := range strings.Split(value, ",") {
		who, what, _ := strings.Cut(part, "=")
		number, isSession := strings.CutPrefix(strings.TrimSpace(who), "tx")
		n, err := strconv.Atoi(number)
		if !isSession || err != nil || n < 1 || n > MaxSession {
			return nil, fmt.Errorf("%q: want a level, or tx1=RC, tx2=RR", strings.TrimSpace(part))
		}
		if _, ok := out[n]; ok {
			return nil, fmt.Errorf("tx%d has two levels", n)
		}
		l, err := ParseLevel(strings.TrimSpace(what))
		if err != nil {
			return nil, err
		}
		out[n] = l
	}
	return out, nil
}

// LevelOf returns the isolation level that the header gives to a session;
// false: it gives none, or cannot be read.
func (c *Case) LevelOf(session int) (Level, bool) {
	value, ok := c.Get(levelKey)
	if !ok {
		return 0, false
	}
	levels, err := parseLevels(value)
	if err != nil {
		return 0, false
	}
	if l, ok := levels[allSessions]; ok {
		return l, true
	}
	l, ok := levels[session]
	return l, ok
}

// strangers returns the sessions, ascending, that the header gives a level and that
// send nothing.
func (c *Case) strangers() []int {
	value, _ := c.Get(levelKey)
	levels, err := parseLevels(value)
	if err != nil {
		return nil
	}
	delete(levels, allSessions)
	for _, s := range c.Sessions() {
		delete(levels, s)
	}
	return slices.Sorted(maps.Keys(levels))
}

func noSuchSession(s int) string { return fmt.Sprintf("tx%d sends no statement", s) }

// SetLevels writes the header line `level` in its shortest form: one name if
// every session of the case has the same level, else tx1=RC, tx2=RR. Sessions not in
// the case are left out; where none is left, the line is removed.
func (c *Case) SetLevels(levels map[int]Level) {
	present := c.Sessions()
	levels = maps.Clone(levels)
	maps.DeleteFunc(levels, func(s int, _ Level) bool { return !slices.Contains(present, s) })
	if len(levels) == 0 {
		kept := c.Header[:0:0]
		for _, f := range c.Header {
			if f.Key != levelKey {
				kept = append(kept, f)
			}
		}
		c.Header = kept
		return
	}
	sessions := make([]int, 0, len(levels))
	uniform := true
	for s, l := range levels {
		sessions = append(sessions, s)
		uniform = uniform && l == levels[sessions[0]]
	}
	uniform = uniform && len(levels) == len(present)
	sort.Ints(sessions)
	if uniform {
		c.Set(levelKey, levels[sessions[0]].String())
		return
	}
	parts := make([]string, len(sessions))
	for i, s := range sessions {
		parts[i] = fmt.Sprintf("tx%d=%s", s, levels[s].Short())
	}
	c.Set(levelKey, strings.Join(parts, ", "))
}

// fold puts a header value on one line, reversibly: \n and \r for line ends,
// and a doubled backslash only where a single one would be read as one of
// these, so that other backslashes in values stay as they are.
func fold(value string) string {
	if !strings.ContainsAny(value, "\n\r\\") {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\\' && i+1 < len(value) && strings.IndexByte("nr\\\n\r", value[i+1]) >= 0:
			b.WriteString(`\\`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unfold is the inverse of fold.
func unfold(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '\\' && i+1 < len(value) {
			switch value[i+1] {
			case 'n':
				c = '\n'
				i++
			case 'r':
				c = '\r'
				i++
			case '\\':
				i++
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
