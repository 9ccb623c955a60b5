package corpus

import (
	"fmt"
	"strings"
)

// Level is a SQL isolation level.
type Level uint8

// The four levels of the SQL standard, weakest first.
const (
	ReadUncommitted Level = iota + 1
	ReadCommitted
	RepeatableRead
	Serializable
)

// Levels holds all isolation levels, weakest first.
var Levels = []Level{ReadUncommitted, ReadCommitted, RepeatableRead, Serializable}

var levelNames = map[Level][2]string{
	ReadUncommitted: {"RU", "READ UNCOMMITTED"},
	ReadCommitted:   {"RC", "READ COMMITTED"},
	RepeatableRead:  {"RR", "REPEATABLE READ"},
	Serializable:    {"SER", "SERIALIZABLE"},
}

// Short returns RU, RC, RR or SER.
func (l Level) Short() string { return levelNames[l][0] }

// String returns the name as SQL spells it, for example READ COMMITTED.
func (l Level) String() string { return levelNames[l][1] }

// ParseLevel reads a level in its short or its SQL spelling, in any case.
func ParseLevel(s string) (Level, error) {
	for _, l := range Levels {
		if n := levelNames[l]; strings.EqualFold(s, n[0]) || strings.EqualFold(s, n[1]) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown isolation level %q: want RU, RC, RR, SER or a name in full such as READ COMMITTED", s)
}
