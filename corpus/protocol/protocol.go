// Package protocol names the ways in which a client sends a statement to a server: as text, or prepared.
//
// MySQL's protocol has COM_QUERY for the one and COM_STMT_PREPARE, COM_STMT_EXECUTE and COM_STMT_CLOSE for the other
// (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase_ps.html), PostgreSQL's its simple and
// its extended query (https://www.postgresql.org/docs/current/protocol-flow.html).
package protocol

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Way is how one statement is sent.
type Way uint8

const (
	// Text sends the text alone.
	Text Way = iota
	// Prepare prepares the text, executes it and closes it, each time.
	Prepare
	// Execute prepares a text once in a session and executes it again and again.
	Execute
)

var ways = [...]string{Text: "text", Prepare: "prepare", Execute: "execute"}

func (w Way) String() string { return ways[w] }

// Protocol says how the statements of a case, or of a run, are sent: all in one way, or each in a way that a seed
// decides. The zero value sends all as text.
type Protocol struct {
	way   Way
	mixed bool
	seed  uint64
	// given says that whoever chose the protocol chose the seed, too.
	given bool
}

const mixedWord = "mixed"

// Want says what Parse reads.
const Want = "want text, prepare, execute, mixed, or mixed and a seed, as in mixed 42"

// All is the protocol that sends all statements in one way.
func All(w Way) Protocol { return Protocol{way: w} }

// Mixed is the protocol that draws the way of each statement.
func Mixed(seed uint64) Protocol { return Protocol{mixed: true, seed: seed, given: true} }

// Parse reads what String prints. "mixed" alone has the seed 0, which Seeded replaces.
func Parse(text string) (Protocol, error) {
	for w, name := range ways {
		if text == name {
			return All(Way(w)), nil
		}
	}
	name, number, seeded := strings.Cut(text, " ")
	if name != mixedWord {
		return Protocol{}, fmt.Errorf("%q: %s", text, Want)
	}
	if !seeded {
		return Protocol{mixed: true}, nil
	}
	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Protocol{}, fmt.Errorf("%q: want a number behind mixed, the seed", text)
	}
	return Mixed(seed), nil
}

// String gives text, prepare, execute, or mixed and its seed, if it has one.
func (p Protocol) String() string {
	if p.mixed && (p.given || p.seed != 0) {
		return mixedWord + " " + strconv.FormatUint(p.seed, 10)
	}
	return p.Name()
}

// MarshalText gives what Parse reads.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is Parse.
func (p *Protocol) UnmarshalText(text []byte) (err error) {
	*p, err = Parse(string(text))
	return err
}

// Name is what the protocol was chosen by: String without a seed that comes from Seeded.
func (p Protocol) Name() string {
	switch {
	case p.given:
		return p.String()
	case p.mixed:
		return mixedWord
	}
	return p.way.String()
}

// IsText says that nothing is ever prepared.
func (p Protocol) IsText() bool { return p == Protocol{} }

// IsMixed says that a seed decides.
func (p Protocol) IsMixed() bool { return p.mixed }

// Seeded is the same protocol with a seed, if it has use for one and none was given.
func (p Protocol) Seeded(seed uint64) Protocol {
	if p.mixed && !p.given {
		p.seed = seed
	}
	return p
}

// Of is the way of a statement that a session sends for the nth time, from 0 on. It depends on nothing that other
// statements do, so that a case from which some are taken away sends the others as before.
func (p Protocol) Of(session int, sql string, nth int) Way {
	if !p.mixed {
		return p.way
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %d %d ", p.seed, session, nth)
	_, _ = h.Write([]byte(sql))
	// The low bits of FNV follow those of the last byte.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return Way(x >> 33 % uint64(len(ways)))
}

// Simpler are the protocols that say less than this one, the simplest first.
func (p Protocol) Simpler() []Protocol {
	switch {
	case p.mixed:
		return []Protocol{All(Text), All(Prepare), All(Execute)}
	case p.way == Execute:
		return []Protocol{All(Text), All(Prepare)}
	case p.way == Prepare:
		return []Protocol{All(Text)}
	}
	return nil
}
