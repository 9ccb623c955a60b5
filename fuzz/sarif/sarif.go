package sarif

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

const (
	home = "https://github.com/txnfuzz/txnfuzz"
	// fingerprintKey names the fingerprint and its version, so that a later way
	// of computing it does not match by accident (SARIF 3.27.17).
	fingerprintKey = "txnfuzz/v1"
)

// Levels of results (SARIF 3.27.10).
const (
	errorLevel   = "error"
	warningLevel = "warning"
	noteLevel    = "note"
)

// Run says which run of which program a file tells of.
type Run struct {
	// Version is that of txnfuzz.
	Version string
	// Category tells this file from others of the same commit: code hosts close the
	// alerts of a category that its next file does not have, and refuse several files
	// of one. Words with slashes between.
	Category string
}

// defect is what a run and a replay have in common.
type defect struct {
	kind                     oracle.Kind
	rules                    []string
	known, counts, isNew     bool
	target, level            string
	expected, actual, reason string
	fingerprint, file        string
	step                     int
	// of is the case, nil where it is not at hand.
	of *corpus.Case
}

// WriteRun writes the findings of a run: errors where failOn counts them, else
// warnings, known deviations notes. failed, if not nil, is told as the reason
// why the execution was no success. r may be nil where a run never began.
func WriteRun(w io.Writer, of Run, r *campaign.Report, failOn campaign.FailOn, failed error) error {
	var list []defect
	if r != nil {
		for i := range r.Findings {
			f := &r.Findings[i]
			list = append(list, defect{
				kind: f.Kind, rules: f.Rules, known: f.Verdict == oracle.Known, counts: failOn.Finding(f), isNew: f.New,
				target: r.Target, level: f.Level, expected: f.Expected, actual: f.Actual, reason: f.Reason,
				fingerprint: f.Fingerprint, file: f.File, step: f.Step,
			})
		}
	}
	return write(w, of, list, failed)
}

// WriteReplay writes the violations and known deviations of a replay, with
// levels as WriteRun gives them; what has another verdict is no result.
func WriteReplay(w io.Writer, of Run, results []findings.Replayed, failOn campaign.FailOn, failed error) error {
	var list []defect
	judged := false
	for i := range results {
		r := &results[i]
		judged = judged || r.Verdict != oracle.Unknown
		if r.Verdict != oracle.Violation && r.Verdict != oracle.Known {
			continue
		}
		list = append(list, defect{
			kind: r.Kind, rules: r.Rules, known: r.Verdict == oracle.Known, counts: failOn.Replayed(r),
			isNew: r.Recorded != r.Verdictline(), target: r.Target, level: r.Level,
			expected: r.Expected, actual: r.Actual, reason: r.Reason, fingerprint: r.Fingerprint, file: r.File, step: r.Step(), of: r.Trial.Case,
		})
	}
	if failed == nil && !judged {
		failed = campaign.ErrNothingJudged
	}
	return write(w, of, list, failed)
}

func write(w io.Writer, of Run, list []defect, failed error) error {
	driver := sarif.NewToolComponent().WithName("txnfuzz").WithInformationURI(home).WithRules(rulesOf(list))
	if of.Version != "" {
		driver.WithVersion(of.Version)
	}
	invocation := sarif.NewInvocation().WithExecutionSuccessful(failed == nil)
	if failed != nil {
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel(errorLevel).WithMessage(sarif.NewTextMessage(failed.Error())))
	}
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(driver)).WithInvocations([]*sarif.Invocation{invocation})
	if of.Category != "" {
		// What stands before the last slash is the category; behind it would be the
		// name of this one run (SARIF 3.17.3).
		run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID("txnfuzz/" + of.Category + "/"))
	}
	for i := range list {
		d := &list[i]
		at := slices.IndexFunc(driver.Rules, func(r *sarif.ReportingDescriptor) bool { return *r.ID == d.ruleID() })
		run.AddResult(d.result(at))
	}
	report := sarif.NewReport()
	report.AddRun(run)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // SQL is full of < and >
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

