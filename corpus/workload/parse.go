package workload

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
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
	p := &parser{lexer: lexer{name: name, text: strings.TrimPrefix(string(text), "\ufeff")}, w: &Workload{File: name}}
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

var rowsPattern = regexp.MustCompile("^\\s+(`[^`]+`|\\w+)\\s+(\\d+)(?:\\s*\\.\\.\\s*(\\d+))?\\s*$")

// maxRows is how many rows a table may be asked to have: transactions must meet.
const maxRows = 100

func (p *parser) rows(t token, rest string, at int) *corpus.ParseError {
	m := rowsPattern.FindStringSubmatch(rest)
	if m == nil {
		return p.errorf(at, "want /* rows TABLE N */ or /* rows TABLE N..M */")
	}
	r := Rows{Above: p.comments(), Place: p.place(t.at), Table: strings.Trim(m[1], "`")}
	var err error
	if r.Min, err = strconv.Atoi(m[2]); err == nil {
		r.Max = r.Min
		if m[3] != "" {
			r.Max, err = strconv.Atoi(m[3])
		}
	}
	if err != nil || r.Max > maxRows || r.Min > r.Max {
		return p.errorf(at, "want 0 to %d rows, the smaller number first", maxRows)
	}
	p.w.Rows = append(p.w.Rows, r)
	return nil
}

var columnPattern = regexp.MustCompile("^\\s*(`[^`]+`|\\w+)\\s*\\.\\s*(`[^`]+`|\\w+)\\s*$")

func (p *parser) sample(t token, rest string, at int) *corpus.ParseError {
	m := columnPattern.FindStringSubmatch(rest)
	if m == nil {
		return p.errorf(at, "want /* sample TABLE.COLUMN */")
	}
	p.w.Samples = append(p.w.Samples, Sample{Above: p.comments(), Place: p.place(t.at), Table: strings.Trim(m[1], "`"), Column: strings.Trim(m[2], "`")})
	p.in = inSample
	return nil
}

var namePattern = regexp.MustCompile(`^\s+([A-Za-z_][\w-]*)`)

func (p *parser) transaction(t token, rest string, at int) *corpus.ParseError {
	m := namePattern.FindStringSubmatch(rest)
	if m == nil {
		return p.errorf(at, "want /* transaction NAME (:parameter TYPE, …) */")
	}
	x := &Transaction{Above: p.comments(), Place: p.place(t.at), Name: m[1]}
	if p.w.Transaction(x.Name) != nil {
		return p.errorf(at, "there are two transactions %s", x.Name)
	}
	at += len(m[0])
	rest = rest[len(m[0]):]
	if s := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(s, "(") {
		at += len(rest) - len(s)
		end := closing(s)
		if end < 0 {
			return p.errorf(at, "this parenthesis is never closed")
		}
		if err := p.params(x, at+1, at+end); err != nil {
			return err
		}
		rest, at = s[end+1:], at+end+1
	}
	switch word, tail := firstWord(rest); word {
	case "":
		if s := strings.TrimSpace(rest); s != "" {
			return p.errorf(at, "want (:parameter TYPE, …) or retry N, found %q", clip(s))
		}
	case "retry":
		n, err := strconv.Atoi(strings.TrimSpace(tail))
		if err != nil || n < 1 || n > 100 {
			return p.errorf(at, "want retry 1 to retry 100, found retry %s", clip(strings.TrimSpace(tail)))
		}
		x.Retry = n
	default:
		return p.errorf(at, "want (:parameter TYPE, …) or retry N, found %q%s", clip(strings.TrimSpace(rest)), spelling.Hint(word, []string{"retry"}))
	}
	p.w.Transactions = append(p.w.Transactions, x)
	p.txn, p.in = x, inTransaction
	return nil
}

