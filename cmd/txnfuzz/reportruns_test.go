//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// TestReportRuns makes a page of two runs and of one whose server cannot be reached, whose JSON files tell how they ended.
func TestReportRuns(t *testing.T) {
	t.Parallel()
	on, dir := serverTarget(t), t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	baseline := writeFile(t, "baseline", "no/RR | a reason | https://bugs.example/1 | 2999-12-31\nold/RR | another | none | 2020-01-31\n")
	for _, x := range []struct {
		file, target string
		code         int
		flags        []string
	}{
		{"1.json", on, exitClean, []string{"--fail-on", "none"}},
		{"2.json", on, exitClean, []string{"--fail-on", "none", "--baseline", baseline}},
		{"3.json", "root:hush@tcp(127.0.0.1:1)/", exitFailure, nil},
	} {
		args := []string{"run", "--target", x.target, "--seed", x.file[:1], "--cases", "60", "--strict", "--reduce", "0", "--corpus", at("corpus"),
			"--out", at("found"), "--json", at(x.file)}
		got := txnfuzz(t, append(args, x.flags...)...)
		if got.code != x.code {
			t.Fatalf("%s: status %d, want %d: %s", x.file, got.code, x.code, got.stderr)
		}
		r := decode[campaign.Report](t, readFile(t, at(x.file)))
		if r.Begun.IsZero() || r.End == nil || r.End.Status != x.code || (r.End.Error != "") != (x.code == exitFailure) || r.End.At.Before(r.Begun) {
			t.Errorf("%s: began %v, ended %+v", x.file, r.Begun, r.End)
		}
		if strings.Contains(readFile(t, at(x.file)), "hush") {
			t.Errorf("%s tells a password", x.file)
		}
		if x.code == exitFailure {
			continue
		}
		last := r.Series[len(r.Series)-1]
		if first := r.Series[0]; len(r.Series) < 2 || first.Cases != 0 || last.Cases != r.Cases || last.Behaviours != r.Guide.Behaviours || last.Deviations != len(r.Known) {
			t.Errorf("%s: the series %+v is not that of %d cases, %d behaviours, %d deviations", x.file, r.Series, r.Cases, r.Guide.Behaviours, len(r.Known))
		}
		if x.file == "2.json" {
			states := []findings.BaselineState{r.Baseline.Entries[0].State, r.Baseline.Entries[1].State}
			if states[0] != findings.BaselineUnmatched || states[1] != findings.BaselineExpired || r.Series[0].Behaviours == 0 {
				t.Errorf("the entries are %v, the series begins with %+v", states, r.Series[0])
			}
		}
	}
	if err := os.WriteFile(at("half.json"), []byte(`{"target": `), 0o644); err != nil {
		t.Fatal(err)
	}
	got := txnfuzz(t, "report", "--runs", dir, "--html", at("index.html"))
	if got.code != exitClean || !strings.Contains(got.stderr, at("half.json")+": is malformed") || !strings.Contains(got.stderr, "index.html: 3 runs") {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
	page := readFile(t, at("index.html"))
	for _, part := range []string{
		"<dt>runs</dt><dd>3</dd>", "<dt>targets</dt><dd>2</dd>", "<dt>last runs, at worst</dt><dd>failed</dd>", ">" + on + "</h2>", "root:***@tcp(127.0.0.1:1)/",
		"a reason", "expired</span>", "<b>New behaviours within a run</b>", `<a href="2.json">JSON</a>`, "half.json",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	if none := txnfuzz(t, "report", "--runs", at("corpus"), "--html", at("none.html")); none.code != exitUsage || !strings.Contains(none.stderr, "there is no JSON file of a run in") {
		t.Errorf("status %d of a folder without runs: %s", none.code, none.stderr)
	}
	if _, err := os.Stat(at("none.html")); err == nil {
		t.Error("there is a page of no run")
	}
}
