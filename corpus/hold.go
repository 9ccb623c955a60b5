package corpus

import (
	"fmt"
	"regexp"
	"strconv"
)

// Hold is the place inside of a server's program at which a statement is held.
type Hold struct {
	// Function is the symbol of a function, or fn_ and its link-time address where it has none;
	// Offset is that of the instruction in it, in bytes.
	Function string
	Offset   uint64
	// Build is the build id of the program, in hexadecimal digits: elsewhere the place is another one.
	Build string
	// Hit counts the executions of the instruction from the statement's start, beginning with 1.
	Hit int
}

// Where names the place as the header does.
func (h *Hold) Where() string { return fmt.Sprintf("%s+%#x", h.Function, h.Offset) }

// holdKey is the header line that says which statement is held, where, and until when:
//
//	hold: tx1 3 at FUNCTION+0x1ec of BUILD-ID hit 1 until tx3 2
//
// Statements are counted by session, so that the line reads the same whatever is between them.
const holdKey = "hold"

var holdPattern = regexp.MustCompile(
	`^tx([0-9]+) ([0-9]+) at (\S+)\+0x([0-9a-f]+) of ([0-9a-f]+) hit ([0-9]+)(?: until tx([0-9]+) ([0-9]+))?$`)

const wantHold = "want tx1 3 at FUNCTION+0x1ec of BUILD-ID hit 1 until tx3 2"

// Held is the step that is held inside, -1 if none is, and the one behind whose answer it is let go,
// -1 if that is when nobody else has anything left to send.
func (c *Case) Held() (step, until int) {
	step, until = -1, -1
	for i, l := range c.Steps {
		switch {
		case l.Hold != nil:
			step = i
		case l.Frees && step >= 0 && until < 0:
			until = i
		}
	}
	return step, until
}

// applyHold marks the steps that a header line names.
func (c *Case) applyHold(value string) error {
	m := holdPattern.FindStringSubmatch(value)
	if m == nil {
		return fmt.Errorf("header hold: %q: %s", value, wantHold)
	}
	numbers := make([]int, 9)
	for _, i := range []int{1, 2, 6, 7, 8} {
		if m[i] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i])
		if err != nil || n < 1 {
			return fmt.Errorf("header hold: %q is no number of a session, a statement or a hit", m[i])
		}
		numbers[i] = n
	}
	offset, err := strconv.ParseUint(m[4], 16, 64)
	if err != nil {
		return fmt.Errorf("header hold: offset 0x%s: %w", m[4], err)
	}
	held := c.nth(numbers[1], numbers[2])
	if held < 0 {
		return fmt.Errorf("header hold: tx%s sends no %s. statement", m[1], m[2])
	}
	if m[7] != "" {
		until := c.nth(numbers[7], numbers[8])
		switch {
		case until < 0:
			return fmt.Errorf("header hold: tx%s sends no %s. statement", m[7], m[8])
		case until <= held || numbers[7] == numbers[1]:
			return fmt.Errorf("header hold: the %s. statement of tx%s does not come behind the held one, from another session", m[8], m[7])
		}
		c.Steps[until].Frees = true
	}
	c.Steps[held].Hold = &Hold{Function: m[3], Offset: offset, Build: m[5], Hit: numbers[6]}
	return nil
}

// holdField is the header line of the marks.
func (c *Case) holdField() (Field, bool) {
	held, until := c.Held()
	if held < 0 {
		return Field{}, false
	}
	h := c.Steps[held].Hold
	v := fmt.Sprintf("%s at %s of %s hit %d", c.place(held), h.Where(), h.Build, h.Hit)
	if until >= 0 {
		v += " until " + c.place(until)
	}
	return Field{holdKey, v}, true
}

// place names a step by its session and its number there.
func (c *Case) place(step int) string {
	n := 0
	for _, l := range c.Steps[:step+1] {
		if l.Session == c.Steps[step].Session {
			n++
		}
	}
	return fmt.Sprintf("tx%d %d", c.Steps[step].Session, n)
}

// nth is the step of a session's n-th statement, -1 if there is none.
func (c *Case) nth(session, n int) int {
	for i, l := range c.Steps {
		if l.Session == session {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}
