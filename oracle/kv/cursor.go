package kv

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// cursor parses EDN or JSON in a buffer. Its methods panic with short or a
// *SyntaxError, which run turns into an error: no error handling in the loops
// that read millions of operations.
type cursor struct {
	s     *scanner
	b     []byte
	i     int
	json  bool
	blank bool // nothing but blanks was met
	depth int
}

var errShort = errors.New("form cut by the buffer")

func (c *cursor) run(parse func(*cursor)) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case short:
			err = errShort
		case *SyntaxError:
			err = p
		default:
			panic(p)
		}
	}()
	c.blank = true
	c.ws()
	c.peek()
	c.blank = false
	parse(c)
	return nil
}

func (c *cursor) what() string {
	if c.json {
		return "an object"
	}
	return "a form"
}

func (c *cursor) syntax(want, got string) *SyntaxError {
	line, start := c.s.line, c.s.lineStart
	for i := c.s.pos; i < c.i && i < len(c.b); i++ {
		if c.b[i] == '\n' {
			line++
			start = c.s.base + int64(i) + 1
		}
	}
	off := c.s.base + int64(c.i)
	return &SyntaxError{File: c.s.file, Line: line, Column: off - start + 1, Offset: off, Want: want, Got: got}
}

func (c *cursor) fail(want string) {
	got := "the end of the file"
	if c.i < len(c.b) {
		end := min(len(c.b), c.i+20)
		if n := bytes.IndexByte(c.b[c.i:end], '\n'); n > 0 {
			end = c.i + n
		}
		got = strconv.Quote(string(c.b[c.i:end]))
	}
	panic(c.syntax(want, got))
}

func (c *cursor) peek() byte {
	if c.i >= len(c.b) {
		panic(short{})
	}
	return c.b[c.i]
}

// ws skips blanks; of EDN also commas, comments and discarded forms.
func (c *cursor) ws() {
	if c.i < len(c.b) && c.b[c.i] > ';' && c.b[c.i] != ' ' {
		return // letters and brackets
	}
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b == ' ' || b == '\n' || b == '\t' || b == '\r':
			c.i++
		case c.json:
			return
		case b == ',' || b == '\f':
			c.i++
		case b == ';':
			n := bytes.IndexByte(c.b[c.i:], '\n')
			if n < 0 {
				c.i = len(c.b)
				return
			}
			c.i += n + 1
		case b == '#':
			if c.i+1 >= len(c.b) || c.b[c.i+1] != '_' {
				return
			}
			c.i += 2
			c.skip()
		default:
			return
		}
	}
}

func (c *cursor) expect(b byte, what string) {
	c.ws()
	if c.peek() != b {
		c.fail(what)
	}
	c.i++
}

// more tells whether a bracket holds one more element after n; it eats the
// closing one.
func (c *cursor) more(closing byte, n int) bool {
	c.ws()
	if c.peek() == closing {
		c.i++
		return false
	}
	if c.json && n > 0 {
		if c.peek() != ',' {
			c.fail("a comma or " + strconv.QuoteRune(rune(closing)))
		}
		c.i++
		c.ws()
		if c.peek() == closing {
			c.fail("an element after the comma")
		}
	}
	return true
}

// colon separates key and value of a JSON object.
func (c *cursor) colon() {
	if c.json {
		c.expect(':', "a colon")
	}
	c.ws()
}

func delimits(b byte) bool {
	switch b {
	case ' ', '\n', '\t', '\r', '\f', ',', '[', ']', '{', '}', '(', ')', '"', ';', ':':
		return true
	}
	return false
}

// word returns the text up to the next delimiter.
func (c *cursor) word() []byte {
	start := c.i
	if c.i < len(c.b) && c.b[c.i] == ':' && !c.json {
		c.i++
	}
	for c.i < len(c.b) && (!delimits(c.b[c.i]) || c.b[c.i] == ':' && !c.json) {
		c.i++
	}
	if c.i >= len(c.b) && !c.s.eof {
		panic(short{})
	}
	if c.i == start {
		c.fail("a value")
	}
	return c.b[start:c.i]
}

// text reads a string literal and returns what stands between its quotes,
// escapes and all.
func (c *cursor) text() []byte {
	c.i++
	start := c.i
	for {
		switch c.peek() {
		case '"':
			c.i++
			return c.b[start : c.i-1]
		case '\\':
			c.i++
			c.peek()
		case '\n':
			if c.json {
				c.fail("the end of the string")
			}
		}
		c.i++
	}
}

