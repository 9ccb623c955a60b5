package sarif

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	published "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

const caseText = `-- level: READ COMMITTED
-- source: txnfuzz
/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
-- a comment
/* tx2 */ UPDATE t SET a = 1
  WHERE a < 2;
/* tx1 */ SELECT * FROM t;
`

func someFindings(t *testing.T) (*campaign.Report, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a case.sql")
	if err := os.WriteFile(path, []byte(caseText), 0o644); err != nil {
		t.Fatal(err)
	}
	return &campaign.Report{Target: "mysql:9.7", Findings: []findings.Finding{
		{ID: "a", Fingerprint: "dirty-read/RC", Verdict: oracle.Violation, Kind: "dirty-read", Level: "RC", File: path, Step: 3, New: true,
			Expected: "a < 2 && \"b\"", Actual: "no rows\x01", Reason: "why"},
		{ID: "b", Fingerprint: "known/x", Verdict: oracle.Known, Kind: "wrong-rows", Rules: []string{"no-op-update-unseen"}, Level: "RR", File: "corpus/found/gone.sql", Step: 2},
		{ID: "c", Fingerprint: "dirty-read/RR", Verdict: oracle.Violation, Kind: "dirty-read", Level: "RR", File: "corpus/found/gone.sql"},
	}}, path
}

// conforms checks a text against the published schema, and that the model of
// the schema's types reads all of it: nothing is under a name it does not know.
func conforms(t *testing.T, text []byte) {
	t.Helper()
	report, err := published.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	again, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := errors.Join(json.Unmarshal(text, &was), json.Unmarshal(again, &is)); err != nil {
		t.Fatal(err)
	}
	lost(t, "", was, is)
}

// lost reports what of was is missing in is, which may hold defaults besides.
func lost(t *testing.T, at string, was, is any) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			t.Errorf("%s is not in the model", at)
			return
		}
		for k, v := range was {
			lost(t, at+"/"+k, v, is[k])
		}
	case []any:
		is, ok := is.([]any)
		if !ok && len(was) > 0 || len(is) != len(was) {
			t.Errorf("%s has %d elements, want %d", at, len(is), len(was))
			return
		}
		for i := range was {
			lost(t, at+"/#", was[i], is[i])
		}
	default:
		if !reflect.DeepEqual(was, is) {
			t.Errorf("%s is %v, want %v", at, is, was)
		}
	}
}

func TestRunConforms(t *testing.T) {
	r, path := someFindings(t)
	var b bytes.Buffer
	if err := WriteRun(&b, Run{"v1.2.3", "run/mysql:9.7"}, r, campaign.FailNew, nil); err != nil {
		t.Fatal(err)
	}
	conforms(t, b.Bytes())
	var got published.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	results := got.Runs[0].Results
	if len(results) != 3 || len(got.Runs[0].Tool.Driver.Rules) != 2 {
		t.Fatalf("%d results, %d rules", len(results), len(got.Runs[0].Tool.Driver.Rules))
	}
	for i, want := range []struct {
		rule, level, state, uri string
		line                    int
	}{
		{"violation/dirty-read", "error", "new", "file://" + strings.ReplaceAll(path, " ", "%20"), 8},
		{"known/no-op-update-unseen", "note", "unchanged", "corpus/found/gone.sql", 1},
		{"violation/dirty-read", "warning", "unchanged", "corpus/found/gone.sql", 1},
	} {
		x := results[i]
		at := x.Locations[0].PhysicalLocation
		if *x.RuleID != want.rule || x.Level != want.level || *x.BaselineState != want.state || *at.ArtifactLocation.URI != want.uri || *at.Region.StartLine != want.line {
			t.Errorf("result %d is %+v, want %+v", i, x, want)
		}
		if got := got.Runs[0].Tool.Driver.Rules[x.RuleIndex].ID; *got != want.rule {
			t.Errorf("result %d refers to rule %d", i, x.RuleIndex)
		}
	}
	if run := got.Runs[0]; *run.Tool.Driver.Version != "v1.2.3" || *run.AutomationDetails.ID != "txnfuzz/run/mysql:9.7/" {
		t.Errorf("version %s, category %s", *run.Tool.Driver.Version, *run.AutomationDetails.ID)
	}
	known := got.Runs[0].Tool.Driver.Rules[0]
	if !strings.Contains(*known.HelpURI, "28212") || !strings.Contains(*known.ShortDescription.Text, "writes no new version") {
		t.Errorf("the deviation is described as %+v", known)
	}
}

