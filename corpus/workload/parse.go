package workload

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

var directives = []string{"schema", "rows", "sample", "transaction", "unless", "repeat", "end", "invariant"}

func isDirective(word string) bool { return slices.Contains(directives, word) }

// Parse reads the text form of a workload. name only appears in errors, all of
// which are *corpus.ParseError.
func Parse(name string, text []byte) (*Workload, error) {
	p := &parser{lexer: lexer{name: name, text: strings.TrimPrefix(string(text), "\ufeff")}, w: &Workload{File: name, text: string(text)}}
	if at := invalid(p.text); at >= 0 {
		return nil, p.errorf(at, "not UTF-8")
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	return p.w, nil
}

// ParseInvariant reads what Invariant.String writes.
func ParseInvariant(text string) (*Invariant, error) {
	colon := -1
	outside(text, func(i, _ int) int {
		if text[i] == ':' && colon < 0 {
			colon = i
		}
		return 1
	})
	if colon < 0 {
		return nil, &corpus.ParseError{Line: 1, Column: 1, Msg: "want the name of an invariant, a colon and a SELECT"}
	}
	p := &parser{lexer: lexer{text: "/* invariant " + text[:colon] + " */" + text[colon+1:] + ";"}, w: &Workload{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	if len(p.w.Invariants) != 1 {
		return nil, p.errorf(0, "want one invariant, found %d", len(p.w.Invariants))
	}
	v := p.w.Invariants[0]
	if !isQuery(v.Query) {
		return nil, p.errorf(0, "an invariant is a SELECT")
	}
	return v, nil
}

func isQuery(s ast.StmtNode) bool {
	switch s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return true
	}
	return false
}

func invalid(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return i
		}
		i += n
	}
	return -1
}

// section is what statements belong to.
type section uint8

const (
	nowhere section = iota
	inSchema
	inSample
	inTransaction
	inInvariant
)

type parser struct {
	lexer
	w     *Workload
	above []string
	in    section
	// txn is the transaction that is being read, loops the repeats that are open
	// in it, innermost last.
	txn   *Transaction
	loops []*Node
	begun bool // something other than a comment was there
	coded bool // transactions come from elsewhere
}

// read takes the file apart.
func (p *parser) read() error {
	for {
		t, err := p.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case endOfFile:
			if err := p.leave(t.at); err != nil {
				return err
			}
			p.w.Tail = p.above
			return nil
		case comment:
			text := strings.TrimSpace(p.text[t.from:t.to])
			if strings.ContainsAny(text, "\r") {
				text = strings.Join(strings.Fields(text), " ")
			}
			p.above = append(p.above, text)
			// A comment above an empty line is that of the file.
			if rest := p.text[t.to:]; !p.begun && blankLine(rest) {
				p.w.Comments, p.above = append(p.w.Comments, p.above...), nil
			}
		case directive:
			p.begun = true
			if err := p.directive(t); err != nil {
				return err
			}
		case statement:
			p.begun = true
			if err := p.statementIn(t); err != nil {
				return err
			}
		}
	}
}

// blankLine says that an empty line follows the end of this one.
func blankLine(rest string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r"), "\n")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n")
}

// comments returns what stands above the part that begins now.
func (p *parser) comments(more ...string) []string {
	out := append(p.above, more...)
	p.above = nil
	return out
}

// leave ends the section before the one at a position.
func (p *parser) leave(at int) *corpus.ParseError {
	switch {
	case len(p.loops) > 0:
		return p.errorf(at, "the /* repeat */ of line %d has no /* end */", p.loops[len(p.loops)-1].Place.Line)
	case p.in == inSample:
		return p.errorf(at, "want values and a semicolon behind /* sample */, such as 0, 100 weight 3;")
	case p.in == inInvariant:
		return p.errorf(at, "want a SELECT behind /* invariant */")
	case p.txn != nil && len(p.txn.Body) == 0:
		return p.errorf(at, "transaction %s has no statement", p.txn.Name)
	}
	p.txn, p.in = nil, nowhere
	return nil
}

