package mutate

import (
	"fmt"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

func TestWeaveLook(t *testing.T) {
	for seed := range uint64(12) {
		for _, n := range []int{2, 3} {
			in := InputOf(seed*977, InputLen)
			if n > 2 {
				in = WideInput(seed*977, n)
			}
			c := Generate(NewBytes(in), Options{Conflict: Pattern})
			fmt.Println(string(corpus.Print(c, corpus.Text)))
		}
	}
}
