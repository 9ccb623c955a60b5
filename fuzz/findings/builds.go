package findings

import (
	"context"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Presence is what a build of a server does with a finding.
type Presence string

const (
	Shows  Presence = "shows"
	Absent Presence = "absent"
	// Otherwise: it is wrong in another way, by the fingerprint.
	Otherwise Presence = "shows otherwise"
	// Untestable: the case cannot be run there, or there is no verdict.
	Untestable Presence = "not testable"
)

// OnBuild is what became of a finding on one build.
type OnBuild struct {
	Build    string       `json:"build"`
	DBMS     history.DBMS `json:"dbms"`
	Version  string       `json:"server_version"`
	Presence Presence     `json:"presence"`
	// Runs counts those until it showed, or until the chance that it was merely missed was below one in a hundred.
	Runs int `json:"runs"`
	// Said is the verdict, or why there is none.
	Said string `json:"said"`
	// Branch, Turn and After are those of SortBuilds: the finding "comes" or "goes" between the build After and this one.
	Branch string `json:"branch,omitempty"`
	Turn   Turn   `json:"turn,omitempty"`
	After  string `json:"after,omitempty"`
}

// TryOn runs a case on a build, at the levels of its header, else at each of those given, until it shows what its header
// tells: the violation or deviation of its fingerprint or its kind, or any if it has none. It costs a run for each level,
// or as many as a finding needs that shows in some runs only.
func TryOn(ctx context.Context, t *target.Target, c *corpus.Case, levels []corpus.Level) OnBuild {
	if SetsLevels(c) {
		levels = levels[:1]
	}
	out := OnBuild{Build: t.Name, DBMS: t.Server().DBMS, Version: t.Server().Version, Presence: Untestable}
	fingerprint, _ := c.Get(KeyFingerprint)
	kind, _ := c.Get(keyKind)
	most := rateIn(c, keyReproduced).runsToMiss()
	for range most {
		for _, l := range levels {
			at := target.LevelsFor(c, l)
			if _, missing := t.Missing(at); missing || ctx.Err() != nil {
				continue
			}
			r := t.JudgeFresh(ctx, c, at)
			out.Runs++
			is := presence(&r.Verdict, fingerprint, oracle.Kind(kind))
			if rank(is) > rank(out.Presence) || out.Said == "" {
				target.Explain(ctx, &r)
				out.Presence, out.Said = is, VerdictText(&r.Verdict)
				if is == Untestable {
					out.Said = strings.TrimSpace(out.Said + " " + r.Verdict.Actual)
				}
			}
			if is == Shows {
				return out
			}
		}
	}
	if out.Said == "" {
		out.Said = "it has none of the levels"
	}
	return out
}

// presence is what a verdict says of a finding with a fingerprint and a kind, each "" if its header names none. A
// fingerprint that an older version of txnfuzz has written may be spelled otherwise.
func presence(v *oracle.Verdict, fingerprint string, kind oracle.Kind) Presence {
	switch {
	case v.Outcome == oracle.Unknown:
		return Untestable
	case v.Outcome == oracle.OK:
		return Absent
	case fingerprint == "" && kind == "", fingerprint != "" && v.Fingerprint == fingerprint, kind != "" && v.Kind == kind:
		return Shows
	}
	return Otherwise
}

// rank orders what several runs show by how much it says.
func rank(p Presence) int { return slices.Index([]Presence{Untestable, Absent, Otherwise, Shows}, p) }
