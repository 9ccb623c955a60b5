package server

import (
	"syscall"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// Fifteen statements of two sessions that never wait for each other, and six of which one
// waits: the first tells what sending and reading cost, the second what waits add.
var benchCases = []struct{ name, text string }{
	{"free", `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(20));
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
/* tx1 */ DELETE FROM t WHERE a = 2;
/* tx2 */ SELECT b FROM t WHERE a = 5;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c = 'x' WHERE a = 5;
/* tx2 */ COMMIT;
`},
	{"blocked", `/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`},
}

// BenchmarkRun is one case, from its set-up to its final state. processor-µs/op is what this
// process computes for it, without the server: where other work runs beside it, that tells
// two versions of the harness apart and the time does not.
func BenchmarkRun(b *testing.B) {
	eachServerB(b, func(b *testing.B, target string) {
		pool, err := harness.NewPool(b.Context(), start(b, target), harness.PoolOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer pool.Leave()
		for _, bc := range benchCases {
			b.Run(bc.name, func(b *testing.B) {
				c, err := corpus.Parse(bc.name, []byte(bc.text))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				before := processorMicros(b)
				for b.Loop() {
					if _, err := pool.Run(b.Context(), c, harness.At(corpus.RepeatableRead)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(processorMicros(b)-before)/float64(b.N), "processor-µs/op")
			})
		}
	})
}

// processorMicros is the time that this process has used, in microseconds.
func processorMicros(b *testing.B) int64 {
	b.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	return (own.Utime.Nano() + own.Stime.Nano()) / 1000
}
