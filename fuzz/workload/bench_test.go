package workload

import (
	"fmt"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// BenchmarkRun tells what a run of each example takes, and where the time goes.
func BenchmarkRun(b *testing.B) {
	for _, target := range installed(b, "mariadb:11.8") {
		for _, name := range []string{"bank", "tpcc"} {
			b.Run(name+" "+target, func(b *testing.B) {
				w := load(b, name)
				pool := open(b, target)
				stage := NewStage(w, pool)
				sets := mutate.Sets(w, 2)
				statements, seed := 0, uint64(0)
				for b.Loop() {
					in := mutate.Make(w, sets, bytesOf(seed))
					seed++
					o, err := stage.Run(b.Context(), in, corpus.RepeatableRead)
					if err != nil {
						b.Fatal(err)
					}
					statements += len(o.Case.Steps)
				}
				b.ReportMetric(float64(statements)/float64(b.N), "statements/op")
				b.Log(fmt.Sprint(pool.Stats().Phases))
			})
		}
	}
}
