package campaign

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// ByLevel holds the cases of each level, by the level's short name; those whose
// sessions ran at several levels are under LevelsMixed.
type ByLevel map[string]*LevelCounts

// LevelsMixed stands for the levels of a case whose sessions do not all run at
// the same one.
const LevelsMixed = "mixed"

// LevelCounts is what was seen at one level.
type LevelCounts struct {
	Cases int `json:"cases"`
	// Known counts cases by rule, Violations by fingerprint.
	Known      map[string]int `json:"known,omitempty"`
	Violations map[string]int `json:"violations,omitempty"`
}

func (b ByLevel) at(level string) *LevelCounts {
	c := b[level]
	if c == nil {
		c = &LevelCounts{}
		b[level] = c
	}
	if c.Known == nil {
		c.Known = map[string]int{}
	}
	if c.Violations == nil {
		c.Violations = map[string]int{}
	}
	return c
}

func (b ByLevel) add(r *target.Trial) {
	level := target.LevelName(r.Levels)
	if strings.Contains(level, "=") {
		level = LevelsMixed
	}
	c := b.at(level)
	c.Cases++
	switch r.Verdict.Outcome {
	case oracle.Known:
		for _, name := range r.Verdict.Rules {
			c.Known[name]++
		}
	case oracle.Violation:
		c.Violations[r.Verdict.Fingerprint]++
	}
}

// Merge adds the counts of another run.
func (b ByLevel) Merge(other ByLevel) {
	for level, o := range other {
		c := b.at(level)
		c.Cases += o.Cases
		addTo(c.Known, o.Known)
		addTo(c.Violations, o.Violations)
	}
}

func (b ByLevel) clone() ByLevel {
	out := ByLevel{}
	out.Merge(b)
	return out
}
