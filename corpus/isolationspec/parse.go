package isolationspec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// maxPermutations is how many interleavings a spec without a list of its own may have.
const maxPermutations = 20_000

// Parse reads a spec. name only appears in errors, all of which are *corpus.ParseError.
func Parse(name string, text []byte) (*Spec, error) {
	r := &reader{name: name, text: string(text)}
	s := &Spec{}
	if err := r.spec(s); err != nil {
		return nil, err
	}
	if len(s.Permutations) == 0 {
		if n := interleavings(s.Sessions); n > maxPermutations {
			const many = "the sessions have more than %d interleavings, and no permutation is listed"
			return nil, r.errorf(len(r.text), many, maxPermutations)
		}
		s.Permutations = allInterleavings(s.Sessions)
	}
	return s, nil
}

// reader takes the tokens of a spec.
type reader struct {
	name, text string
	pos        int
	// at is where the last token begins.
	at int
}

func (r *reader) errorf(at int, format string, args ...any) error {
	before := r.text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &corpus.ParseError{
		File: r.name, Line: strings.Count(before, "\n") + 1, Column: len([]rune(before[start:])) + 1,
		Msg: fmt.Sprintf(format, args...),
	}
}

type kind uint8

const (
	end kind = iota
	keyword
	name
	number
	block
	sign
)

type token struct {
	kind kind
	text string
}

var keywords = map[string]bool{
	"notices": true, "permutation": true, "session": true, "setup": true, "step": true, "teardown": true,
}

func (r *reader) next() (token, error) {
	s := r.text
	for r.pos < len(s) {
		switch c := s[r.pos]; {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			r.pos++
			continue
		case c == '#':
			for r.pos < len(s) && s[r.pos] != '\n' {
				r.pos++
			}
			continue
		}
		break
	}
	r.at = r.pos
	if r.pos == len(s) {
		return token{kind: end}, nil
	}
	switch c := s[r.pos]; {
	case c == '{':
		n := strings.IndexByte(s[r.pos:], '}')
		if n < 0 {
			return token{}, r.errorf(r.at, "this block of SQL is never closed")
		}
		r.pos += n + 1
		return token{block, strings.TrimSpace(s[r.at+1 : r.pos-1])}, nil
	case c == '"':
		return r.quoted()
	case strings.IndexByte(",()*", c) >= 0:
		r.pos++
		return token{sign, s[r.at:r.pos]}, nil
	case inName(c):
		for r.pos < len(s) && (inName(s[r.pos]) || s[r.pos] == '$') {
			r.pos++
		}
		word := s[r.at:r.pos]
		switch {
		case keywords[word]:
			return token{keyword, word}, nil
		case '0' <= c && c <= '9':
			if _, err := strconv.Atoi(word); err != nil {
				return token{}, r.errorf(r.at, "want a number, not %q", word)
			}
			return token{number, word}, nil
		}
		return token{name, word}, nil
	}
	return token{}, r.errorf(r.at, "unexpected character %q", []rune(s[r.pos:])[0])
}

func inName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

func (r *reader) quoted() (token, error) {
	var b strings.Builder
	for r.pos++; r.pos < len(r.text) && r.text[r.pos] != '\n'; r.pos++ {
		if r.text[r.pos] == '"' {
			r.pos++
			if r.pos == len(r.text) || r.text[r.pos] != '"' {
				return token{name, b.String()}, nil
			}
		}
		b.WriteByte(r.text[r.pos])
	}
	return token{}, r.errorf(r.at, "this name is never closed")
}

// peek returns the next token and leaves it to be read.
func (r *reader) peek() (token, error) {
	pos := r.pos
	t, err := r.next()
	r.pos = pos
	return t, err
}

// want reads a token of a kind, which is told by words where it is missing.
func (r *reader) want(k kind, words string) (string, error) {
	t, err := r.next()
	if err != nil {
		return "", err
	}
	if t.kind != k {
		return "", r.errorf(r.at, "want %s", words)
	}
	return t.text, nil
}

// optional reads a block behind a keyword, if it is there.
func (r *reader) optional(word string) (sql string, found bool, err error) {
	t, err := r.peek()
	if err != nil || t != (token{keyword, word}) {
		return "", false, err
	}
	if _, err := r.next(); err != nil {
		return "", false, err
	}
	sql, err = r.want(block, "SQL in braces behind "+word)
	return sql, true, err
}