// closing returns the index of the parenthesis that closes the one that s begins
// with, or -1.
func closing(s string) int {
	at := -1
	outside(s, func(i, depth int) int {
		if s[i] == ')' && depth == 0 && at < 0 {
			at = i
		}
		return 1
	})
	return at
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

var (
	paramPattern = regexp.MustCompile(`^:([A-Za-z_]\w*)(?:\s+|$)`)
	typePattern  = regexp.MustCompile(`(?i)^((?:TINY|SMALL|MEDIUM|BIG)?INT|INTEGER|BOOL|BOOLEAN|DECIMAL|NUMERIC|FLOAT|DOUBLE|VARCHAR|CHAR|TEXT|DATE|DATETIME)(?:\s*\(\s*(\d+)(?:\s*,\s*(\d+))?\s*\))?`)
	rangePattern = regexp.MustCompile(`^\s*(-?\d+)\s*\.\.\s*(-?\d+)$`)
	oneOfPattern = regexp.MustCompile(`(?i)^one\s+of\s*\(`)
)

func (p *parser) params(x *Transaction, from, to int) *corpus.ParseError {
	if strings.TrimSpace(p.text[from:to]) == "" {
		return nil
	}
	for _, part := range p.splitList(from, to) {
		a, b := p.trim(part[0], part[1])
		s := p.text[a:b]
		m := paramPattern.FindStringSubmatch(s)
		if m == nil {
			return p.errorf(a, "want a parameter such as :id INT 1..100, found %q", clip(s))
		}
		q := Param{Name: strings.ToLower(m[1])}
		switch {
		case slices.ContainsFunc(x.Params, func(o Param) bool { return o.Name == q.Name }):
			return p.errorf(a, "there are two parameters :%s", q.Name)
		case slices.Contains(builtin, q.Name):
			return p.errorf(a, ":%s is what the last statement did; give the parameter another name", q.Name)
		}
		if err := p.paramType(&q, a+len(m[0]), b); err != nil {
			return err
		}
		x.Params = append(x.Params, q)
	}
	return nil
}

func (p *parser) paramType(q *Param, from, to int) *corpus.ParseError {
	s := p.text[from:to]
	if s == "" {
		return p.errorf(from, "want a type, table.column or one of (…) behind :%s", q.Name)
	}
	if m := columnPattern.FindStringSubmatch(s); m != nil {
		q.Table, q.Column = strings.Trim(m[1], "`"), strings.Trim(m[2], "`")
		return nil
	}
	if m := oneOfPattern.FindString(s); m != "" {
		open := len(m) - 1
		end := closing(s[open:])
		if end != len(s)-open-1 {
			return p.errorf(from, "want one of (VALUE, …)")
		}
		for _, part := range p.splitList(from+open+1, to-1) {
			v, err := p.literal(part[0], part[1])
			if err != nil {
				return err
			}
			q.OneOf = append(q.OneOf, v)
		}
		return nil
	}
	m := typePattern.FindStringSubmatch(s)
	if m == nil {
		return p.errorf(from, "want a type such as INT, DECIMAL(10, 2) or VARCHAR(20), a table.column, or one of (…), found %q", clip(s))
	}
	q.Type = strings.ToUpper(m[1])
	if m[2] != "" {
		q.Type += "(" + m[2]
		if m[3] != "" {
			q.Type += ", " + m[3]
		}
		q.Type += ")"
	}
	if rest := s[len(m[0]):]; strings.TrimSpace(rest) != "" {
		r := rangePattern.FindStringSubmatch(strings.TrimRight(rest, " \t\r\n"))
		if r == nil {
			return p.errorf(from+len(m[0]), "want a range such as 1..100, found %q", clip(strings.TrimSpace(rest)))
		}
		var err, err2 error
		q.HasRange = true
		q.Min, err = strconv.ParseInt(r[1], 10, 64)
		q.Max, err2 = strconv.ParseInt(r[2], 10, 64)
		if err != nil || err2 != nil || q.Min > q.Max {
			return p.errorf(from+len(m[0]), "this range is empty or too large: %s", clip(strings.TrimSpace(rest)))
		}
		if !q.IsInt() {
			return p.errorf(from+len(m[0]), "only integers have a range, not %s", q.Type)
		}
	}
	return nil
}

// IsInt says that the parameter is declared as an integer.
func (q *Param) IsInt() bool { return strings.Contains(q.Type, "INT") }

func (p *parser) unless(t token, rest string, at int) *corpus.ParseError {
	colon := -1
	outside(rest, func(i, depth int) int {
		if rest[i] == ':' && (i+1 >= len(rest) || !isLetter(rest[i+1])) {
			colon = i
		}
		return 1
	})
	if colon < 0 {
		return p.errorf(at, "want /* unless CONDITION: rollback */, : commit or : skip")
	}
	n := Node{Above: p.comments(), Place: p.place(t.at), Kind: Unless}
	from, to := p.trim(at+colon+1, at+len(rest))
	switch do := Action(strings.ToLower(p.text[from:to])); do {
	case Rollback, Commit, Skip:
		n.Do = do
	default:
		return p.errorf(from, "want rollback, commit or skip behind the colon, found %q%s", clip(p.text[from:to]), spelling.Hint(string(do), []string{"rollback", "commit", "skip"}))
	}
	var err *corpus.ParseError
	if n.Cond, err = p.expr(at, at+colon); err != nil {
		return err
	}
	p.add(n)
	return nil
}

func (p *parser) repeat(t token, rest string, at int) *corpus.ParseError {
	n := Node{Above: p.comments(), Place: p.place(t.at), Kind: Repeat}
	if strings.TrimSpace(rest) != "" {
		var err *corpus.ParseError
		if n.Times, err = p.expr(at, at+len(rest)); err != nil {
			return err
		}
	}
	if len(p.loops) >= 4 {
		return p.errorf(t.at, "repeats are nested too deeply")
	}
	p.add(n)
	body := p.body()
	p.loops = append(p.loops, &(*body)[len(*body)-1])
	return nil
}

func (p *parser) end(t token, rest string, at int) *corpus.ParseError {
	switch {
	case strings.TrimSpace(rest) != "":
		return p.errorf(at, "want /* end */")
	case len(p.loops) == 0:
		return p.errorf(t.at, "this /* end */ has no /* repeat */")
	case len(p.loops[len(p.loops)-1].Body) == 0:
		return p.errorf(t.at, "nothing is repeated")
	}
	p.loops = p.loops[:len(p.loops)-1]
	return nil
}

// body is what the next part of the transaction is added to.
func (p *parser) body() *[]Node {
	if n := len(p.loops); n > 0 {
		return &p.loops[n-1].Body
	}
	return &p.txn.Body
}

func (p *parser) add(n Node) { b := p.body(); *b = append(*b, n) }

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

// statementIn gives a statement to its section.
func (p *parser) statementIn(t token) *corpus.ParseError {
	switch p.in {
	case inSchema:
		stmt, err := p.sql(t.from, t.to, false)
		if err != nil {
			return err
		}
		p.w.Schema = append(p.w.Schema, Statement{p.comments(t.comments...), p.place(t.at), stmt})
		return nil
	case inSample:
		s := &p.w.Samples[len(p.w.Samples)-1]
		s.Above = append(s.Above, p.comments(t.comments...)...)
		p.in = nowhere
		return p.values(s, t)
	case inTransaction:
		return p.step(t)
	case inInvariant:
		v := p.w.Invariants[len(p.w.Invariants)-1]
		v.Above = append(v.Above, p.comments(t.comments...)...)
		p.in = nowhere
		var err *corpus.ParseError
		v.Query, err = p.sql(t.from, t.to, false)
		return err
	}
	return p.errorf(t.at, "want /* schema */, /* transaction NAME */ or /* invariant NAME */ before a statement")
}

var weightPattern = regexp.MustCompile(`(?i)\s+weight\s+(\d+)$`)

func (p *parser) values(s *Sample, t token) *corpus.ParseError {
	for _, part := range p.splitList(t.from, t.to) {
		from, to := p.trim(part[0], part[1])
		v := Weighted{Weight: 1}
		if m := weightPattern.FindStringSubmatch(p.text[from:to]); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > 1000 {
				return p.errorf(to-len(m[1]), "want a weight of 1 to 1000")
			}
			v.Weight = n
			to -= len(m[0])
		}
		var err *corpus.ParseError
		if v.Value, err = p.literal(from, to); err != nil {
			return err
		}
		s.Values = append(s.Values, v)
	}
	return nil
}

