package findings

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// reruns is how often a finding is run again to see how surely it shows.
const reruns = 10

// Rate is in how many of ten runs a finding showed again, each in a new
// database. In JSON Unconfirmed is null.
type Rate int

// Unconfirmed is the Rate of what has not been run again.
const Unconfirmed Rate = -1

func (r Rate) String() string {
	if r < 0 {
		return unconfirmed
	}
	return strconv.Itoa(int(r)) + "/" + strconv.Itoa(reruns)
}

const unconfirmed = "unconfirmed"

// MarshalJSON writes a number or null.
func (r Rate) MarshalJSON() ([]byte, error) {
	if r < 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int(r))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Rate) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*r = Unconfirmed
		return nil
	}
	var n int
	if err := json.Unmarshal(text, &n); err != nil {
		return fmt.Errorf("rate of a finding: %w", err)
	}
	*r = Rate(n)
	return nil
}

// rateIn reads a rate off the header of a case.
func rateIn(c *corpus.Case, key string) Rate {
	text, _ := c.Get(key)
	k, _, _ := strings.Cut(text, "/")
	if n, err := strconv.Atoi(k); err == nil && n >= 0 && n <= reruns {
		return Rate(n)
	}
	return Unconfirmed
}

// missedOnce is the chance at which a finding that still shows may be told not
// to.
const missedOnce = 0.01

// runsToMiss is how many runs in a row must not show a finding before it counts as
// one that does not show: the chance that such a finding still shows is then below
// one in a hundred. Ten of ten runs do not prove that it always shows. By Laplace's
// rule of succession the next run shows it with a chance of 11/12, so two runs must
// miss it.
func (r Rate) runsToMiss() int {
	switch {
	case r >= reruns:
		return 2
	case r <= 0:
		return 1 // never shown again, or not known: nothing to wait for
	}
	miss := 1 - float64(r)/reruns
	n := 1
	for math.Pow(miss, float64(n)) >= missedOnce {
		n++
	}
	return n
}
