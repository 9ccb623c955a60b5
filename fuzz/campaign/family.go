package campaign

import (
	"bytes"
	"math/rand/v2"

	"github.com/txnfuzz/txnfuzz/mutate"
)

// Making tables costs up to ten times what a case on them costs, so inputs come in
// families over the same tables: all that decides on the schema is kept, and all else
// is new. docs/speed.md tells how the sizes were chosen.

// familySize is how many consecutive inputs of a worker, made afresh, share their
// tables; at most mutate.Siblings.
const familySize = 16

// litterSize is how many inputs in a row a guide makes for a worker in the same way.
// If they are changes of a kept input, it is the same input for all of them.
const litterSize = 8

// freshSeed is the seed of the n-th input of a worker, if that is made afresh.
func freshSeed(seed uint64, worker, n int) uint64 {
	return mutate.Sibling(inputSeed(seed, worker, n/familySize), n%familySize)
}

// mayPair says whether the n-th input may have two tables, which is one question for
// a whole family.
func mayPair(n int) bool { return n/familySize%5 == 4 }

// litter is how a worker's inputs are made for a while.
type litter struct {
	begun  bool
	what   int    // below 16; see afresh
	parent *entry // nil: none
}

// keepSchemaOdds, out of 4, is how often a change of an input's bytes leaves the
// schema as it is.
const keepSchemaOdds = 3

// keepSchema mostly puts the schema lane of a changed input back as it was, unless
// nothing else has changed.
func keepSchema(r *rand.Rand, changed, data []byte) {
	if r.IntN(4) >= keepSchemaOdds {
		return
	}
	kept := bytes.Clone(changed)
	for at := range kept {
		if mutate.InSchemaLane(at) {
			kept[at] = data[at]
		}
	}
	if !bytes.Equal(kept, data) {
		copy(changed, kept)
	}
}