func (p *parser) step(t token) *corpus.ParseError {
	n := Node{Above: p.comments(t.comments...), Place: p.place(t.at), Kind: Run}
	from, to := t.from, t.to
	blanked, into, err := p.cutInto(from, to)
	if err != nil {
		return err
	}
	n.Into = into
	if n.Stmt, err = p.parseSQL(from, blanked, true); err != nil {
		return err
	}
	if len(into) > 0 {
		sel, ok := n.Stmt.(*ast.SelectStmt)
		if !ok {
			return p.errorf(t.at, "only a SELECT has INTO :variable")
		}
		wild := slices.ContainsFunc(sel.Fields.Fields, func(f *ast.SelectField) bool { return f.WildCard != nil })
		if !wild && len(sel.Fields.Fields) != len(into) {
			return p.errorf(t.at, "the SELECT has %d columns, INTO has %d variables", len(sel.Fields.Fields), len(into))
		}
	}
	p.add(n)
	return nil
}

var intoPattern = regexp.MustCompile(`(?i)^into\s+(:[A-Za-z_]\w*(?:\s*,\s*:[A-Za-z_]\w*)*)`)

// cutInto finds INTO :a, :b in text[from:to], returns the text with blanks in its
// place, and the names.
func (p *parser) cutInto(from, to int) (string, []string, *corpus.ParseError) {
	s := p.text[from:to]
	out := []byte(s)
	var names []string
	var err *corpus.ParseError
	outside(s, func(i, depth int) int {
		if depth != 0 || err != nil || i > 0 && isWord(s[i-1]) || s[i]|0x20 != 'i' {
			return 1
		}
		m := intoPattern.FindStringSubmatch(s[i:])
		if m == nil {
			return 1
		}
		if names != nil {
			err = p.errorf(from+i, "there are two INTO")
			return 1
		}
		for _, n := range strings.Split(m[1], ",") {
			name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(n), ":"))
			if slices.Contains(builtin, name) {
				err = p.errorf(from+i, ":%s is what the last statement did; give the variable another name", name)
			}
			names = append(names, name)
		}
		for j := i; j < i+len(m[0]); j++ {
			if !isSpace(out[j]) {
				out[j] = ' '
			}
		}
		return len(m[0])
	})
	return string(out), names, err
}

