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

// breadths are their names.
var breadths = map[string]Breadth{"known": KnownSQL, string(MixedSQL): MixedSQL, string(WideSQL): WideSQL}

// ends are the names of how often sessions end.
var ends = map[string]SessionEnds{"kill": AllEnds, "nokill": NoEnds}

// ParseSQL reads known, mixed or wide, kill or nokill, or one of each with a comma between; an empty
// text says nothing. said tells which of the two the text names.
func ParseSQL(s string) (b Breadth, e SessionEnds, said struct{ Breadth, Ends bool }, err error) {
	if s == "" {
		return b, e, said, nil
	}
	for _, word := range strings.Split(s, ",") {
		if x, ok := breadths[word]; ok && !said.Breadth {
			b, said.Breadth = x, true
		} else if y, ok := ends[word]; ok && !said.Ends {
			e, said.Ends = y, true
		} else {
			return b, e, said, fmt.Errorf("unknown SQL %q: want known, mixed or wide, and perhaps kill or nokill, as in mixed,kill", word)
		}
	}
	return b, e, said, nil
}
