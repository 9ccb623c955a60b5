package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A server of no known family, whose lock waits the user may not see, is judged
// all the same: waits are taken from its silence, and the history and a warning
// say so.
func TestSilenceIsInTheHistory(t *testing.T) {
	for _, target := range installedTargets(t) {
		if !strings.HasPrefix(target, string(history.MariaDB)) {
			continue // MySQL's version cannot be set
		}
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			testSilence(t, target)
		})
	}
}

func testSilence(t *testing.T, target string) {
	p := start(t, target+",version=8.0.99-Acme")
	must(t, sideOf(t, p), "CREATE USER u@localhost", "GRANT ALL ON `txnfuzz\\_%`.* TO u@localhost")
	var said bytes.Buffer
	b, err := harness.Open(t.Context(), "u@unix("+p.current.socket().path+")/", harness.Options{Progress: &said})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"is no server that the rules know; without --promise it is judged by those of MySQL", "cannot be asked for lock waits"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the warnings lack %q: %s", want, said.String())
		}
	}
	if b.Server().DBMS != history.MySQL {
		t.Errorf("family %q", b.Server().DBMS)
	}
	pool, err := harness.NewPool(t.Context(), b, harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	c, err := corpus.Parse("case", []byte(`
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
/* tx2 */ UPDATE t SET b = b + 10;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
`))
	if err != nil {
		t.Fatal(err)
	}
	h, err := pool.Run(t.Context(), c, harness.At(corpus.ReadCommitted))
	if err != nil || h.End != history.Complete || len(h.Stmts) != 5 {
		t.Fatalf("%+v, %v", h, err)
	}
	w := h.Stmts[2].Waits
	if len(w) != 1 || w[0].Kind != history.Silence || w[0].From < h.Stmts[2].Submit || w[0].Until < h.Stmts[3].Submit {
		t.Errorf("waits %+v", w)
	}
	if v := oracle.CheckAndCount(c, h); v.Outcome != oracle.OK || v.Judged != v.Statements {
		t.Errorf("verdict %+v", v)
	}
}