func (d *defect) ruleID() string {
	if d.known {
		return "known/" + strings.Join(d.rules, "+")
	}
	return "violation/" + string(d.kind)
}

// rulesOf describes the rules that the results refer to, in order of name.
func rulesOf(list []defect) []*sarif.ReportingDescriptor {
	out := []*sarif.ReportingDescriptor{}
	for i := range list {
		d := &list[i]
		at, found := slices.BinarySearchFunc(out, d.ruleID(), func(r *sarif.ReportingDescriptor, id string) int { return strings.Compare(*r.ID, id) })
		if !found {
			out = slices.Insert(out, at, d.rule())
		}
	}
	return out
}

func (d *defect) rule() *sarif.ReportingDescriptor {
	level, text := errorLevel, "The server does not keep what it promises at this isolation level: "+string(d.kind)+"."
	r := sarif.NewRule(d.ruleID())
	if d.known {
		level = noteLevel
		var says []string
		for _, name := range d.rules {
			if known := rules.ByName(name); known != nil {
				says = append(says, known.Says)
				if r.HelpURI == nil && len(known.Links) > 0 {
					r.WithHelpURI(known.Links[0])
				}
			}
		}
		if len(says) > 0 {
			text = "Known deviation: " + strings.Join(says, "; ") + "."
		}
	}
	return r.WithShortDescription(sarif.NewMultiformatMessageString().WithText(text)).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level))
}

func (d *defect) result(rule int) *sarif.Result {
	level := noteLevel
	switch {
	case d.counts:
		level = errorLevel
	case !d.known:
		level = warningLevel
	}
	state := "unchanged"
	if d.isNew {
		state = "new"
	}
	told, properties := d.bisected()
	place := sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri(d.file))).
		WithRegion(sarif.NewRegion().WithStartLine(lineOf(d.file, d.step)))
	result := sarif.NewRuleResult(d.ruleID()).WithRuleIndex(rule).WithLevel(level).WithBaselineState(state).
		WithMessage(sarif.NewTextMessage(fmt.Sprintf("%s on %s at %s: expected %s, got %s. %s%s\nReplay: txnfuzz replay %s %s",
			d.kind, d.target, d.level, d.expected, d.actual, d.reason, told, d.file, target.OnCommandLine(d.target)))).
		WithLocations([]*sarif.Location{sarif.NewLocationWithPhysicalLocation(place)}).
		WithPartialFingerprints(map[string]string{fingerprintKey: d.target + " " + d.fingerprint})
	if properties != nil {
		result.WithProperties(&sarif.PropertyBag{Properties: properties})
	}
	return result
}

// bisected is what the header of the case says of versions and commits: text behind the message, and properties of the
// result (SARIF 3.8) by the header's keys; nil for none.
func (d *defect) bisected() (told string, properties map[string]any) {
	if d.of == nil {
		return "", nil
	}
	for _, sentence := range timeline.Bisected(d.of, func(s string) string { return s }) {
		told += "\n" + sentence
	}
	for key, value := range timeline.BisectedValues(d.of) {
		if properties == nil {
			properties = map[string]any{}
		}
		properties[key] = value
	}
	return told, properties
}

// uri makes a URI of a path: relative ones stay relative, as viewers that
// resolve them against a checkout want it.
func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

var step = regexp.MustCompile(`(?m)^/\* *tx[0-9]+ *\*/`)

// lineOf returns the line of a case's file, from 1, at which its n-th step
// begins; 1 where there is none, or the file cannot be read any more.
func lineOf(path string, n int) int {
	text, err := os.ReadFile(path)
	if err != nil || n < 1 {
		return 1
	}
	at := step.FindAllIndex(text, n)
	if len(at) < n {
		return 1
	}
	return 1 + strings.Count(string(text[:at[n-1][0]]), "\n")
}
