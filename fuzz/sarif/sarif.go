// Package sarif writes findings as SARIF 2.1.0, which code hosts show beside
// the code (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
// The "code" is the case that shows the defect.
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

	"github.com/txnfuzz/txnfuzz/fuzz"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

const (
	schemaURI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home      = "https://github.com/txnfuzz/txnfuzz"
	// fingerprintKey names the fingerprint and its version, so that a later way
	// of computing it does not match by accident (SARIF 3.27.17).
	fingerprintKey = "txnfuzz/v1"
)

type log struct {
	Version string `json:"version"`
	Schema  string `json:"$schema"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool        tool         `json:"tool"`
	Invocations []invocation `json:"invocations"`
	Results     []result     `json:"results"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name           string `json:"name"`
	InformationURI string `json:"informationUri"`
	Rules          []rule `json:"rules"`
}

type rule struct {
	ID      string   `json:"id"`
	Short   message  `json:"shortDescription"`
	HelpURI string   `json:"helpUri,omitempty"`
	Config  *ruleset `json:"defaultConfiguration,omitempty"`
}

type ruleset struct {
	Level string `json:"level"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	ExecutionSuccessful bool           `json:"executionSuccessful"`
	Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Level   string  `json:"level"`
	Message message `json:"message"`
}

type result struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      message           `json:"message"`
	Locations    []location        `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Baseline     string            `json:"baselineState"`
}

type location struct {
	Physical physical `json:"physicalLocation"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
	Region   region   `json:"region"`
}

type artifact struct {
	URI string `json:"uri"`
}

type region struct {
	StartLine int `json:"startLine"`
}

// Levels of results (SARIF 3.27.10).
const (
	errorLevel   = "error"
	warningLevel = "warning"
	noteLevel    = "note"
)

// defect is what a run and a replay have in common.
type defect struct {
	kind                     oracle.Kind
	rules                    []string
	known, counts, isNew     bool
	target, level            string
	expected, actual, reason string
	fingerprint, file        string
	step                     int
}

// WriteRun writes the findings of a run: errors where failOn counts them, else
// warnings, known deviations notes. failed, if not nil, is told as the reason
// why the execution was no success. r may be nil where a run never began.
func WriteRun(w io.Writer, r *fuzz.Report, failOn fuzz.FailOn, failed error) error {
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
	return write(w, list, failed)
}

// WriteReplay writes the violations and known deviations of a replay, with
// levels as WriteRun gives them; what has another verdict is no result.
func WriteReplay(w io.Writer, results []fuzz.Replayed, failOn fuzz.FailOn, failed error) error {
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
			expected: r.Expected, actual: r.Actual, reason: r.Reason, fingerprint: r.Fingerprint, file: r.File, step: r.Step(),
		})
	}
	if failed == nil && !judged {
		failed = fuzz.ErrNothingJudged
	}
	return write(w, list, failed)
}

func write(w io.Writer, list []defect, failed error) error {
	out := run{
		Tool:        tool{driver{Name: "txnfuzz", InformationURI: home, Rules: rulesOf(list)}},
		Invocations: []invocation{{ExecutionSuccessful: failed == nil}},
		Results:     []result{},
	}
	if failed != nil {
		out.Invocations[0].Notifications = []notification{{errorLevel, message{failed.Error()}}}
	}
	for i := range list {
		d := &list[i]
		at := slices.IndexFunc(out.Tool.Driver.Rules, func(r rule) bool { return r.ID == d.ruleID() })
		out.Results = append(out.Results, d.result(at))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // SQL is full of < and >
	e.SetIndent("", "  ")
	if err := e.Encode(log{"2.1.0", schemaURI, []run{out}}); err != nil {
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
func rulesOf(list []defect) []rule {
	out := []rule{}
	for i := range list {
		d := &list[i]
		at, found := slices.BinarySearchFunc(out, d.ruleID(), func(r rule, id string) int { return strings.Compare(r.ID, id) })
		if !found {
			out = slices.Insert(out, at, d.rule())
		}
	}
	return out
}

func (d *defect) rule() rule {
	r := rule{ID: d.ruleID(), Short: message{"The server does not keep what it promises at this isolation level: " + string(d.kind) + "."}, Config: &ruleset{errorLevel}}
	if !d.known {
		return r
	}
	r.Config.Level = noteLevel
	var says []string
	for _, name := range d.rules {
		if known := rules.ByName(name); known != nil {
			says = append(says, known.Says)
			if r.HelpURI == "" && len(known.Links) > 0 {
				r.HelpURI = known.Links[0]
			}
		}
	}
	if len(says) > 0 {
		r.Short.Text = "Known deviation: " + strings.Join(says, "; ") + "."
	}
	return r
}

func (d *defect) result(rule int) result {
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
	return result{
		RuleID: d.ruleID(), RuleIndex: rule, Level: level, Baseline: state,
		Message: message{fmt.Sprintf("%s on %s at %s: expected %s, got %s. %s\nReplay: txnfuzz replay %s --target '%s'",
			d.kind, d.target, d.level, d.expected, d.actual, d.reason, d.file, d.target)},
		Locations:    []location{{physical{artifact{uri(d.file)}, region{lineOf(d.file, d.step)}}}},
		Fingerprints: map[string]string{fingerprintKey: d.target + " " + d.fingerprint},
	}
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
