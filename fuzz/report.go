package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Report is what a campaign came to. Its JSON keys are part of the command
// line's contract.
type Report struct {
	Target        string            `json:"target"`
	ServerVersion string            `json:"server_version"`
	DBMS          string            `json:"dbms"`
	Settings      map[string]string `json:"settings"`
	Levels        []string          `json:"levels"`
	Conflict      string            `json:"conflict"`
	Workers       int               `json:"workers"`
	Seed          uint64            `json:"seed"`
	// Unique says that every written value was unique, and the answers alone a judge.
	Unique  bool    `json:"unique_values,omitempty"`
	Seconds float64 `json:"seconds"`
	Counts
	CasesPerMinute      float64 `json:"cases_per_minute"`
	StatementsPerSecond float64 `json:"statements_per_second"`
	MeanStatements      float64 `json:"mean_statements"`
	// JudgedShare and ConflictingShare are in [0, 1].
	JudgedShare      float64 `json:"judged"`
	ConflictingShare float64 `json:"conflicting"`
	// Restarts is how often a server of ours died and was replaced.
	Restarts int `json:"server_restarts"`
	// Runs counts what the target ran, for findings' sake too.
	Runs     int             `json:"runs"`
	Phases   PhaseTimes      `json:"phases"`
	Findings []Finding       `json:"findings"`
	Baseline *BaselineReport `json:"baseline,omitempty"`
	Guide    *GuideReport    `json:"guide,omitempty"`
	// Patterns is empty where inputs aimed at none.
	Patterns PatternsReport `json:"patterns,omitempty"`
	// Against is nil where nothing was compared.
	Against *AgainstReport `json:"against,omitempty"`
	// ShowPhases makes the summary for people tell them.
	ShowPhases bool `json:"-"`
}

// GuideReport tells of the inputs that a campaign keeps in its corpus.
type GuideReport struct {
	Inputs int `json:"inputs"`
	// Behaviours counts the classes of behaviour that were seen; see package
	// signal.
	Behaviours int `json:"behaviours"`
}

func (c *campaign) report() *Report {
	server := c.target.Server()
	counts := c.tally.snapshot()
	seconds := time.Since(c.begun).Seconds()
	r := &Report{
		Target: c.target.Name, ServerVersion: server.Version, DBMS: string(server.DBMS), Settings: server.Settings,
		Conflict: string(c.s.Conflict), Workers: c.s.Workers, Seed: c.s.Seed, Unique: c.s.Unique, Seconds: seconds, Counts: counts,
		Restarts: c.target.restarts(), Findings: c.keeper.Findings(), Baseline: c.keeper.baseline.Report(),
	}
	if c.versus != nil {
		r.Against = c.versus.report()
		r.Findings = append(r.Findings, c.versus.keeper.Findings()...)
	}
	if r.Settings == nil {
		r.Settings = map[string]string{}
	}
	r.Levels = levelNames(c.levels)
	var spent harness.Phases
	spent, r.Runs = c.target.spent()
	r.Phases = c.beside.times(spent, r.Runs)
	if c.guide != nil {
		r.Guide = c.guide.report()
	}
	r.Patterns = c.patterns.report()
	r.rates()
	return r
}

// judgedAny reports whether at least one case got a verdict.
func (r *Report) judgedAny() bool {
	return r.Verdicts[oracle.OK]+r.Verdicts[oracle.Known]+r.Verdicts[oracle.Violation] > 0
}

// rates fills in what follows from the counts and the time.
func (r *Report) rates() {
	seconds := max(r.Seconds, 1e-3)
	r.CasesPerMinute = float64(r.Cases) / seconds * 60
	r.StatementsPerSecond = float64(r.Statements) / seconds
	r.MeanStatements = share(r.Statements, r.Cases)
	r.JudgedShare, r.ConflictingShare = r.Judged(), r.Conflicting()
	r.Phases.rates(r.Runs)
}

func levelNames(levels []corpus.Level) []string {
	out := make([]string, len(levels))
	for i, l := range levels {
		out[i] = l.Short()
	}
	return out
}

// WriteJSON writes the report as an indented object.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // SQL is full of < and >
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// WriteReport writes the summary of a campaign for people.
func WriteReport(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s: %s in %.1f s (%.0f a minute), %s (%.1f a case)\n",
		r.Target, r.ServerVersion, strings.Join(r.Levels, " "), Count(r.Cases, "case"), r.Seconds, r.CasesPerMinute, Count(r.Statements, "statement"), r.MeanStatements)
	fmt.Fprintf(&b, "judged %.1f%% of the statements, blocked %d, deadlocks %d, conflicting cases %.0f%%\n",
		100*r.JudgedShare, r.Blocked, r.Deadlocks, 100*r.ConflictingShare)
	fmt.Fprintf(&b, "ok %d, known %d, violation %d, unknown %d\n",
		r.Verdicts[oracle.OK], r.Verdicts[oracle.Known], r.Verdicts[oracle.Violation], r.Verdicts[oracle.Unknown])
	writeCounts(&b, "known", r.Known)
	if r.Asked > 0 {
		fmt.Fprintf(&b, "  %d known ones were run again while the server told its plans: %d turned out to be something else\n", r.Asked, r.Refuted)
	}
	if r.Computed > 0 {
		fmt.Fprintf(&b, "the server computed SQL of %s: %d got a verdict\n", Count(r.Computed, "case"), r.ComputedJudged)
	}
	if r.Unique {
		b.WriteString("every written value was unique, and each case was judged by its answers alone, too\n")
	}
	reasons := map[string]int{}
	for reason, n := range r.Unknown {
		reasons[plainSQL(reason)] += n
	}
	writeCounts(&b, "unknown", reasons)
	if r.ShowPhases {
		fmt.Fprintf(&b, "a run: %s\n", r.Phases.text())
	}
	if r.Guide != nil {
		fmt.Fprintf(&b, "corpus: %d inputs, %d classes of behaviour\n", r.Guide.Inputs, r.Guide.Behaviours)
	}
	r.Patterns.writeText(&b)
	if r.Baseline != nil {
		writeCounts(&b, "baseline", r.Baseline.Covered)
		for _, f := range r.Baseline.Expired {
			fmt.Fprintf(&b, "  baseline entry expired: %s\n", f)
		}
		for _, f := range r.Baseline.Unmatched {
			fmt.Fprintf(&b, "  baseline entry matched nothing: %s\n", f)
		}
	}
	writeAgainst(&b, r.Against)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "finding %s: reproduced %s, seen %d×, %s: %s\n", f.ID, f.Reproduced, f.Seen, Count(f.Statements, "statement"), f.File)
		fmt.Fprintf(&b, "  expected: %s\n  actual:   %s\n", short(f.Expected), short(f.Actual))
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing found\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCounts lists counts, the largest first.
func writeCounts(b *strings.Builder, title string, m map[string]int) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	slices.SortStableFunc(names, func(x, y string) int { return m[y] - m[x] })
	for _, n := range names {
		fmt.Fprintf(b, "  %s %6d  %s\n", title, m[n], n)
	}
}
