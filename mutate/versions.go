package mutate

import "github.com/txnfuzz/txnfuzz/corpus"

// versionsOdds is how often, out of 256, a case of PostgreSQL has the server tell the versions of rows: seldom, since a
// query that tells them reads the rows where an index alone would do.
const versionsOdds = 16

// TellingVersions returns a copy of a case in which PostgreSQL tells the versions of rows, or the case itself. The choice
// is that of a generator with the seed.
func TellingVersions(c *corpus.Case, seed uint64) *corpus.Case {
	g := splitMix(^seed)
	if r := random(&g); !r.odds(versionsOdds) {
		return c
	}
	out := *c
	out.SetVersions(true)
	return &out
}
