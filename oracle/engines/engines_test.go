package engines

import (
	"errors"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// A server without rows in the table must not be judged by the rules of another one.
func TestUnknownServer(t *testing.T) {
	c, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{Server: history.Server{DBMS: "oracle"}, Stmts: []history.Stmt{{Session: 1, Submit: 1, Return: 2}}}
	d, err := New(c, h, rules.For(h.Server), false).Run()
	var loss *mvcc.Loss
	if d != nil || !errors.As(err, &loss) {
		t.Errorf("difference %v, error %v; want a loss", d, err)
	}
}
