//go:build !notidb

package embedded_test

import (
	"fmt"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

func TestExplore(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	c := parse(t, `/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT, u INT, s INT, UNIQUE KEY (u), KEY (s));
/* init */ INSERT INTO t VALUES (1, 1, 10, 1), (2, 2, 20, 2);
/* tx1 */ SELECT k, v FROM t ORDER BY k;
/* tx1 */ SELECT k, v FROM t WHERE k = 1;
/* tx1 */ SELECT k, v FROM t WHERE s = 1;
/* tx1 */ SELECT k, v FROM t WHERE u = 10;
/* tx1 */ UPDATE t SET v = 5 WHERE k = 1;
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ SELECT k, v FROM t ORDER BY k;
/* tx1 */ SELECT k, v FROM t WHERE k = 1 FOR UPDATE;
/* tx1 */ UPDATE t SET v = v+1, s=1;
/* tx1 */ INSERT INTO t VALUES (3, 3, 30, 1);
/* tx1 */ INSERT INTO t VALUES (3, 3, 30, 1) ON DUPLICATE KEY UPDATE v=7;
/* tx1 */ DELETE FROM t WHERE s = 2;
/* tx1 */ COMMIT;
/* tx1 */ REPLACE INTO t VALUES (3, 3, 30, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = v+1, s=1;
/* tx1 */ ROLLBACK;
`)
	for _, level := range []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead} {
		for i, l := range c.Steps {
			_, trail, err := p.RunTraced(t.Context(), c, harness.At(level), i, 1000)
			if err != nil {
				t.Fatal(err)
			}
			s := ""
			for i := range trail.Len() {
				s += fmt.Sprintf(" %s#%d", trail.At(i).Where()[6:], trail.At(i).Hit)
			}
			t.Logf("%s %s:%s", level.Short(), corpus.SQL(l.Stmt, corpus.Text), s)
		}
	}
}

func TestLoop(t *testing.T) {
	p := newPool(t, harness.PoolOptions{})
	c := parse(t, `-- hold: tx1 1 at store PessimisticLock hit 1

/* init */ CREATE TABLE p (id INT PRIMARY KEY, k INT, UNIQUE(k));
/* init */ CREATE TABLE c (id INT PRIMARY KEY, pk INT, INDEX(pk), CONSTRAINT FOREIGN KEY (pk) REFERENCES p(k) ON UPDATE CASCADE);
/* init */ INSERT INTO p VALUES (1, 1), (2, 2);
/* init */ INSERT INTO c VALUES (1, 1);
/* tx1 */ UPDATE p SET k = 11 WHERE id = 1;
/* tx2 */ INSERT INTO c VALUES (2, 1);
`)
	for range 30 {
		h, err := p.Run(t.Context(), c, harness.At(corpus.RepeatableRead))
		if err != nil {
			t.Fatal(err)
		}
		println(format(c, h))
	}
}
