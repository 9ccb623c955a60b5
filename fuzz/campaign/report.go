package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
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
	Protocol      string            `json:"protocol"`
	// Unique says that every written value was unique, and the answers alone a judge.
	Unique bool `json:"unique_values,omitempty"`
	// Begun is when it began, a UTC time, End how it ended, nil while it runs.
	Begun   time.Time `json:"begun,omitzero"`
	End     *End      `json:"end,omitempty"`
	Seconds float64   `json:"seconds"`
	Counts
	CasesPerMinute      float64 `json:"cases_per_minute"`
	StatementsPerSecond float64 `json:"statements_per_second"`
	MeanStatements      float64 `json:"mean_statements"`
	// JudgedShare and ConflictingShare are in [0, 1].
	JudgedShare      float64 `json:"judged"`
	ConflictingShare float64 `json:"conflicting"`
	// Restarts is how often a server of ours died and was replaced.
	Restarts int `json:"server_restarts"`
	// Replicas is nil where nothing is replicated.
	Replicas *target.Replicas `json:"replicas,omitempty"`
	// Runs counts what the target ran, for findings' sake too.
	Runs     int                      `json:"runs"`
	Phases   PhaseTimes               `json:"phases"`
	Findings []findings.Finding       `json:"findings"`
	Baseline *findings.BaselineReport `json:"baseline,omitempty"`
	Guide    *GuideReport             `json:"guide,omitempty"`
	// Series is how far the campaign had come at some moments.
	Series Series `json:"series,omitempty"`
	// Patterns is empty where inputs aimed at none.
	Patterns PatternsReport `json:"patterns,omitempty"`
	// Against is nil where nothing was compared.
	Against *AgainstReport `json:"against,omitempty"`
	// Doing and Jobs are what is done while a campaign runs: by its workers, and with its findings.
	Doing []Doing        `json:"-"`
	Jobs  []findings.Job `json:"-"`
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
		Conflict: string(c.s.Conflict), Workers: c.s.Workers, Seed: c.s.Seed, Protocol: c.s.Protocol.Name(), Unique: c.s.Unique,
		Begun: c.begun.UTC().Truncate(time.Second), Seconds: seconds, Counts: counts, Series: c.recorded.until(c.point(&counts)),
		Restarts: c.restarts(), Replicas: c.target.Replicas(), Findings: c.keeper.Findings(), Baseline: c.keeper.Baseline.Report(),
	}
	if c.versus != nil {
		r.Against = c.versus.report()
		r.Findings = append(r.Findings, c.versus.keeper.Findings()...)
	}
	if r.Settings == nil {
		r.Settings = map[string]string{}
	}
	r.Levels = target.LevelNames(c.levels)
	var spent harness.Phases
	spent, r.Runs = c.spent()
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
