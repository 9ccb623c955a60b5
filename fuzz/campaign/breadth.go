package campaign

import "fmt"

// Breadth says how much SQL of a campaign's cases only the server can compute: see
// package mutate, and letServerCompute for what such a case costs.
type Breadth string

// KnownSQL is computed by the oracle alone, which is fastest. MixedSQL has a case in some
// two hundred with a statement that is not. WideSQL has one in three.
const (
	KnownSQL Breadth = ""
	MixedSQL Breadth = "mixed"
	WideSQL  Breadth = "wide"
)

// computedOdds are Computed of mutate.Options.
var computedOdds = map[Breadth]int{KnownSQL: 0, MixedSQL: 4, WideSQL: 256}

// ParseBreadth reads known, mixed or wide.
func ParseBreadth(s string) (Breadth, error) {
	switch b := Breadth(s); {
	case s == "known":
		return KnownSQL, nil
	case b == MixedSQL, b == WideSQL:
		return b, nil
	}
	return "", fmt.Errorf("unknown breadth of SQL %q: want known, mixed or wide", s)
}