func (p *parser) sql(from, to int, vars bool) (ast.StmtNode, *corpus.ParseError) {
	return p.parseSQL(from, p.text[from:to], vars)
}

// parseSQL parses a statement that stands at a position of the file. Where
// variables are allowed, :name is one; the parser is given @name, which is as long.
func (p *parser) parseSQL(from int, s string, vars bool) (ast.StmtNode, *corpus.ParseError) {
	out := []byte(s)
	var err *corpus.ParseError
	outside(s, func(i, _ int) int {
		switch {
		case err != nil:
		case s[i] == '@' && vars && (i+1 >= len(s) || s[i+1] != '@'):
			err = p.errorf(from+i, "variables of a workload are written :name")
		case s[i] == '@' && i+1 < len(s) && s[i+1] == '@':
			return 2
		case s[i] == ':' && i+1 < len(s) && isLetter(s[i+1]):
			if !vars {
				err = p.errorf(from+i, "there are no variables here")
			}
			out[i] = '@'
		}
		return 1
	})
	if err != nil {
		return nil, err
	}
	stmt, e := corpus.ParseStatement(string(out))
	if e != nil {
		return nil, p.shifted(from, e)
	}
	return stmt, nil
}

// shifted moves an error of a part of the file, which begins at a position, to its
// place in the file.
func (p *parser) shifted(from int, err error) *corpus.ParseError {
	var pe *corpus.ParseError
	if !errors.As(err, &pe) {
		return p.errorf(from, "%v", err)
	}
	at := p.place(from)
	line, column := at.Line+pe.Line-1, pe.Column
	if pe.Line <= 1 {
		line, column = at.Line, at.Column+pe.Column-1
	}
	return &corpus.ParseError{File: p.name, Line: line, Column: column, Msg: pe.Msg}
}

