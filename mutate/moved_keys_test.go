package mutate

import (
	"regexp"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var (
	rotated = regexp.MustCompile(`(?s)UPDATE t SET (\w+) = 99 WHERE \w+ = (-?\d+);.*UPDATE t SET \w+ = -?\d+ WHERE \w+ = 99;`)
	shifted = regexp.MustCompile(`UPDATE t SET (\w+) = \w+ \+ 1 ORDER BY \w+ DESC`)
)

// Random inputs rotate and shift primary keys, in a case of some hundred.
func TestKeysAreMoved(t *testing.T) {
	rotations, shifts := 0, 0
	const inputs = 4000
	for seed := range uint64(inputs) {
		for _, c := range FromInput(InputOf(seed, InputLen), nil, Options{Levels: corpus.Levels, NumTx: 2, Tables: 1}) {
			text := print(c)
			if rotated.MatchString(text) {
				rotations++
				break
			}
			if shifted.MatchString(text) {
				shifts++
				break
			}
		}
	}
	t.Logf("of %d inputs %d rotate keys, %d shift them", inputs, rotations, shifts)
	if rotations < inputs/400 || shifts < 1 {
		t.Errorf("of %d inputs %d rotate keys, %d shift them", inputs, rotations, shifts)
	}
}
