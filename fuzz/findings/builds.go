package findings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
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
	// Settings are those of the server that decide which rules hold at the levels tried.
	Settings map[string]string `json:"settings,omitempty"`
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
	out := OnBuild{
		Build: t.Name, DBMS: t.Server().DBMS, Version: t.Server().Version, Presence: Untestable, Settings: deciding(t.Server(), levels),
	}
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
			is, said := presence(&r.Verdict, fingerprint, oracle.Kind(kind)), ""
			if is == Absent {
				if said = unread(r.History); said != "" {
					is = Untestable
				}
			}
			if rank(is) > rank(out.Presence) || out.Said == "" {
				target.Explain(ctx, &r)
				out.Presence, out.Said = is, VerdictText(&r.Verdict)
				switch {
				case said != "":
					out.Said = said
				case is == Untestable:
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

// deciding are the settings of a server that decide which rules hold at some levels.
func deciding(s history.Server, levels []corpus.Level) map[string]string {
	out := map[string]string{}
	for _, name := range rules.Settings(s.DBMS, levels, func(*rules.Rule) bool { return true }) {
		if value, ok := s.Settings[name]; ok {
			out[name] = value
		}
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

// newerSQL holds the errors of statements that a version has not learnt yet: MERGE before PostgreSQL 15, say. An answer
// of that kind is right, but then the version has not done what the case is about.
var newerSQL = map[history.DBMS][]string{
	// https://www.postgresql.org/docs/current/errcodes-appendix.html: of syntax, of a feature, of a function
	history.PostgreSQL: {"42601", "0A000", "42883"},
	// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html: the same
	history.MySQL:   {"1064", "1235", "1305"},
	history.MariaDB: {"1064", "1235", "1305"},
	history.TiDB:    {"1064", "1235", "1305"},
}

// unread says which statement the server does not know; "" if it knows all.
func unread(h *history.History) string {
	if h == nil {
		return ""
	}
	for i := range h.Stmts {
		e := h.Stmts[i].Result.Err
		if e == nil {
			continue
		}
		code := strconv.Itoa(int(e.Code))
		if h.Server.DBMS == history.PostgreSQL {
			code = e.State
		}
		if slices.Contains(newerSQL[h.Server.DBMS], code) {
			return fmt.Sprintf("it does not know step %d: error %s (%s)", target.StepNumber(h, i), code, target.OneLine(e.Message))
		}
	}
	return ""
}

// rank orders what several runs show by how much it says.
func rank(p Presence) int { return slices.Index([]Presence{Untestable, Absent, Otherwise, Shows}, p) }
