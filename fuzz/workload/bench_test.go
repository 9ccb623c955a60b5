package workload

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// BenchmarkRun tells what a run of each example takes, and where the time goes.
func BenchmarkRun(b *testing.B) {
	for _, target := range installed(b, "mariadb:11.8", "mysql:9.7") {
		for _, w := range []*workload.Workload{load(b, "bank"), load(b, "tpcc"), large(b, false), large(b, true)} {
			b.Run(filepath.Base(w.File)+" "+target, func(b *testing.B) {
				pool := open(b, target)
				stage := NewStage(w, pool)
				sets := mutate.Sets(w, 2)
				statements, seed := 0, uint64(0)
				var in *mutate.Input
				for b.Loop() {
					// As a campaign does: one state, in several orders.
					if in == nil || seed%(4*orders) == 0 {
						in = mutate.Make(w, sets, bytesOf(seed))
					} else {
						in = in.Reorder(bytesOf(seed))
					}
					seed++
					o, err := stage.Run(b.Context(), in, corpus.RepeatableRead)
					if err != nil {
						b.Fatal(err)
					}
					statements += len(o.Case.Steps)
				}
				b.ReportMetric(float64(statements)/float64(b.N), "statements/op")
				for p, d := range pool.Stats().Phases {
					b.ReportMetric(float64(d.Microseconds())/float64(b.N), harness.Phase(p).String()+"-µs/op")
				}
			})
		}
	}
}

// large is a workload of 20 tables and 10 transactions, with foreign keys or without.
func large(t testing.TB, keyed bool) *workload.Workload {
	var b strings.Builder
	b.WriteString("/* schema */\n")
	for i := range 20 {
		foreign := ""
		if keyed && i%4 > 0 {
			foreign = fmt.Sprintf(", FOREIGN KEY (p) REFERENCES t%d (id)", i-1)
		}
		fmt.Fprintf(&b, "CREATE TABLE t%d (id INT PRIMARY KEY, v INT NOT NULL CHECK (v > -100000), w INT, p INT NOT NULL, KEY (w)%s);\n", i, foreign)
	}
	for i := range 10 {
		fmt.Fprintf(&b, "/* transaction x%d (:k t%d.id, :n INT 1..9) */\n", i, 2*i)
		fmt.Fprintf(&b, "SELECT v FROM t%d WHERE id = :k INTO :x; SELECT w FROM t%d WHERE id = :k INTO :y;\n", 2*i, 2*i+1)
		fmt.Fprintf(&b, "UPDATE t%d SET v = :x + :n WHERE id = :k; UPDATE t%d SET w = w + 1 WHERE id = :k; UPDATE t0 SET w = 1 WHERE id = :k;\n", 2*i, (2*i+2)%20)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "/* invariant i%d */ SELECT id FROM t%d WHERE v < -1000;\n", i, i)
	}
	name := "large"
	if keyed {
		name = "large with foreign keys"
	}
	w, err := workload.Parse(name, []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}
