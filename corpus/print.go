package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Dialect is the SQL of one family of servers, or of the text form of a case.
type Dialect uint8

const (
	// Text is the form that files use; the parser reads it.
	Text Dialect = iota
	// MySQL prints for MySQL 8 and later.
	MySQL
	// MariaDB prints for MariaDB 10.5 and later.
	MariaDB
	// TiDB prints for TiDB.
	TiDB
	// PostgreSQL prints for PostgreSQL 15 and later what can be said there; see package pgsql.
	PostgreSQL
)

// Print returns the text form of a case, its statements in the given dialect.
// With Text, Parse reads it back to an equal case. Statements that cannot be
// printed appear as in SQL.
func Print(c *Case, d Dialect) []byte {
	var b bytes.Buffer
	header := c.Header
	if f, ok := c.holdField(); ok {
		header = append(slices.Clip(header), f)
	}
	for _, f := range header {
		b.WriteString(strings.TrimRight("-- "+oneLine(f.Key)+": "+strings.TrimSpace(fold(f.Value)), " "))
		b.WriteByte('\n')
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	printLines(&b, c.Init, d)
	printLines(&b, c.Steps, d)
	printComments(&b, c.Tail)
	return b.Bytes()
}

func printLines(b *bytes.Buffer, lines []Line, d Dialect) {
	for _, l := range lines {
		printComments(b, l.Above)
		if l.Session == InitSession {
			b.WriteString("/* init */ ")
		} else {
			fmt.Fprintf(b, "/* tx%d */ ", l.Session)
		}
		b.WriteString(SQL(l.Stmt, d))
		b.WriteByte(';')
		if note := oneLine(l.Note); note != "" {
			b.WriteString(" -- ")
			b.WriteString(note)
		}
		b.WriteByte('\n')
	}
}

func printComments(b *bytes.Buffer, comments []string) {
	for _, c := range comments {
		for _, l := range strings.Split(c, "\n") {
			b.WriteString(strings.TrimSpace("-- " + oneLine(l)))
			b.WriteByte('\n')
		}
	}
}

// oneLine makes a comment safe to print on one line.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\n\r") {
		s = strings.NewReplacer("\n", " ", "\r", " ").Replace(s)
	}
	return strings.TrimSpace(s)
}

// SQL returns a statement in a dialect, without a semicolon, on one line. A
// tree that has no SQL (see Format) gives a text that no server accepts.
func SQL(n ast.StmtNode, d Dialect) string {
	s, err := Format(n, d)
	if err != nil {
		return "/* not printable: " + strings.ReplaceAll(oneLine(err.Error()), "*/", "* /") + " */ ?"
	}
	return s
}

// Shown is SQL without the comment of a raw statement that says what it touches: servers and their users need none.
func Shown(n ast.StmtNode, d Dialect) string {
	if raw, ok := n.(*stmt.RawStmt); ok {
		return raw.SQL
	}
	return SQL(n, d)
}

// Format is SQL with an error for trees that no parser makes, for example one
// with a nil where an operand must be. It does not change the tree, so that
// several goroutines may print a shared one. For PostgreSQL a statement may be several with
// "; " between them, and the error may be a *pgsql.UnsayableError.
func Format(n ast.StmtNode, d Dialect) (_ string, err error) {
	if d == PostgreSQL {
		return forPostgreSQL(n, pgsql.SQL)
	}
	w := writers.Get().(*sqlWriter)
	w.reset(d)
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("print %T: %v", n, e)
			return
		}
		writers.Put(w)
	}()
	if err := w.statement(n); err != nil {
		return "", fmt.Errorf("print %T: %w", n, cause(err))
	}
	return string(w.out), nil
}

// FormatExpr returns an expression in a dialect.
func FormatExpr(e ast.ExprNode, d Dialect) (_ string, err error) {
	if d == PostgreSQL {
		return forPostgreSQL(e, pgsql.Expr)
	}
	w := writers.Get().(*sqlWriter)
	w.reset(d)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("print %T: %v", e, p)
			return
		}
		writers.Put(w)
	}()
	if err := bracketed(e).Restore(w.ctx); err != nil {
		return "", fmt.Errorf("print %T: %w", e, cause(err))
	}
	return string(w.out), nil
}

func forPostgreSQL[N ast.Node](n N, write func(N) (string, error)) (_ string, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("print %T: %v", n, e)
		}
	}()
	sql, err := write(n)
	if err != nil {
		return "", fmt.Errorf("print %T: %w", n, err)
	}
	return sql, nil
}

// cause returns the innermost error: Restore adds a sentence for each node that
// the error went through.
func cause(err error) error {
	for {
		outer, ok := err.(interface{ Cause() error })
		if !ok || outer.Cause() == nil || outer.Cause() == err {
			return err
		}
		err = outer.Cause()
	}
}
