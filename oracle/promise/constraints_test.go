package promise

import (
	"errors"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestSetConstraints holds SET CONSTRAINTS in a transaction that sees two rows with some values of b against what it has
// to answer.
func TestSetConstraints(t *testing.T) {
	for name, x := range map[string]struct{ constraint, set, one, other, answer, want string }{
		"a key is there twice":           {"UNIQUE (b) DEFERRABLE", "ALL IMMEDIATE", "5", "5", "ok", "missing-error"},
		"and the error says so":          {"UNIQUE (b) DEFERRABLE", "ALL IMMEDIATE", "5", "5", "23505", ""},
		"it is there once":               {"UNIQUE (b) DEFERRABLE INITIALLY DEFERRED", "d IMMEDIATE", "5", "6", "23505", "unexpected-error"},
		"and there is no error":          {"UNIQUE (b) DEFERRABLE INITIALLY DEFERRED", "d IMMEDIATE", "5", "6", "ok", ""},
		"it is checked later":            {"UNIQUE (b) DEFERRABLE", "ALL DEFERRED", "5", "5", "ok", ""},
		"it is not checked, and fails":   {"UNIQUE (b) DEFERRABLE", "ALL DEFERRED", "5", "5", "23505", "unexpected-error"},
		"a key of two columns":           {"UNIQUE (a, b) DEFERRABLE", "ALL IMMEDIATE", "5", "5", "ok", ""},
		"a constraint that is not known": {"EXCLUDE (b WITH =) DEFERRABLE", "ALL IMMEDIATE", "5", "6", "23901", ""},
		"another constraint":             {"UNIQUE (b) DEFERRABLE", "other IMMEDIATE", "5", "5", "ok", ""},
	} {
		c, err := corpus.Parse(name, []byte("-- dialect: postgres\n/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"+
			"/* init */ ALTER TABLE t ADD CONSTRAINT d "+x.constraint+";\n/* tx1 */ BEGIN;\n/* tx1 */ SET CONSTRAINTS "+x.set+";\n"))
		if err != nil {
			t.Fatal(err)
		}
		tables := []history.Table{{Name: "t", Columns: []string{"a", "b"}, Rows: [][]history.Cell{
			{{Text: "1"}, {Text: x.one}}, {{Text: "2"}, {Text: x.other}},
		}}}
		h := &history.History{Initial: tables, Final: tables, Levels: map[int]corpus.Level{1: corpus.ReadCommitted},
			Server: history.Server{DBMS: history.PostgreSQL, Version: "18.0"}, Stmts: []history.Stmt{
				{Session: 1, Submit: 1, Return: 2, Result: history.Result{InTxn: true}},
				{Line: 1, Session: 1, Submit: 3, Return: 4, InTxn: true, Result: history.Result{InTxn: x.answer == "ok"}},
			}}
		if x.answer != "ok" {
			h.Stmts[1].Result.Err = &history.Error{Code: history.NumberOf(x.answer), State: x.answer}
		}
		j := &judge{c: c, h: h, defs: definitions(c, h)}
		if j.layout, err = layoutOf(j.defs, h); err != nil {
			t.Fatal(err)
		}
		if j.t, err = read(c, h); err != nil {
			t.Fatal(err)
		}
		initial, _ := j.layout.read(h.Initial)
		_, err = j.options(j.t.events[1], world{committed: []state{initial}})
		got := ""
		if m := (*mismatch)(nil); errors.As(err, &m) {
			got = m.kind
		} else if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
