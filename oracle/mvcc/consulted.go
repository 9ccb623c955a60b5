package mvcc

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// RulesAt returns the rules of a level. A replay has no other way to its profile, so
// that no look at it goes unnoticed.
func (r *Replay) RulesAt(l corpus.Level) versions.Ruleset {
	return versions.Ruleset{Set: r.Profile.At(l), Consulted: &r.Consulted[l]}
}
