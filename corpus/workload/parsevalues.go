package workload

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

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
