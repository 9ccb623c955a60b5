package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

const (
	adya     = "https://pmg.csail.mit.edu/papers/adya-phd.pdf"
	critique = "https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/"
)

// declared holds the promises that a user may declare of a server that the table does not know, by
// the names that he gives them.
var declared = map[string]Promise{
	"S": {Serial: true, Link: adya,
		Says: "the committed transactions give what they give one after the other in some order"},
	"SI": {Plain: Snapshot, Isolated: true, Link: critique,
		Says: "a transaction works on the snapshot of its beginning and its own writes, " +
			"and of two that overlap in time and write the same row one fails"},
	"SI-merged": {Plain: Snapshot, Isolated: true, Merged: true, Link: critique,
		Says: "a transaction works on the snapshot of its beginning and its own writes; of two that overlap in time and give " +
			"the same column of a row other values one fails, and what else they write of a row is merged"},
	"snapshot": {Plain: Snapshot, Link: mysqlConsistent,
		Says: "plain SELECTs see the snapshot of their transaction, writes and locking reads the newest committed rows"},
	"statement": {Plain: Statement, Link: mysqlConsistent,
		Says: "each statement sees what was committed when it began"},
	"uncommitted": {Plain: Uncommitted, Link: mysqlLevels,
		Says: "a plain SELECT sees the newest version of each row, committed or not"},
}

// Names returns the names of the promises that can be declared.
func Names() []string { return slices.Sorted(maps.Keys(declared)) }

// ParseDeclared reads what a user declares, as in "RR=SI,SER=S".
func ParseDeclared(text string) (map[corpus.Level]string, error) {
	out := map[corpus.Level]string{}
	for part := range strings.SplitSeq(text, ",") {
		level, name, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, fmt.Errorf("want LEVEL=PROMISE, as in RR=SI, found %q", part)
		}
		l, err := corpus.ParseLevel(level)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		if _, ok := declared[name]; !ok {
			return nil, fmt.Errorf("%q: no promise is called %q; there are %s", part, name, strings.Join(Names(), ", "))
		}
		if _, twice := out[l]; twice {
			return nil, fmt.Errorf("%q: the level has a promise already", part)
		}
		out[l] = name
	}
	return out, nil
}

// Text prints what was declared as ParseDeclared reads it, weaker levels first.
func Text(levels map[corpus.Level]string) string {
	var out []string
	for _, l := range slices.Sorted(maps.Keys(levels)) {
		out = append(out, l.Short()+"="+levels[l])
	}
	return strings.Join(out, ",")
}