// selectWord is put before an expression to make a statement of it.
const selectWord = "SELECT "

// expr parses text[from:to] as one expression that the client can evaluate.
func (p *parser) expr(from, to int) (ast.ExprNode, *corpus.ParseError) {
	e, err := p.anyExpr(from, to)
	if err == nil && !constantExpr(e) {
		from, _ = p.trim(from, to)
		return nil, p.errorf(from, "a condition is evaluated by the client: it knows no columns and no subqueries; SELECT … INTO :x first")
	}
	return e, err
}

// anyExpr parses text[from:to] as one expression.
func (p *parser) anyExpr(from, to int) (ast.ExprNode, *corpus.ParseError) {
	from, to = p.trim(from, to)
	s := p.text[from:to]
	if s == "" {
		return nil, p.errorf(from, "want an expression")
	}
	bare := s
	outside(s, func(i, depth int) int {
		if s[i] == ';' {
			bare = ""
		}
		return 1
	})
	if bare == "" {
		return nil, p.errorf(from, "want an expression, found a semicolon")
	}
	stmt, err := p.parseSQL(from, selectWord+s, true)
	if err != nil {
		if start := p.place(from); err.Line == start.Line {
			err.Column = max(start.Column, err.Column-len(selectWord))
		}
		return nil, err
	}
	sel, ok := stmt.(*ast.SelectStmt)
	if !ok || sel.From != nil || sel.Where != nil || sel.Limit != nil || sel.OrderBy != nil || sel.GroupBy != nil || sel.Having != nil ||
		sel.Distinct || sel.LockInfo != nil || len(sel.Fields.Fields) != 1 || sel.Fields.Fields[0].WildCard != nil || sel.Fields.Fields[0].AsName.O != "" {
		return nil, p.errorf(from, "want one expression, found %q", clip(s))
	}
	return sel.Fields.Fields[0].Expr, nil
}

type constantFinder struct{ not bool }

func (c *constantFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.DefaultExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.ValuesExpr:
		c.not = true
	case *ast.VariableExpr:
		c.not = c.not || x.IsSystem || x.Value != nil
	}
	return n, c.not
}

func (c *constantFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func constantExpr(e ast.ExprNode) bool {
	c := &constantFinder{}
	e.Accept(c)
	return !c.not
}

// literal parses text[from:to] as a literal, perhaps negative.
func (p *parser) literal(from, to int) (ast.ExprNode, *corpus.ParseError) {
	from, to = p.trim(from, to)
	e, err := p.anyExpr(from, to)
	if err != nil {
		return nil, err
	}
	switch x := e.(type) {
	case ast.ValueExpr:
		return e, nil
	case *ast.UnaryOperationExpr:
		if _, ok := x.V.(ast.ValueExpr); ok {
			return e, nil
		}
	}
	return nil, p.errorf(from, "want a value such as 1, -2.50, 'text' or NULL, found %q", clip(p.text[from:to]))
}
