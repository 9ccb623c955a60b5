package commute

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// inOrder is the history of a case that ran as it is written, each SELECT with one row.
func inOrder(c *corpus.Case, l corpus.Level) *history.History {
	h := &history.History{Server: history.Server{DBMS: history.MariaDB}, Levels: map[int]corpus.Level{}}
	in := map[int]bool{}
	for i := range c.Steps {
		n := c.Steps[i].Session
		st := history.Stmt{Line: i, Session: n, Submit: history.Tick(2*i + 1), Return: history.Tick(2*i + 2), InTxn: in[n]}
		switch c.Steps[i].Stmt.(type) {
		case *ast.BeginStmt:
			in[n] = true
		case *ast.CommitStmt:
			in[n] = false
		case *ast.SelectStmt:
			st.Result.Columns, st.Result.Rows = []string{"a"}, [][]history.Cell{{{Text: "1"}}}
		}
		st.Result.InTxn = in[n]
		h.Stmts = append(h.Stmts, st)
		h.Levels[n] = l
	}
	return h
}

// TestSwaps says of small cases which of their steps may be swapped with the next one,
// counted from 1.
func TestSwaps(t *testing.T) {
	const tables = "CREATE TABLE t (a INT PRIMARY KEY);CREATE TABLE u (a INT PRIMARY KEY);CREATE TABLE n (a INT)"
	both := "1 BEGIN;2 BEGIN;1 SELECT a FROM t;2 SELECT a FROM u;"
	for _, x := range []struct {
		name  string
		level corpus.Level
		init  string
		steps string
		want  string
	}{
		{"no table in common", corpus.ReadCommitted, tables, "1 BEGIN;2 BEGIN;1 UPDATE t SET a = 2;2 UPDATE u SET a = 3", "3"},
		{"a table in common", corpus.ReadCommitted, tables, "1 BEGIN;2 BEGIN;1 UPDATE t SET a = 2;2 UPDATE t SET a = 3", ""},
		{"a subquery's table counts", corpus.ReadCommitted, tables, "1 BEGIN;2 BEGIN;1 UPDATE t SET a = 2;2 UPDATE u SET a = (SELECT MAX(a) FROM t)", ""},
		{"a foreign key", corpus.ReadCommitted, "CREATE TABLE t (a INT PRIMARY KEY);CREATE TABLE u (a INT, FOREIGN KEY (a) REFERENCES t (a))", "1 BEGIN;2 BEGIN;1 UPDATE t SET a = 2;2 UPDATE u SET a = 3", ""},
		{"a write that commits by itself", corpus.ReadCommitted, tables, "1 BEGIN;1 UPDATE t SET a = 2;2 UPDATE u SET a = 3", ""},
		{"an INSERT that numbers its row", corpus.ReadCommitted, tables, "1 BEGIN;2 BEGIN;1 INSERT INTO n VALUES (1);2 UPDATE u SET a = 3", ""},
		{"chance", corpus.ReadCommitted, tables, "1 BEGIN;2 BEGIN;1 UPDATE t SET a = RAND();2 UPDATE u SET a = 3", ""},
		{"the first read", corpus.RepeatableRead, tables, "1 BEGIN;2 BEGIN;1 SELECT a FROM t;2 SELECT a FROM u", ""},
		{"behind the first reads", corpus.RepeatableRead, tables, both + "1 UPDATE t SET a = 2;2 UPDATE u SET a = 3", "5"},
		{"a read of an open snapshot and a write", corpus.RepeatableRead, tables, both + "1 SELECT a FROM t;2 UPDATE t SET a = 3", "4 5"},
		{"a locking read is none", corpus.RepeatableRead, tables, both + "1 SELECT a FROM t FOR UPDATE;2 UPDATE t SET a = 3", ""},
		{"an aggregate opens nothing", corpus.RepeatableRead, tables, "1 BEGIN;2 BEGIN;1 SELECT MAX(a) FROM t;2 SELECT a FROM u;1 SELECT a FROM t;2 UPDATE t SET a = 3", ""},
		{"COMMIT", corpus.RepeatableRead, tables, both + "1 SELECT a FROM t;2 COMMIT", "4"},
		{"SERIALIZABLE", corpus.Serializable, tables, both + "1 SELECT a FROM t;2 SELECT a FROM u", ""},
	} {
		var text strings.Builder
		for _, sql := range strings.Split(x.init, ";") {
			fmt.Fprintf(&text, "/* init */ %s;\n", sql)
		}
		for _, step := range strings.Split(x.steps, ";") {
			n, sql, _ := strings.Cut(step, " ")
			fmt.Fprintf(&text, "/* tx%s */ %s;\n", n, sql)
		}
		c, err := corpus.Parse("case.sql", []byte(text.String()))
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		var got []string
		for _, s := range Swaps(c, inOrder(c, x.level)) {
			got = append(got, fmt.Sprint(s.At+1))
		}
		if g := strings.Join(got, " "); g != x.want {
			t.Errorf("%s: %q may be swapped, want %q\n%s", x.name, g, x.want, text.String())
		}
	}
}
