package workload

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

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