func TestFailuresAreTold(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"run": func(b *bytes.Buffer) error { return WriteRun(b, Run{}, nil, campaign.FailAny, errors.New("no server")) },
		"replay": func(b *bytes.Buffer) error {
			return WriteReplay(b, Run{}, nil, campaign.FailAny, errors.New("no server"))
		},
		"nothing judged": func(b *bytes.Buffer) error {
			return WriteReplay(b, Run{}, []findings.Replayed{{Verdict: oracle.Unknown}}, campaign.FailAny, nil)
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		conforms(t, b.Bytes())
		var got published.Report
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		i := got.Runs[0].Invocations[0]
		if *i.ExecutionSuccessful || len(i.ToolExecutionNotifications) != 1 || *i.ToolExecutionNotifications[0].Message.Text == "" {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func TestReplayConforms(t *testing.T) {
	_, path := someFindings(t)
	list := []findings.Replayed{
		{File: path, Target: "mysql:9.7", Level: "RC", Verdict: oracle.Violation, Kind: "dirty-read", Fingerprint: "x"},
		{File: path, Target: "mysql:9.7", Level: "RR", Verdict: oracle.Known, Kind: "dirty-read", Rules: []string{"no-op-update-unseen"}, Fingerprint: "y"},
		{File: path, Target: "mysql:9.7", Level: "SER", Verdict: oracle.OK},
	}
	var b bytes.Buffer
	if err := WriteReplay(&b, Run{}, list, campaign.FailAny, nil); err != nil {
		t.Fatal(err)
	}
	conforms(t, b.Bytes())
	var got published.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if r := got.Runs[0].Results; len(r) != 2 || r[0].Level != "error" || r[1].Level != "note" {
		t.Errorf("results %+v", r)
	}
}

// TestBisected: what bisect has written into a header is in the message, and as properties.
func TestBisected(t *testing.T) {
	c, err := corpus.Parse("a", []byte("-- versions: absent in 11.22; shows in 12.22\n-- introduced: 0123456789ab (2020-02-02) Faster <joins>\n"+caseText))
	if err != nil {
		t.Fatal(err)
	}
	list := []findings.Replayed{
		{File: "a.sql", Target: "postgres:12", Level: "RC", Verdict: oracle.Violation, Kind: "dirty-read", Trial: target.Trial{Case: c}},
		{File: "b.sql", Target: "postgres:12", Level: "RC", Verdict: oracle.Violation, Kind: "dirty-read"},
	}
	var b bytes.Buffer
	if err := WriteReplay(&b, Run{}, list, campaign.FailAny, nil); err != nil {
		t.Fatal(err)
	}
	conforms(t, b.Bytes())
	var got published.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	told, untold := got.Runs[0].Results[0], got.Runs[0].Results[1]
	for _, want := range []string{"By version: absent in 11.22; shows in 12.22.\n", "It came with commit 0123456789ab (2020-02-02) Faster <joins>.\n"} {
		if !strings.Contains(*told.Message.Text, want) {
			t.Errorf("no %q in %q", want, *told.Message.Text)
		}
	}
	want := published.Properties{"versions": "absent in 11.22; shows in 12.22", "introduced": "0123456789ab (2020-02-02) Faster <joins>"}
	if told.Properties == nil || !reflect.DeepEqual(told.Properties.Properties, want) {
		t.Errorf("properties %+v, want %v", told.Properties, want)
	}
	if untold.Properties != nil || strings.Contains(*untold.Message.Text, "version") {
		t.Errorf("%+v", untold)
	}
}