func (r *reader) spec(s *Spec) error {
	for {
		sql, found, err := r.optional("setup")
		if err != nil {
			return err
		}
		if !found {
			break
		}
		s.SetUp = append(s.SetUp, sql)
	}
	if _, _, err := r.optional("teardown"); err != nil {
		return err
	}
	places := map[string]Launch{}
	for {
		switch t, err := r.next(); {
		case err != nil:
			return err
		case t == (token{keyword, "session"}) && len(s.Permutations) == 0:
			if err := r.session(s, places); err != nil {
				return err
			}
		case t == (token{keyword, "permutation"}) && len(s.Sessions) > 0:
			p, err := r.permutation(places)
			if err != nil {
				return err
			}
			s.Permutations = append(s.Permutations, p)
		case t.kind == end && len(s.Sessions) > 0:
			return nil
		case t.kind == end:
			return r.errorf(r.at, "no session: want session NAME and its steps")
		default:
			return r.errorf(r.at, "want setup and teardown, then sessions, then permutations, not %q", t.text)
		}
	}
}

func (r *reader) session(s *Spec, places map[string]Launch) error {
	var out Session
	var err error
	if out.Name, err = r.want(name, "the name of a session"); err != nil {
		return err
	}
	at := r.at
	if out.SetUp, _, err = r.optional("setup"); err != nil {
		return err
	}
	for {
		t, err := r.peek()
		if err != nil {
			return err
		}
		if t != (token{keyword, "step"}) {
			break
		}
		if _, err := r.next(); err != nil {
			return err
		}
		var step Step
		if step.Name, err = r.want(name, "the name of a step"); err != nil {
			return err
		}
		if _, twice := places[step.Name]; twice {
			return r.errorf(r.at, "two steps have the name %s", step.Name)
		}
		places[step.Name] = Launch{Name: step.Name, Session: len(s.Sessions), Step: len(out.Steps)}
		if step.SQL, err = r.want(block, "SQL in braces behind the name of a step"); err != nil {
			return err
		}
		out.Steps = append(out.Steps, step)
	}
	if len(out.Steps) == 0 {
		return r.errorf(at, "session %s has no step", out.Name)
	}
	if out.TearDown, _, err = r.optional("teardown"); err != nil {
		return err
	}
	s.Sessions = append(s.Sessions, out)
	return nil
}

func (r *reader) permutation(places map[string]Launch) (Permutation, error) {
	var out Permutation
	for {
		t, err := r.peek()
		if err != nil {
			return nil, err
		}
		if t.kind != name {
			break
		}
		if _, err := r.next(); err != nil {
			return nil, err
		}
		l, found := places[t.text]
		if !found {
			return nil, r.errorf(r.at, "no session has a step %s", t.text)
		}
		if l.Markers, err = r.markers(places); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, r.errorf(r.at, "want the names of steps behind permutation")
	}
	return out, nil
}

// markers reads what stands in parentheses behind a step of a permutation.
func (r *reader) markers(places map[string]Launch) (out []string, err error) {
	open := token{sign, "("}
	if t, err := r.peek(); err != nil || t != open {
		return nil, err
	}
	for between := "("; between != ")"; {
		if _, err := r.next(); err != nil { // the parenthesis or comma
			return nil, err
		}
		t, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case t == (token{sign, "*"}):
		case t.kind != name:
			return nil, r.errorf(r.at, "want * or the name of a step in parentheses")
		default:
			if _, found := places[t.text]; !found {
				return nil, r.errorf(r.at, "no session has a step %s", t.text)
			}
			if n, err := r.peek(); err != nil {
				return nil, err
			} else if n == (token{keyword, "notices"}) {
				if _, err := r.next(); err != nil {
					return nil, err
				}
				count, err := r.want(number, "a number behind notices")
				if err != nil {
					return nil, err
				}
				t.text += " notices " + count
			}
		}
		out = append(out, t.text)
		n, err := r.peek()
		if err != nil {
			return nil, err
		}
		if between = n.text; n.kind != sign || between != "," && between != ")" {
			_, _ = r.next()
			return nil, r.errorf(r.at, "want a comma or the parenthesis behind a marker")
		}
	}
	_, err = r.next()
	return out, err
}
