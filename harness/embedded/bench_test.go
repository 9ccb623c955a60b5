//go:build !notidb

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// nineteen statements in two sessions that never wait for each other.
const freeCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(20));
/* init */ INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd'), (5, 50, 'e');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE b > 10;
/* tx2 */ SELECT * FROM t WHERE a = 3;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 31 WHERE a = 3;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ INSERT INTO t VALUES (6, 60, 'f');
/* tx2 */ INSERT INTO t VALUES (7, 70, 'g');
/* tx1 */ DELETE FROM t WHERE a = 2;
/* tx2 */ DELETE FROM t WHERE a = 4;
/* tx1 */ SELECT * FROM t WHERE c = 'a' FOR UPDATE;
/* tx2 */ SELECT b FROM t WHERE a = 5;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c = 'x' WHERE a = 5;
/* tx2 */ SELECT * FROM t WHERE a = 5;
/* tx2 */ COMMIT;
`

// blockedCase has two waits.
const blockedCase = `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`

func parse(tb testing.TB, text string) *corpus.Case {
	tb.Helper()
	c, err := corpus.Parse(tb.Name(), []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func benchmark(b *testing.B, workers int, text string, run func(p *harness.Pool, c *corpus.Case) error) {
	p := newPool(b, harness.PoolOptions{Workers: workers})
	c := parse(b, text)
	b.ResetTimer()
	b.SetParallelism(workers)
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := run(p, c); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(start).Minutes(), "cases/min")
	st := p.Stats()
	b.ReportMetric(float64(st.Asks)/float64(max(st.Statements, 1)), "asks/stmt")
	if st.WaitsTimed > 0 {
		b.ReportMetric(float64(st.WaitKnown.Microseconds())/float64(st.WaitsTimed), "µs/wait-known")
	}
}

func BenchmarkRun(b *testing.B) {
	for _, bc := range []struct{ name, text string }{{"free", freeCase}, {"blocked", blockedCase}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", bc.name, workers), func(b *testing.B) {
				benchmark(b, workers, bc.text, func(p *harness.Pool, c *corpus.Case) error {
					_, err := p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
					return err
				})
			})
		}
		b.Run(bc.name+"/recorded", func(b *testing.B) {
			var rec *history.History
			benchmark(b, 1, bc.text, func(p *harness.Pool, c *corpus.Case) (err error) {
				if rec == nil {
					rec, err = p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
					return err
				}
				_, err = p.RunRecorded(context.Background(), c, rec)
				if errors.Is(err, harness.ErrDiverged) {
					return nil
				}
				return err
			})
		})
	}
}

// BenchmarkMemory shows what a long run does to the process; run it with
// -benchtime=20000x.
func BenchmarkMemory(b *testing.B) {
	before := rss(b)
	benchmark(b, 2, freeCase, func(p *harness.Pool, c *corpus.Case) error {
		_, err := p.Run(context.Background(), c, harness.At(corpus.RepeatableRead))
		return err
	})
	b.ReportMetric(before, "MB-before")
	b.ReportMetric(rss(b), "MB-after")
}

func rss(tb testing.TB) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	for _, l := range strings.Split(string(status), "\n") {
		var kb float64
		if n, _ := fmt.Sscanf(l, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	tb.Fatal("no VmRSS in /proc/self/status")
	return 0
}
