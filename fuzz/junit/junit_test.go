package junit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// element is what junit-10.xsd says of an element, as far as it has content or
// attributes: attributes in `required` must be there, and no others than those
// in either list may.
type element struct {
	required, optional, children []string
	text                         bool
}

var schema = map[string]element{
	"testsuites": {optional: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
	"testsuite": {
		required: []string{"name", "tests", "failures", "errors"},
		optional: []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
		children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
	},
	"properties": {children: []string{"property"}},
	"property":   {required: []string{"name", "value"}},
	"testcase": {
		required: []string{"name"}, optional: []string{"time", "classname", "group"},
		children: []string{"skipped", "error", "failure", "system-out", "system-err"},
	},
	"skipped":    {optional: []string{"type", "message"}, text: true},
	"error":      {optional: []string{"type", "message"}, text: true},
	"failure":    {optional: []string{"type", "message"}, text: true},
	"system-out": {text: true},
}

// surefireTime is the pattern of the time attribute.
var surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

func conforms(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	stack := []string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			rule, ok := schema[name]
			if !ok {
				t.Errorf("unknown element %s", name)
			}
			if len(stack) == 0 && name != "testsuites" || len(stack) > 0 && !slices.Contains(schema[stack[len(stack)-1]].children, name) {
				t.Errorf("%s inside %v", name, stack)
			}
			var have []string
			for _, a := range x.Attr {
				have = append(have, a.Name.Local)
				if !slices.Contains(rule.required, a.Name.Local) && !slices.Contains(rule.optional, a.Name.Local) {
					t.Errorf("%s has attribute %s", name, a.Name.Local)
				}
				if a.Name.Local == "time" && !surefireTime.MatchString(a.Value) {
					t.Errorf("time %q", a.Value)
				}
			}
			for _, a := range rule.required {
				if !slices.Contains(have, a) {
					t.Errorf("%s lacks %s", name, a)
				}
			}
			stack = append(stack, name)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 && !schema[stack[len(stack)-1]].text && strings.TrimSpace(string(x)) != "" {
				t.Errorf("text %q inside %v", x, stack)
			}
		}
	}
}

func parse(t *testing.T, b *bytes.Buffer) suites {
	t.Helper()
	conforms(t, b.Bytes())
	var s suites
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func report() *campaign.Report {
	r := &campaign.Report{Target: "mariadb:11.8", Levels: []string{"RC"}, Seconds: 1.5, Findings: []findings.Finding{
		{ID: "new", Verdict: oracle.Violation, Kind: "dirty-read", Level: "RC", New: true, Expected: "a < 1 & \"b\" \x02", Actual: "]]>", File: "x.sql"},
		{ID: "old", Verdict: oracle.Known, Kind: "wrong-rows", Rules: []string{"no-op-update-unseen"}, Level: "RR", File: "y.sql"},
	}}
	return r
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		failOn                    campaign.FailOn
		failed                    error
		failures, errors, skipped int
	}{
		{campaign.FailAny, nil, 2, 0, 0},
		{campaign.FailNew, nil, 1, 0, 1},
		{campaign.FailNone, nil, 0, 0, 2},
		{campaign.FailNone, errors.New("the server died"), 0, 1, 2},
	} {
		var b bytes.Buffer
		if err := WriteRun(&b, "mariadb:11.8", report(), c.failOn, c.failed); err != nil {
			t.Fatal(err)
		}
		s := parse(t, &b)
		got := s.Suites[0]
		if got.Tests != 3 || got.Failures != c.failures || got.Errors != c.errors || got.Skipped != c.skipped || s.Failures != c.failures || s.Errors != c.errors {
			t.Errorf("%s, %v: %d tests, %d failures, %d errors, %d skipped", c.failOn, c.failed, got.Tests, got.Failures, got.Errors, got.Skipped)
		}
		if c.failOn == campaign.FailAny && !strings.Contains(got.Cases[1].Failure.Text, "replay x.sql --target 'mariadb:11.8'") {
			t.Errorf("failure %+v", got.Cases[1].Failure)
		}
	}
}

func TestRunThatNeverBegan(t *testing.T) {
	var b bytes.Buffer
	if err := WriteRun(&b, "embedded", nil, campaign.FailAny, errors.New("connection refused")); err != nil {
		t.Fatal(err)
	}
	if s := parse(t, &b); s.Errors != 1 || s.Tests != 1 || s.Suites[0].Cases[0].Error.Message != "connection refused" {
		t.Errorf("%+v", s)
	}
}

func TestReplay(t *testing.T) {
	at := func(level string, v oracle.Outcome, reason string) findings.Replayed {
		return findings.Replayed{File: "a.sql", Target: "embedded", Level: level, Verdict: v, Reason: reason, Kind: "dirty-read", Actual: "x"}
	}
	list := []findings.Replayed{
		at("RU", oracle.Unknown, target.ReasonLevel), at("RC", oracle.OK, ""), at("RR", oracle.Violation, ""), at("SER", oracle.Unknown, target.ReasonInit),
	}
	var b bytes.Buffer
	if err := WriteReplay(&b, list, campaign.FailAny, nil); err != nil {
		t.Fatal(err)
	}
	s := parse(t, &b)
	if got := s.Suites[0]; got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 {
		t.Errorf("%+v", got)
	}
	b.Reset()
	if err := WriteReplay(&b, list, campaign.FailNone, nil); err != nil {
		t.Fatal(err)
	}
	if s := parse(t, &b); s.Failures != 0 || s.Errors != 1 {
		t.Errorf("--fail-on none: %+v", s)
	}
	b.Reset()
	if err := WriteReplay(&b, list[:1], campaign.FailAny, nil); err != nil {
		t.Fatal(err)
	}
	if s := parse(t, &b); s.Errors != 1 || !strings.Contains(b.String(), campaign.ErrNothingJudged.Error()) {
		t.Errorf("nothing got a verdict: %s", b.String())
	}
}
