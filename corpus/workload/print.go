package workload

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Print returns the text form, which Parse reads back to an equal workload.
func Print(w *Workload) []byte {
	var b bytes.Buffer
	comments(&b, "", w.Comments)
	if len(w.Comments) > 0 {
		b.WriteByte('\n')
	}
	for i, s := range w.Schema {
		if i == 0 {
			b.WriteString("/* schema */\n")
		}
		comments(&b, "", s.Above)
		fmt.Fprintf(&b, "%s;\n", corpus.SQL(s.Stmt, corpus.Text))
	}
	for _, r := range w.Rows {
		comments(&b, "", r.Above)
		fmt.Fprintf(&b, "/* rows %s %d", name(r.Table), r.Min)
		if r.Max != r.Min {
			fmt.Fprintf(&b, "..%d", r.Max)
		}
		b.WriteString(" */\n")
	}
	for _, s := range w.Samples {
		comments(&b, "", s.Above)
		fmt.Fprintf(&b, "/* sample %s.%s */ ", name(s.Table), name(s.Column))
		for i, v := range s.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(expr(v.Value))
			if v.Weight != 1 {
				fmt.Fprintf(&b, " weight %d", v.Weight)
			}
		}
		b.WriteString(";\n")
	}
	for _, t := range w.Transactions {
		b.WriteByte('\n')
		printTransaction(&b, t)
	}
	for i, v := range w.Invariants {
		if i == 0 {
			b.WriteByte('\n')
		}
		comments(&b, "", v.Above)
		fmt.Fprintf(&b, "/* invariant %s%s */ %s;\n", v.Name, v.how(), corpus.SQL(v.Query, corpus.Text))
	}
	comments(&b, "", w.Tail)
	return b.Bytes()
}

// how is what stands behind the name of an invariant.
func (v *Invariant) how() string {
	switch v.Judge {
	case Constant:
		return " constant"
	case OneOf:
		return " one of " + exprs(v.Values)
	}
	return ""
}

// String says what an invariant demands.
func (v *Invariant) String() string {
	return v.Name + v.how() + ": " + corpus.SQL(v.Query, corpus.Text)
}

func printTransaction(b *bytes.Buffer, t *Transaction) {
	comments(b, "", t.Above)
	fmt.Fprintf(b, "/* transaction %s (", t.Name)
	for i, q := range t.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(":" + q.Name + " ")
		switch {
		case q.Table != "":
			b.WriteString(name(q.Table) + "." + name(q.Column))
		case q.OneOf != nil:
			b.WriteString("one of (" + exprs(q.OneOf) + ")")
		default:
			b.WriteString(q.Type)
			if q.HasRange {
				fmt.Fprintf(b, " %d..%d", q.Min, q.Max)
			}
		}
	}
	b.WriteString(")")
	if t.Retry > 0 {
		b.WriteString(" retry " + strconv.Itoa(t.Retry))
	}
	b.WriteString(" */\n")
	printBody(b, t.Body, "")
}

func printBody(b *bytes.Buffer, body []Node, indent string) {
	for i := range body {
		n := &body[i]
		comments(b, indent, n.Above)
		b.WriteString(indent)
		switch n.Kind {
		case Run:
			b.WriteString(n.SQL() + ";\n")
		case Unless:
			b.WriteString("/* " + n.String() + " */\n")
		case Repeat:
			b.WriteString("/* " + n.String() + " */\n")
			printBody(b, n.Body, indent+"  ")
			b.WriteString(indent + "/* end */\n")
		}
	}
}

// String is a node as the file has it, without the marks around it: a statement, or a
// directive.
func (n *Node) String() string {
	switch {
	case n.Kind == Run:
		return n.SQL()
	case n.Kind == Unless:
		return fmt.Sprintf("unless %s: %s", expr(n.Cond), n.Do)
	case n.Times != nil:
		return "repeat " + expr(n.Times)
	}
	return "repeat"
}

// SQL returns the statement of a node as the file has it, without a semicolon.
func (n *Node) SQL() string {
	s := named(corpus.SQL(n.Stmt, corpus.Text))
	for i, into := range n.Into {
		if i == 0 {
			s += " INTO :" + into
		} else {
			s += ", :" + into
		}
	}
	return s
}

func comments(b *bytes.Buffer, indent string, list []string) {
	for _, c := range list {
		b.WriteString(strings.TrimRight(indent+"-- "+c, " ") + "\n")
	}
}

func name(s string) string {
	for i := range len(s) {
		if !isWord(s[i]) {
			return "`" + s + "`"
		}
	}
	return s
}

func expr(e ast.ExprNode) string {
	s, err := corpus.FormatExpr(e, corpus.Text)
	if err != nil {
		return "?"
	}
	return named(s)
}

func exprs(list []ast.ExprNode) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = expr(e)
	}
	return strings.Join(out, ", ")
}

// named writes user variables as the file has them. A printer puts quotes around names
// that are reserved words.
func named(s string) string {
	var b strings.Builder
	done := 0
	outside(s, func(i, _ int) int {
		if s[i] != '@' || i+1 >= len(s) {
			return 1
		}
		if s[i+1] == '@' {
			return 2
		}
		b.WriteString(s[done:i] + ":")
		done = i + 1
		if s[i+1] != '`' {
			return 1
		}
		end := corpus.EndOfQuote(s, i+1)
		if end < 0 {
			return 1
		}
		b.WriteString(s[i+2 : end-1])
		done = end
		return end - i
	})
	return b.String() + s[done:]
}
