package model

import "github.com/txnfuzz/txnfuzz/oracle/graph"

// Kind is a kind of anomaly, by name.
type Kind string

// Anomalies that single reads or values show.
const (
	G1a               Kind = "G1a"
	G1b               Kind = "G1b"
	Internal          Kind = "internal"
	FutureRead        Kind = "future-read"
	DirtyUpdate       Kind = "dirty-update"
	LostUpdate        Kind = "lost-update"
	OTV               Kind = "OTV"
	IncompatibleOrder Kind = "incompatible-order"
	DuplicateElements Kind = "duplicate-elements"
	Unwritten         Kind = "unwritten-value"
	SetLost           Kind = "lost-element"
	SetDuplicate      Kind = "duplicate-element-of-set"
	WrongTotal        Kind = "wrong-total"
	NegativeBalance   Kind = "negative-balance"
	PredicateMiss     Kind = "predicate-read-miss"
	// Unorderable: whatever order the writes of the keys get, there is a cycle.
	Unorderable Kind = "unorderable-writes"
)

// Cycles of dependencies. Those that need edges of session order or real time
// have -session or -realtime behind their names.
const (
	G0             Kind = "G0"
	G1c            Kind = "G1c"
	GSingleItem    Kind = "G-single-item"
	GSingle        Kind = "G-single"
	GNonadjacentI  Kind = "G-nonadjacent-item"
	GNonadjacent   Kind = "G-nonadjacent"
	G2Item         Kind = "G2-item"
	G2             Kind = "G2"
	sessionSuffix       = "-session"
	realTimeSuffix      = "-realtime"
)

type cycleKind struct {
	kinds graph.Kinds
	// adjacent: two anti-dependencies follow one another.
	adjacent bool
}

// cycleKinds tells which edges a kind of cycle may need.
var cycleKinds = func() map[Kind]cycleKind {
	base := map[Kind]cycleKind{
		G0:            {graph.WW, false},
		G1c:           {graph.WW | graph.AnyWR, false},
		GSingleItem:   {graph.Item | graph.PredicateWR, false},
		GSingle:       {graph.Data, false},
		GNonadjacentI: {graph.Item | graph.PredicateWR, false},
		GNonadjacent:  {graph.Data, false},
		G2Item:        {graph.Item | graph.PredicateWR, true},
		G2:            {graph.Data, true},
	}
	out := map[Kind]cycleKind{}
	for k, c := range base {
		out[k] = c
		out[k+sessionSuffix] = cycleKind{c.kinds | graph.Session, c.adjacent}
		out[k+realTimeSuffix] = cycleKind{c.kinds | graph.Session | graph.RealTime, c.adjacent}
	}
	return out
}()

// Classify names the anomaly that a cycle is.
func Classify(cycle []graph.Edge) Kind {
	var all graph.Kinds
	rw, adjacent := 0, false
	for i, e := range cycle {
		all |= e.Kind
		if e.Kind&graph.AnyRW != 0 {
			rw++
			adjacent = adjacent || len(cycle) > 1 && cycle[(i+1)%len(cycle)].Kind&graph.AnyRW != 0
		}
	}
	k := G0
	if all&graph.ImpliedWW != 0 {
		// In the other order of the two writes the reader of the version before
		// them anti-depends on the second.
		k = GSingleItem
	}
	item := all&graph.PredicateRW == 0
	switch {
	case rw == 0 && k == G0 && all&graph.AnyWR != 0:
		k = G1c
	case rw == 1 && item:
		k = GSingleItem
	case rw == 1:
		k = GSingle
	case rw > 1 && !adjacent && item:
		k = GNonadjacentI
	case rw > 1 && !adjacent:
		k = GNonadjacent
	case rw > 1 && item:
		k = G2Item
	case rw > 1:
		k = G2
	}
	switch {
	case all&graph.RealTime != 0:
		k += realTimeSuffix
	case all&graph.Session != 0:
		k += sessionSuffix
	}
	return k
}

// Meanings says in a few words what each anomaly is.
var Meanings = map[Kind]string{
	G0:                "writes of transactions interleave: a cycle of write dependencies",
	G1a:               "a read of what a transaction wrote that failed",
	G1b:               "a read of what its writer then overwrote itself",
	G1c:               "circular information flow: a cycle of write and read dependencies",
	Internal:          "a transaction contradicts what it read or wrote before itself",
	FutureRead:        "a read of what the transaction itself wrote only later",
	DirtyUpdate:       "a committed write rests on one that failed",
	LostUpdate:        "two transactions read the same version and both replace it",
	OTV:               "observed transaction vanishes: a transaction sees one write of another, and at the same time or later not its other one",
	IncompatibleOrder: "two reads of a list, none of which is the start of the other",
	DuplicateElements: "an element stands twice in a list",
	Unwritten:         "a read of a value that nobody wrote",
	SetLost:           "an acknowledged element is missing for good",
	SetDuplicate:      "an element stands twice in a set",
	WrongTotal:        "the accounts do not add up to the total",
	NegativeBalance:   "an account is below zero",
	PredicateMiss:     "a predicate read misses what was there all the time and always matched",
	Unorderable:       "there is no order of the writes without a cycle",
	GSingleItem:       "read skew: a cycle with one anti-dependency",
	GSingle:           "read skew with a predicate: a cycle with one anti-dependency",
	GNonadjacentI:     "a cycle whose anti-dependencies are never neighbours",
	GNonadjacent:      "a cycle with predicates whose anti-dependencies are never neighbours",
	G2Item:            "write skew: a cycle with neighbouring anti-dependencies",
	G2:                "write skew with a predicate: a cycle with neighbouring anti-dependencies",
}

// Meaning is the entry of Meanings, for the variants by session and time, too.
func Meaning(k Kind) string {
	for _, s := range []struct{ suffix, text string }{{sessionSuffix, ", with the order of a session"}, {realTimeSuffix, ", with the order of real time"}} {
		if n := len(k) - len(s.suffix); n > 0 && string(k[n:]) == s.suffix {
			return Meanings[k[:n]] + s.text
		}
	}
	return Meanings[k]
}
