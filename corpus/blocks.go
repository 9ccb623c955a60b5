package corpus

import (
	"regexp"
	"strconv"
	"strings"
)

// The form in which Troc, DT2 and Fucci publish their cases: one block of lines
// for the set-up, one for each transaction, which may begin with its isolation
// level, then the submitted order as the numbers of the transactions, and END.
// A statement stands on one line, with or without a semicolon. What follows END
// is for people, up to the next case:
//
//	CREATE TABLE t (a INT)
//
//	RC
//	BEGIN
//	SELECT * FROM t
//	COMMIT
//
//	RC
//	BEGIN
//	UPDATE t SET a = 1
//	COMMIT
//
//	1-2-1-2-1-2
//	END
//
// https://github.com/criszy/Troc, https://github.com/Reverie4u/Fucci

var orderPattern = regexp.MustCompile(`^[0-9]+(-[0-9]+)+$`)

// LooksLikeBlocks reports whether a text may be in the form of blocks: it has a
// line that is a submitted order.
func LooksLikeBlocks(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if orderPattern.MatchString(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// ParseBlocks reads cases in the form of blocks. A level that all transactions share
// becomes the header line `reported`, not `level`: the bug was seen there, and
// replays try the other levels, too. Levels that differ become `level`. name only
// appears in errors, all of which are *ParseError.
func ParseBlocks(name string, text []byte) ([]*Case, error) {
	r := &blockReader{caseReader: caseReader{name: name, text: strings.TrimPrefix(string(text), "\ufeff")}}
	if at := invalidUTF8(r.text); at >= 0 {
		return nil, r.errorf(at, "not UTF-8")
	}
	var out []*Case
	for r.skipNotes(); r.pos < len(r.text); r.skipNotes() {
		if r.orphan >= 0 {
			return nil, r.errorf(r.orphan, "a submitted order without a set-up before it: want CREATE TABLE first")
		}
		c, err := r.block()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if r.orphan >= 0 {
		return nil, r.errorf(r.orphan, "a submitted order without a set-up before it: want CREATE TABLE first")
	}
	if len(out) == 0 {
		return nil, r.errorf(len(r.text), "no case: want CREATE TABLE, a block for each transaction, and their order such as 1-1-2-2-1-2")
	}
	return out, nil
}

// blockReader reads lines; caseReader gives it statements and positions.
type blockReader struct {
	caseReader
	orphan int // where an order stands among notes, or -1
	of     *Case
}

// line returns the next line without its end and the white space around it, and
// where it begins.
func (r *blockReader) line() (text string, at int, ok bool) {
	if r.pos >= len(r.text) {
		return "", len(r.text), false
	}
	end := strings.IndexByte(r.text[r.pos:], '\n')
	next := len(r.text)
	if end >= 0 {
		next = r.pos + end + 1
	}
	raw := r.text[r.pos:next]
	at = r.pos + len(raw) - len(strings.TrimLeft(raw, " \t\r\n\f\v"))
	r.pos = next
	return strings.TrimSpace(raw), at, true
}

var createPattern = regexp.MustCompile(`(?i)^create\b`)

// skipNotes goes on to the next line that begins a case, and keeps the lines
// between as a note of the case before.
func (r *blockReader) skipNotes() {
	r.orphan = -1
	var notes []string
	for {
		start := r.pos
		text, at, ok := r.line()
		if !ok {
			break
		}
		if createPattern.MatchString(text) {
			r.pos = start
			break
		}
		if orderPattern.MatchString(text) && r.orphan < 0 {
			r.orphan = at
		}
		if text != "" {
			notes = append(notes, text)
		}
	}
	if r.of != nil && len(notes) > 0 {
		r.of.Set("note", strings.Join(notes, "; "))
	}
}

// transaction is one block of statements.
type transaction struct {
	at    int
	level Level // 0: none given
	lines []Line
}

// block reads one case up to and with its END.
func (r *blockReader) block() (*Case, error) {
	c := &Case{}
	r.of = c
	var txs []transaction
	open := false // the last block goes on
	inInit := true
	for {
		text, at, ok := r.line()
		if !ok {
			return nil, r.errorf(at, "the submitted order is missing: want the numbers of the transactions, such as 1-1-2-2-1-2")
		}
		switch {
		case text == "":
			open, inInit = false, false
			continue
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "#"):
			continue
		case orderPattern.MatchString(text):
			if err := r.order(c, txs, text, at); err != nil {
				return nil, err
			}
			return c, r.end()
		case inInit:
			line, err := r.lineStatement(InitSession, text, at)
			if err != nil {
				return nil, err
			}
			c.Init = append(c.Init, line)
			continue
		}
		if !open {
			if len(txs) == MaxSession {
				return nil, r.errorf(at, "more than %d transactions", MaxSession)
			}
			txs = append(txs, transaction{at: at})
			open = true
		}
		tx := &txs[len(txs)-1]
		if level, err := ParseLevel(text); err == nil && len(tx.lines) == 0 {
			tx.level = level
			continue
		}
		line, err := r.lineStatement(len(txs), text, at)
		if err != nil {
			return nil, err
		}
		tx.lines = append(tx.lines, line)
	}
}

// lineStatement reads a statement that stands alone on a line.
func (r *blockReader) lineStatement(session int, text string, at int) (Line, error) {
	one := &caseReader{name: r.name, text: r.text[:at+len(text)]}
	end, inner, err := one.scan(at, at)
	if err != nil {
		return Line{}, err
	}
	l := Line{Session: session}
	if end < 0 {
		end = len(one.text)
	} else if rest := strings.TrimSpace(one.text[end+1:]); rest != "" {
		if !strings.HasPrefix(rest, "--") && !strings.HasPrefix(rest, "#") {
			return Line{}, one.errorf(end+1, "want one statement a line")
		}
		l.Note = commentText(strings.TrimLeft(rest, "-#"))
	}
	for _, c := range inner {
		l.Note = joinNote(l.Note, c.text)
	}
	l.Stmt, err = one.parse(at, end)
	return l, err
}

// order lays the statements of the transactions out as the text says.
func (r *blockReader) order(c *Case, txs []transaction, text string, at int) error {
	next := make([]int, len(txs))
	for _, number := range strings.Split(text, "-") {
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 1 || n > len(txs):
			return r.errorf(at, "the order names transaction %s; there are %d", number, len(txs))
		case next[n-1] == len(txs[n-1].lines):
			return r.errorf(at, "the order has transaction %d more often than its %d statements", n, len(txs[n-1].lines))
		}
		c.Steps = append(c.Steps, txs[n-1].lines[next[n-1]])
		next[n-1]++
		at += len(number) + 1
	}
	levels := map[int]Level{}
	same := true
	for i, tx := range txs {
		if next[i] < len(tx.lines) {
			return r.errorf(at-1, "the order has transaction %d %d times; it has %d statements", i+1, next[i], len(tx.lines))
		}
		same = same && tx.level == txs[0].level
		if tx.level != 0 {
			levels[i+1] = tx.level
		}
	}
	switch {
	case len(levels) == 0:
	case same:
		c.Set("reported", txs[0].level.String())
	default:
		c.SetLevels(levels)
	}
	return nil
}

// end reads END, which may be missing at the end of the file.
func (r *blockReader) end() error {
	for {
		text, at, ok := r.line()
		switch {
		case !ok || strings.EqualFold(text, "END"):
			return nil
		case text != "":
			return r.errorf(at, "want END behind the submitted order")
		}
	}
}
