package campaign

import (
	"fmt"
	"strings"
)

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

// The words of ParseSQL.
var (
	breadths    = map[string]Breadth{"known": KnownSQL, string(MixedSQL): MixedSQL, string(WideSQL): WideSQL}
	ends        = map[string]Share{"kill": All, "nokill": None}
	constraints = map[string]Share{"constraints": All, "noconstraints": None}
)

// SQL is what the words of ParseSQL say of the cases of a campaign; nil: nothing.
type SQL struct {
	Breadth     *Breadth
	Ends        *Share
	Constraints *Share
}

// ParseSQL reads known, mixed or wide, kill or nokill, constraints or noconstraints, or one of each with a
// comma between; an empty text says nothing.
func ParseSQL(s string) (said SQL, err error) {
	if s == "" {
		return said, nil
	}
	for _, word := range strings.Split(s, ",") {
		b, isBreadth := breadths[word]
		e, isEnds := ends[word]
		k, isConstraints := constraints[word]
		switch {
		case isBreadth && said.Breadth == nil:
			said.Breadth = &b
		case isEnds && said.Ends == nil:
			said.Ends = &e
		case isConstraints && said.Constraints == nil:
			said.Constraints = &k
		default:
			return said, fmt.Errorf("unknown SQL %q: want known, mixed or wide, and perhaps kill or nokill, constraints or noconstraints, as in mixed,kill", word)
		}
	}
	return said, nil
}
