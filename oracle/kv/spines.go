package kv

import (
	"bytes"
	"slices"
)

// spines reads lists of keys whose longest list is known. Most reads of a list
// show a prefix of what was read before, or a little more: their text is
// compared with the text of the longest, and only what is new is parsed. In a
// history with lists of 32 elements nine of ten bytes are such repetitions.
type spines struct {
	keys  index
	lists []knownList
}

// knownList is a list as it was spelled, and what it says. Only integers with
// one separator between them are kept, so that counting separators counts
// elements.
type knownList struct {
	text   []byte
	values []Value // is only ever appended to: what was handed out stays
}

// list reads what cursor.list reads. With lasting the returned list does not
// change when more is read.
func (x *spines) list(c *cursor, key Value, names *Names, lists *arena) (list []Value, lasting bool) {
	if c.i < len(c.b) && c.b[c.i] == '[' {
		if list, lasting, after := x.prefix(c.b, c.i, key, c.json); after >= 0 {
			c.i = after
			return list, lasting
		}
	}
	return c.list(names, lists), false
}

// prefix reads the list whose bracket stands at b[at], if it begins as the one
// that is known or goes on behind it, and tells where it ends; -1: it does not,
// or b ends before.
func (x *spines) prefix(b []byte, at int, key Value, json bool) (list []Value, lasting bool, after int) {
	end := bytes.IndexByte(b[at:], ']')
	if end < 0 {
		return nil, false, -1
	}
	body := b[at+1 : at+end]
	for n := len(body); n > 0 && (body[n-1] == ' ' || body[n-1] == '\n'); n-- {
		body = body[:n-1]
	}
	after = at + end + 1
	if len(body) == 0 {
		return nil, true, after
	}
	k := x.keys.of(key)
	for int(k) >= len(x.lists) {
		x.lists = append(x.lists, knownList{})
	}
	s := &x.lists[k]
	n := len(s.text)
	switch {
	case len(body) <= n:
		if bytes.Equal(s.text[:len(body)], body) && (len(body) == n || s.text[len(body)] == ' ' || s.text[len(body)] == ',') {
			count := 1 + bytes.Count(body, blank)
			if json {
				count = 1 + bytes.Count(body, comma)
			}
			return s.values[:count:count], true, after
		}
	case bytes.Equal(body[:n], s.text):
		if s.extend(body, json) {
			return s.values[:len(s.values):len(s.values)], true, after
		}
	}
	return nil, false, -1
}

// Of EDN a blank, of JSON a comma stands exactly once between two elements of a
// text that is kept.
var blank, comma = []byte{' '}, []byte{','}

// extend takes up a list that begins as the known one does; false if it is
// spelled in a way that is not kept.
func (s *knownList) extend(body []byte, json bool) bool {
	known := len(s.values)
	i := len(s.text)
	if s.values == nil {
		s.values = make([]Value, 0, 8)
	}
	for i < len(body) {
		if i > 0 {
			if body[i] == ',' {
				i++
			} else if json {
				break
			}
			if i < len(body) && body[i] == ' ' {
				i++
			} else if !json {
				break
			}
		}
		neg := i < len(body) && body[i] == '-'
		if neg {
			i++
		}
		start, v := i, Value(0)
		for ; i < len(body) && body[i] >= '0' && body[i] <= '9' && i-start < 18; i++ {
			v = v*10 + Value(body[i]-'0')
		}
		if i == start {
			break
		}
		if neg {
			v = -v
		}
		s.values = append(s.values, v)
		if i == len(body) {
			s.text = append(slices.Grow(s.text, max(0, 32-len(s.text))), body[len(s.text):]...)
			return true
		}
	}
	s.values = s.values[:known]
	return false
}
