package corpus

import (
	"fmt"
	"regexp"
	"strconv"
)

// Hold is the place inside of a server at which a statement is held: an instruction of the server's program, or, if
// Request is not empty, a request to the server's store.
type Hold struct {
	// Function is the symbol of a function, or fn_ and its link-time address where it has none;
	// Offset is that of the instruction in it, in bytes.
	Function string
	Offset   uint64
	// Build is the build id of the program, in hexadecimal digits: elsewhere the place is another one.
	Build string
	// Request is the kind of a request to the store: PessimisticLock. The statement is held before the request reaches the
	// store or, if Answered, when the store has answered it. Then Function, Offset and Build are zero.
	Request  string
	Answered bool
	// Hit counts the executions of the instruction, or the requests of that kind, from the statement's start, beginning
	// with 1.
	Hit int
}

// Where names the place as the header does.
func (h *Hold) Where() string {
	switch {
	case h.Answered:
		return "store " + h.Request + behindAnswer
	case h.Request != "":
		return "store " + h.Request
	}
	return fmt.Sprintf("%s+%#x", h.Function, h.Offset)
}

// String says in words where the statement is held.
func (h *Hold) String() string {
	switch {
	case h.Answered:
		return fmt.Sprintf("when the store has answered its %d. %s request", h.Hit, h.Request)
	case h.Request != "":
		return fmt.Sprintf("before its %d. %s request reaches the store", h.Hit, h.Request)
	}
	return fmt.Sprintf("at %s (execution %d of that instruction)", h.Where(), h.Hit)
}

// behindAnswer marks a request that is held behind its answer.
const behindAnswer = "+answer"

// holdKey is the header line that says which statement is held, where, and until when:
//
//	hold: tx1 3 at FUNCTION+0x1ec of BUILD-ID hit 1 until tx3 2
//	hold: tx1 3 at store PessimisticLock hit 1 until tx3 2
//	hold: tx1 3 at store PessimisticLock+answer hit 1 until tx3 2
//
// Statements are counted by session, so that the line reads the same whatever is between them.
const holdKey = "hold"

var holdPattern = regexp.MustCompile(`^tx(?<tx>[0-9]+) (?<n>[0-9]+) at ` +
	`(?:(?<function>\S+)\+0x(?<offset>[0-9a-f]+) of (?<build>[0-9a-f]+)|` +
	`store (?<request>[A-Z][A-Za-z]*)(?<answered>\+answer)?)` +
	` hit (?<hit>[0-9]+)(?: until tx(?<untilTx>[0-9]+) (?<untilN>[0-9]+))?$`)

const wantHold = "want tx1 3 at FUNCTION+0x1ec of BUILD-ID hit 1 until tx3 2, or " +
	"tx1 3 at store PessimisticLock hit 1 until tx3 2"

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
	text := func(group string) string { return m[holdPattern.SubexpIndex(group)] }
	numbers := map[string]int{}
	for _, group := range []string{"tx", "n", "hit", "untilTx", "untilN"} {
		if text(group) == "" {
			continue
		}
		n, err := strconv.Atoi(text(group))
		if err != nil || n < 1 {
			return fmt.Errorf("header hold: %q is no number of a session, a statement or a hit", text(group))
		}
		numbers[group] = n
	}
	at := &Hold{
		Function: text("function"), Build: text("build"),
		Request: text("request"), Answered: text("answered") != "", Hit: numbers["hit"],
	}
	if at.Request == "" {
		offset, err := strconv.ParseUint(text("offset"), 16, 64)
		if err != nil {
			return fmt.Errorf("header hold: offset 0x%s: %w", text("offset"), err)
		}
		at.Offset = offset
	}
	held := c.nth(numbers["tx"], numbers["n"])
	if held < 0 {
		return fmt.Errorf("header hold: tx%s sends no %s. statement", text("tx"), text("n"))
	}
	if text("untilTx") != "" {
		until := c.nth(numbers["untilTx"], numbers["untilN"])
		switch {
		case until < 0:
			return fmt.Errorf("header hold: tx%s sends no %s. statement", text("untilTx"), text("untilN"))
		case until <= held || numbers["untilTx"] == numbers["tx"]:
			return fmt.Errorf("header hold: the %s. statement of tx%s does not come behind the held one, from another session",
				text("untilN"), text("untilTx"))
		}
		c.Steps[until].Frees = true
	}
	c.Steps[held].Hold = at
	return nil
}

// holdField is the header line of the marks.
func (c *Case) holdField() (Field, bool) {
	held, until := c.Held()
	if held < 0 {
		return Field{}, false
	}
	h := c.Steps[held].Hold
	v := c.place(held) + " at " + h.Where()
	if h.Build != "" {
		v += " of " + h.Build
	}
	v += fmt.Sprintf(" hit %d", h.Hit)
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
