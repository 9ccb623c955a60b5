package mutate

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestSiblings: all siblings of a seed are different inputs with one schema lane.
func TestSiblings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		first := WideInput(Sibling(seed, 0), 4)
		for i := 1; i < Siblings; i++ {
			other := WideInput(Sibling(seed, i), 4)
			for l := range numLanes {
				if same := bytes.Equal(laneOf(first, l), laneOf(other, l)); same != (l == SchemaLane) {
					t.Fatalf("lane %d of sibling %d is that of the first: %v", l, i, same)
				}
			}
		}
		first = InputOf(Sibling(seed, 0), InputLen)
		for at := range InputLen {
			before := laneOf(first, SchemaLane)
			changed := bytes.Clone(first)
			changed[at]++
			if got := !bytes.Equal(laneOf(changed, SchemaLane), before); got != InSchemaLane(at) {
				t.Fatalf("byte %d is one of the schema lane: %v", at, got)
			}
		}
	})
}
