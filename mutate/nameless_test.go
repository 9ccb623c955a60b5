package mutate

import (
	"regexp"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestNameless: behind a replica a fair share of the tables has no key that names the rows, or rows in the opposite order,
// or has all keys shifted; elsewhere the same inputs make what they have always made.
func TestNameless(t *testing.T) {
	named := regexp.MustCompile(`PRIMARY KEY|NOT NULL[^,]* UNIQUE`)
	shift := regexp.MustCompile(`UPDATE t SET (\w+) = (\w+) [+-] 1;`)
	count := map[bool][3]int{}
	const inputs = 2000
	for seed := range uint64(inputs) {
		for _, behind := range []bool{false, true} {
			c := FromInput(InputOf(seed, InputLen), nil, Options{Levels: corpus.Levels, Replicated: behind})[0]
			n := count[behind]
			if !named.MatchString(print(c)) {
				n[0]++
			}
			if m := shift.FindStringSubmatch(print(c)); m != nil && m[1] == m[2] {
				n[1]++
				if !named.MatchString(print(c)) {
					n[2]++
				}
			}
			count[behind] = n
		}
	}
	t.Logf("%v", count)
	if n, elsewhere := count[true], count[false]; n[0] < inputs/3 || n[1] < inputs/8 || n[2] < inputs/16 || elsewhere[1] > inputs/100 {
		t.Errorf("nameless, shifted, both: %v, and without a replica %v", n, elsewhere)
	}
}
