package invariant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// trailLength is how many of its last transactions a client remembers, rowsShown how many rows of an answer.
const (
	trailLength = 512
	rowsShown   = 12
	// loggedMost is how many transactions a finding shows.
	loggedMost = 60
)

// Logged is a transaction as its client saw it. Times are in nanoseconds since the run began.
type Logged struct {
	Client     int        `json:"client"`
	Outcome    string     `json:"outcome"`
	From       int64      `json:"from"`
	To         int64      `json:"to"`
	Statements []Sentence `json:"statements"`
}

// Sentence is a statement and what the server said to it.
type Sentence struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	SQL    string `json:"sql"`
	Answer string `json:"answer"`

	keys []int64
	// idle: it has read, or changed nothing.
	idle bool
}

// trail holds the last transactions of a client.
type trail struct {
	mu   sync.Mutex
	ring []*Logged
	next int
}

func (l *trail) add(t *Logged) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < trailLength {
		l.ring = append(l.ring, t)
		return
	}
	l.ring[l.next] = t
	l.next = (l.next + 1) % trailLength
}

// of returns the transactions that touched one of some rows. What a transaction that still runs has sent is not
// among them.
func (l *trail) of(keys []int64) []Logged {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Logged
	for _, t := range l.ring {
		if slices.ContainsFunc(t.Statements, func(s Sentence) bool {
			return slices.ContainsFunc(s.keys, func(k int64) bool { return slices.Contains(keys, k) })
		}) {
			out = append(out, *t)
		}
	}
	return out
}

// telling sorts transactions by their beginning. Of too many it keeps those that changed something of the rows or failed
// there, and of these the first ones, which may be the cause, and the last ones.
func telling(all []Logged, keys []int64) []Logged {
	slices.SortFunc(all, func(a, b Logged) int { return cmp.Compare(a.From, b.From) })
	if len(all) > loggedMost {
		all = slices.DeleteFunc(all, func(t Logged) bool {
			return !slices.ContainsFunc(t.Statements, func(s Sentence) bool {
				return !s.idle && slices.ContainsFunc(s.keys, func(k int64) bool { return slices.Contains(keys, k) })
			})
		})
	}
	if n := len(all); n > loggedMost {
		return slices.Concat(all[:loggedMost/2], all[n-loggedMost/2:])
	}
	return all
}

func spellRows(rows [][]history.Cell) string {
	if len(rows) == 0 {
		return "no rows"
	}
	var parts []string
	for _, r := range rows[:min(len(rows), rowsShown)] {
		parts = append(parts, spellRow(r))
	}
	if n := len(rows) - rowsShown; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, " ")
}

func spellRow(row []history.Cell) string {
	cells := make([]string, len(row))
	for i, c := range row {
		if cells[i] = c.Text; c.Null {
			cells[i] = "NULL"
		}
	}
	return "(" + strings.Join(cells, ", ") + ")"
}
