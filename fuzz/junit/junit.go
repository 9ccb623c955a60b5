package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
	"github.com/txnfuzz/txnfuzz/oracle"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr,omitempty"`
	Properties []property `xml:"properties>property,omitempty"`
	Cases      []testCase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Class   string  `xml:"classname,attr"`
	Name    string  `xml:"name,attr"`
	Skipped *result `xml:"skipped"`
	Error   *result `xml:"error"`
	Failure *result `xml:"failure"`
	Output  string  `xml:"system-out,omitempty"`
}

type result struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// class groups the test cases where a viewer makes folders of the dots.
func class(command, target string) string {
	return "txnfuzz." + command + "." + strings.ReplaceAll(target, ".", "_")
}

// WriteRun writes a run: one test for the run as a whole, which is an error
// where failed is not nil, and one for each finding, which is a failure where
// failOn counts it, else skipped. r may be nil where a run never began.
func WriteRun(w io.Writer, name string, r *campaign.Report, failOn campaign.FailOn, failed error) error {
	s := suite{Name: "txnfuzz run " + name}
	whole := testCase{Class: class("run", name), Name: "the run is complete", Error: failure(failed)}
	if r != nil {
		s.Time = strconv.FormatFloat(r.Seconds, 'f', 3, 64)
		s.Properties = []property{
			{"server_version", r.ServerVersion}, {"levels", strings.Join(r.Levels, ",")}, {"seed", strconv.FormatUint(r.Seed, 10)},
			{"cases", strconv.Itoa(r.Cases)}, {"judged", strconv.FormatFloat(r.JudgedShare, 'f', 4, 64)}, {"fail_on", string(failOn)},
		}
		var text strings.Builder
		if err := telling.WriteReport(&text, r); err != nil {
			return err
		}
		whole.Output = text.String()
	}
	s.Cases = append(s.Cases, whole)
	if r != nil {
		for i := range r.Findings {
			s.Cases = append(s.Cases, finding(name, &r.Findings[i], failOn))
		}
	}
	return write(w, []suite{s})
}

func finding(name string, f *findings.Finding, failOn campaign.FailOn) testCase {
	c := testCase{Class: class("run", name), Name: f.ID}
	what := string(f.Kind)
	if len(f.Rules) > 0 {
		what = "known deviation " + strings.Join(f.Rules, " + ")
	}
	if !failOn.Finding(f) {
		c.Skipped = &result{Type: what, Message: fmt.Sprintf("not counted by --fail-on %s: %s", failOn, f.File)}
		return c
	}
	c.Failure = &result{what, fmt.Sprintf("%s at %s: expected %s, got %s", what, f.Level, f.Expected, f.Actual), fmt.Sprintf(
		"expected:   %s\nactual:     %s\nbecause:    %s\nreproduced: %s\nsaved:      %s\nreplay:     txnfuzz replay %s %s\n",
		f.Expected, f.Actual, f.Reason, f.Reproduced, f.File, f.File, target.OnCommandLine(name))}
	return c
}

// WriteReplay writes a replay: one suite for each target, with one test for
// each file and level. What failOn counts is a failure; cases that
// could not be run, unless their header says so, are errors; what has no
// verdict is skipped. Where failed is not nil, or nothing got a verdict, one
// more test is an error.
func WriteReplay(w io.Writer, results []findings.Replayed, failOn campaign.FailOn, failed error) error {
	var all []suite
	judged := 0
	for i := range results {
		r := &results[i]
		if len(all) == 0 || all[len(all)-1].Name != "txnfuzz replay "+r.Target {
			all = append(all, suite{Name: "txnfuzz replay " + r.Target, Properties: []property{
				{"server_version", r.ServerVersion}, {"fail_on", string(failOn)},
			}})
		}
		if r.Verdict != oracle.Unknown {
			judged++
		}
		s := &all[len(all)-1]
		s.Cases = append(s.Cases, replayed(r, failOn))
	}
	if failed == nil && judged == 0 {
		failed = campaign.ErrNothingJudged
	}
	all = append(all, suite{Name: "txnfuzz replay", Cases: []testCase{
		{Class: "txnfuzz.replay", Name: "the replay is complete", Error: failure(failed)},
	}})
	return write(w, all)
}

func replayed(r *findings.Replayed, failOn campaign.FailOn) testCase {
	c := testCase{Class: class("replay", r.Target), Name: r.File + " at " + r.Level}
	text := fmt.Sprintf("expected: %s\nactual:   %s\nbecause:  %s\nreplay:   txnfuzz replay %s%s %s\n",
		r.Expected, r.Actual, r.Reason, r.File, r.LevelsFlag(), target.OnCommandLine(r.Target))
	message := fmt.Sprintf("%s: expected %s, got %s", r.What(), r.Expected, r.Actual)
	switch {
	case failOn.Replayed(r):
		c.Failure = &result{r.What(), message, text}
	case r.Verdict == oracle.Violation:
		c.Skipped = &result{Type: r.What(), Message: "not counted by --fail-on " + string(failOn) + ": " + message}
	case r.Verdict == oracle.Known:
		c.Output = "known deviation: " + message + "\n"
	case r.NotRun() && r.Changed(), r.NotRun() && r.Recorded == "":
		c.Error = &result{r.Reason, r.Actual, ""}
	case r.Verdict == oracle.Unknown:
		c.Skipped = &result{Type: r.Reason, Message: r.Actual}
	}
	return c
}

func failure(err error) *result {
	if err == nil {
		return nil
	}
	return &result{"failed", err.Error(), ""}
}

func write(w io.Writer, list []suite) error {
	all := suites{Name: "txnfuzz", Suites: list}
	for i := range list {
		s := &list[i]
		for j := range s.Cases {
			s.Tests++
			switch c := &s.Cases[j]; {
			case c.Failure != nil:
				s.Failures++
			case c.Error != nil:
				s.Errors++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}
