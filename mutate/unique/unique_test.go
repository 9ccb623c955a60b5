package unique

import (
	"errors"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/answers"
)

// TestGenerated: nearly every generated case can have unique values, is left as it was, and
// is the same if it is given them again.
func TestGenerated(t *testing.T) {
	const cases = 500
	refused := map[string]int{}
	for n := range uint64(cases) {
		c := mutate.Generate(mutate.NewBytes(mutate.InputOf(n, mutate.InputLen)), mutate.Options{Tables: 1 + int(n%2)})
		before := c.Clone()
		u, err := Case(c)
		if !c.Equal(before) {
			t.Fatalf("case %d was changed", n)
		}
		var no Refusal
		if errors.As(err, &no) {
			refused[string(no)]++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !answers.Unique(u) {
			t.Fatalf("not unique:\n%s", corpus.Print(u, corpus.Text))
		}
		again, err := Case(u)
		if err != nil || !again.Equal(u) {
			t.Fatalf("%v: other values the second time:\n%s\n%s", err, corpus.Print(u, corpus.Text), corpus.Print(again, corpus.Text))
		}
	}
	total := 0
	for _, n := range refused {
		total += n
	}
	if total*10 > cases {
		t.Errorf("%d of %d cases are refused: %v", total, cases, refused)
	}
}

// TestAgain: statements that were changed since get numbers that are unique again.
func TestAgain(t *testing.T) {
	const text = `/* init */ CREATE TABLE t (a INT, id INT, v INT);
/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 1, 9);
/* tx1 */ UPDATE t SET a = 3, v = 1;
/* tx1 */ UPDATE t SET a = 3, v = 1, a = 4;
/* tx1 */ INSERT INTO t (a, id, v) VALUES (5, 1, 1);
/* tx1 */ INSERT INTO t (a) VALUES (6);
/* tx1 */ SELECT a, id FROM t;
/* tx1 */ SELECT a FROM t;
/* tx1 */ SELECT COUNT(1) FROM t;
/* tx1 */ SELECT DISTINCT a FROM t;
`
	const want = `/* init */ CREATE TABLE t (a INT, id INT, v INT);
/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 2, 1);
/* tx1 */ UPDATE t SET a = 3, v = 2;
/* tx1 */ UPDATE t SET a = 3, a = 4, v = 3;
/* tx1 */ INSERT INTO t (a, id, v) VALUES (5, 3, 4);
/* tx1 */ INSERT INTO t (a, id, v) VALUES (6, 4, 5);
/* tx1 */ SELECT a, id, v FROM t;
/* tx1 */ SELECT a, id, v FROM t;
/* tx1 */ SELECT COUNT(1) FROM t;
/* tx1 */ SELECT DISTINCT a FROM t;
`
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u, err := Case(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(corpus.Print(u, corpus.Text)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRefused lists what cannot have unique values.
func TestRefused(t *testing.T) {
	for text, want := range map[string]Refusal{
		"/* init */ CREATE TABLE u (id INT, b INT);":                                     "a table has a column id of its own",
		"/* init */ CREATE TABLE u LIKE t;":                                              "a table is made of another",
		"/* init */ CREATE VIEW w AS SELECT * FROM t;":                                   "the set-up is more than tables and rows",
		"/* tx1 */ INSERT INTO t SELECT a FROM t;":                                       "an INSERT that is not of VALUES",
		"/* tx1 */ INSERT INTO t VALUES ();":                                             "an INSERT of a row that has not a value for each column",
		"/* init */ CREATE TABLE u (b INT);\n/* tx1 */ UPDATE t, u SET t.a = 1;":         "an UPDATE of several tables",
		"/* init */ CREATE TABLE u (b INT);\n/* tx1 */ DELETE t FROM t JOIN u ON a = b;": "a DELETE from several tables",
	} {
		c, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT);\n"+text+"\n/* tx1 */ COMMIT;\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Case(c); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
