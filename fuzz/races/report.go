package races

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Report says what a search has done. Its JSON keys are part of the command line's contract.
type Report struct {
	Target  string `json:"target"`
	Version string `json:"server_version"`
	Seed    uint64 `json:"seed"`
	// Cases counts those that were searched, NextCase is the number of the next one; Hours counts
	// those of the searches that this one went on with, too.
	Cases    int `json:"cases"`
	NextCase int `json:"next_case"`
	// Begun is when this search began, a UTC time, End how it ended, nil while it runs.
	Begun   time.Time     `json:"begun,omitzero"`
	End     *campaign.End `json:"end,omitempty"`
	Seconds float64       `json:"seconds"`
	Hours   float64       `json:"hours"`
	// Recorded counts the statements that were recorded, Holds how often one was held, or was to
	// be: Missed of them did not come to the place.
	Recorded int `json:"recorded"`
	Holds    int `json:"holds"`
	Missed   int `json:"missed"`
	// Outcomes counts what a case showed held that it did not show before, each judged.
	Outcomes int                    `json:"outcomes"`
	Verdicts map[oracle.Outcome]int `json:"verdicts"`
	Reasons  map[string]int         `json:"unknown_reasons"`
	// WrongUnheld counts the cases that were not searched, since what they show is not as promised
	// without a hold either.
	WrongUnheld int `json:"wrong_unheld"`
	// Places counts the places at which an outcome changed.
	Places   int                `json:"places"`
	Findings []findings.Finding `json:"findings"`
}

func (r *run) report() *Report {
	places := map[string]bool{}
	for _, all := range r.memory {
		for _, one := range all {
			places[one.Place.Where()] = true
		}
	}
	took := time.Since(r.begun)
	return &Report{
		Target: target.Redact(r.s.Target), Version: r.target.Server().Version, Seed: r.s.Seed,
		Cases: r.count.cases, NextCase: r.next, Begun: r.begun.UTC().Truncate(time.Second), Seconds: took.Seconds(), Hours: (r.before + took).Hours(),
		Recorded: r.count.recorded, Holds: r.count.holds, Missed: r.count.missed,
		Outcomes: r.count.outcomes, Verdicts: maps.Clone(r.count.verdicts), Reasons: maps.Clone(r.count.reasons),
		WrongUnheld: r.count.wrongUnheld, Places: len(places), Findings: r.keeper.Findings(),
	}
}

// Found says that there are findings that showed again, or that could not be tried again.
func (r *Report) Found() bool {
	return slices.ContainsFunc(r.Findings, func(f findings.Finding) bool { return f.Reproduced != 0 })
}

// line is one of progress.
func (r *Report) line() string {
	return fmt.Sprintf("%s: %d cases, %d holds (%.0f/s), %d outcomes judged, %d places that matter, %d findings",
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), r.Cases, r.Holds, float64(r.Holds)/max(r.Seconds, 1e-3),
		r.Outcomes, r.Places, len(r.Findings))
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, seed %d\n%s\n", r.Target, r.Version, r.Seed, r.line())
	fmt.Fprintf(&b, "held: %d ok, %d violations, %d known, %d not judged; %d of %d holds never came to their place\n",
		r.Verdicts[oracle.OK], r.Verdicts[oracle.Violation], r.Verdicts[oracle.Known], r.Verdicts[oracle.Unknown], r.Missed, r.Holds)
	if r.WrongUnheld > 0 {
		fmt.Fprintf(&b, "%d cases are not as promised without a hold either, and were left to txnfuzz run without --races\n", r.WrongUnheld)
	}
	why := slices.SortedFunc(maps.Keys(r.Reasons), func(a, b string) int {
		return cmp.Or(r.Reasons[b]-r.Reasons[a], strings.Compare(a, b))
	})
	for _, reason := range why {
		fmt.Fprintf(&b, "  not judged, %d: %s\n", r.Reasons[reason], reason)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "\n%s  %s at %s, reproduced %s, %d statements\n  expected %s\n  got      %s\n  %s\n",
			f.ID, f.Kind, f.Level, f.Reproduced, f.Statements, f.Expected, f.Actual, f.File)
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing found\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