func (p *parser) directive(t token) *corpus.ParseError {
	body := p.text[t.from:t.to]
	word, rest := firstWord(body)
	restAt := t.to - len(rest)
	if p.in == inSample || p.in == inInvariant || !isInner(word) && isDirective(word) {
		if err := p.leave(t.at); err != nil {
			return err
		}
	}
	switch word {
	case "schema":
		if s := strings.TrimSpace(rest); s != "" {
			return p.errorf(restAt, "want /* schema */, found %q behind it", s)
		}
		p.in = inSchema
		return nil
	case "rows":
		return p.rows(t, rest, restAt)
	case "sample":
		return p.sample(t, rest, restAt)
	case "transaction":
		return p.transaction(t, rest, restAt)
	case "invariant":
		return p.invariant(t, rest, restAt)
	case "unless", "repeat", "end":
		if p.in != inTransaction {
			return p.errorf(t.at, "/* %s */ belongs into a transaction", word)
		}
		switch word {
		case "unless":
			return p.unless(t, rest, restAt)
		case "repeat":
			return p.repeat(t, rest, restAt)
		}
		return p.end(t, rest, restAt)
	}
	return p.errorf(t.at, "there is no directive %q%s; want one of %s; write other comments behind --", clip(strings.TrimSpace(body)), meant(word), strings.Join(directives, ", "))
}

// alike are words of other languages for what a directive does.
var alike = map[string][]string{
	"schema":      {"table", "tables", "ddl", "setup", "init"},
	"rows":        {"count", "size", "fill"},
	"sample":      {"values", "data", "generate"},
	"transaction": {"begin", "procedure", "function", "tx", "txn"},
	"unless":      {"if", "when", "where", "require", "else", "elseif"},
	"repeat":      {"for", "foreach", "while", "loop", "each"},
	"end":         {"endif", "fi", "done", "endfor", "endwhile", "until"},
	"invariant":   {"assert", "check", "constraint", "always"},
}

// meant is a hint at the directive that a word may stand for.
func meant(word string) string {
	for _, d := range directives {
		if slices.Contains(alike[d], word) {
			return spelling.Hint(d, directives)
		}
	}
	return spelling.Hint(word, directives)
}

func isInner(word string) bool { return word == "unless" || word == "repeat" || word == "end" }

func clip(s string) string {
	if r := []rune(s); len(r) > 24 {
		return string(r[:24]) + "…"
	}
	return s
}

// splitList cuts text[from:to] at its commas and returns the offsets of the parts.
func (p *parser) splitList(from, to int) [][2]int {
	var out [][2]int
	s := p.text[from:to]
	begin := 0
	outside(s, func(i, depth int) int {
		if s[i] == ',' && depth == 0 {
			out = append(out, [2]int{from + begin, from + i})
			begin = i + 1
		}
		return 1
	})
	return append(out, [2]int{from + begin, to})
}

// trim moves the ends of text[from:to] over white space.
func (p *parser) trim(from, to int) (int, int) {
	for from < to && isSpace(p.text[from]) {
		from++
	}
	for from < to && isSpace(p.text[to-1]) {
		to--
	}
	return from, to
}

var invariantPattern = regexp.MustCompile(`(?is)^\s+([A-Za-z_][\w-]*)\s*(.*?)\s*$`)

func (p *parser) invariant(t token, rest string, at int) *corpus.ParseError {
	m := invariantPattern.FindStringSubmatchIndex(rest)
	if m == nil {
		return p.errorf(at, "want /* invariant NAME */, /* invariant NAME constant */ or /* invariant NAME one of VALUE, … */")
	}
	v := &Invariant{Above: p.comments(), Place: p.place(t.at), Name: rest[m[2]:m[3]]}
	if slices.ContainsFunc(p.w.Invariants, func(o *Invariant) bool { return o.Name == v.Name }) {
		return p.errorf(at, "there are two invariants %s", v.Name)
	}
	how := rest[m[4]:m[5]]
	switch lower := strings.ToLower(strings.Join(strings.Fields(how), " ")); {
	case lower == "":
	case lower == "constant":
		v.Judge = Constant
	case strings.HasPrefix(lower, "one of "):
		v.Judge = OneOf
		skip := regexp.MustCompile(`(?i)^one\s+of\s`).FindString(how)
		for _, part := range p.splitList(at+m[4]+len(skip), at+m[5]) {
			e, err := p.literal(part[0], part[1])
			if err != nil {
				return err
			}
			v.Values = append(v.Values, e)
		}
	default:
		return p.errorf(at+m[4], "want nothing, constant or one of VALUE, … behind the name of an invariant, found %q%s", clip(how), spelling.Hint(lower, []string{"constant", "one of"}))
	}
	p.w.Invariants = append(p.w.Invariants, v)
	p.in = inInvariant
	return nil
}