// label reads a JSON string, an EDN keyword, symbol or string, as plain text.
func (c *cursor) label() []byte {
	c.ws()
	if c.peek() == '"' {
		raw := c.text()
		if bytes.IndexByte(raw, '\\') >= 0 {
			if s, err := strconv.Unquote(`"` + string(raw) + `"`); err == nil {
				return []byte(s)
			}
		}
		return raw
	}
	if c.json {
		c.fail("a string")
	}
	w := c.word()
	if w[0] == ':' {
		w = w[1:]
	}
	return w
}

// integer reads an integer that a Value or a time can hold.
func (c *cursor) integer() int64 {
	c.ws()
	c.peek()
	start := c.i
	if n, ok := c.digits(); ok {
		return n
	}
	c.i = start
	c.fail("an integer")
	return 0
}

// digits reads an integer up to a delimiter; without one it says so and may
// have moved.
func (c *cursor) digits() (int64, bool) {
	neg := false
	if c.i < len(c.b) && c.b[c.i] == '-' {
		neg = true
		c.i++
	}
	start, n := c.i, int64(0)
	for ; c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9'; c.i++ {
		if n > (1<<63-1-9)/10 {
			return 0, false
		}
		n = n*10 + int64(c.b[c.i]-'0')
	}
	if c.i >= len(c.b) && !c.s.eof {
		panic(short{})
	}
	if c.i == start {
		return 0, false
	}
	if c.i < len(c.b) && !delimits(c.b[c.i]) {
		return 0, false
	}
	if neg {
		n = -n
	}
	return n, Value(n).IsInt()
}

// name makes a value of a name. Bytes that are no UTF-8 could not be written
// again without merging what differs.
func (c *cursor) name(names *Names, text []byte) Value {
	if !utf8.Valid(text) {
		c.fail("UTF-8")
	}
	return names.Of(text)
}

// value reads a key or a value: an integer, nil, or what becomes a name.
func (c *cursor) value(names *Names) Value {
	c.ws()
	b := c.peek()
	start := c.i
	if b >= '0' && b <= '9' || b == '-' {
		if n, ok := c.digits(); ok {
			return Value(n)
		}
		c.i = start
	}
	switch {
	case b == '"' && c.json:
		return c.name(names, c.label())
	case b == '"' || b == '[' || b == '{' || b == '(' || b == '#' || b == '\\':
		if c.json {
			c.fail("an integer, a string or null")
		}
		c.skip()
		return c.name(names, c.b[start:c.i])
	}
	w := c.word()
	if c.json {
		switch {
		case string(w) == "null":
			return Nil
		case string(w) == "true", string(w) == "false", isNumber(w):
			return c.name(names, w)
		}
		c.i = start
		c.fail("an integer, a string or null")
	}
	if string(w) == "nil" {
		return Nil
	}
	if w[0] == ':' && len(w) > 1 {
		w = w[1:]
	}
	return c.name(names, w)
}

func isNumber(w []byte) bool {
	_, err := strconv.ParseFloat(string(w), 64)
	return err == nil && (w[0] == '-' || w[0] >= '0' && w[0] <= '9')
}

// isNil eats a nil or null and tells whether there was one.
func (c *cursor) isNil() bool {
	c.ws()
	want := "nil"
	if c.json {
		want = "null"
	}
	if c.peek() != 'n' {
		return false
	}
	start := c.i
	if string(c.word()) == want {
		return true
	}
	c.i = start
	return false
}

// skip reads any form.
func (c *cursor) skip() {
	if c.depth++; c.depth > maxDepth {
		c.fail(fmt.Sprintf("at most %d brackets in brackets", maxDepth))
	}
	defer func() { c.depth-- }()
	c.ws()
	switch b := c.peek(); b {
	case '[', '(', '{':
		if c.json && b == '(' {
			c.fail("a value")
		}
		closing := map[byte]byte{'[': ']', '(': ')', '{': '}'}[b]
		c.i++
		for n := 0; c.more(closing, n); n++ {
			if b == '{' && c.json {
				c.label()
				c.colon()
			}
			c.skip()
			if b == '{' && !c.json {
				c.ws()
				if c.peek() == '}' {
					c.fail("a value for the last key of the map")
				}
				c.skip()
			}
		}
	case '"':
		c.text()
	case '#':
		if c.json {
			c.fail("a value")
		}
		c.i++
		switch c.peek() {
		case '{':
			c.i++
			for n := 0; c.more('}', n); n++ {
				c.skip()
			}
		case '"':
			c.text()
		default:
			c.word() // a tag, and what it is put before
			c.skip()
		}
	case '\\':
		c.i += 2
		if c.i > len(c.b) {
			panic(short{})
		}
		if c.i < len(c.b) && !delimits(c.b[c.i]) {
			c.word()
		}
	case ']', ')', '}':
		c.fail("a value")
	default:
		c.word()
	}
}
