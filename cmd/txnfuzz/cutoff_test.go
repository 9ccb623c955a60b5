//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// strictRun starts a strict campaign without an end, and returns once it has
// found something, with the lines of its standard error behind that.
func strictRun(t *testing.T, out string, more ...string) (*exec.Cmd, *bufio.Scanner, *strings.Builder) {
	t.Helper()
	target := serverTarget(t)
	args := append([]string{"run", "--target", target, "--strict", "--seed", "1", "--out", out, "--json", "-"}, more...)
	cmd := command(t, args...)
	stdout := &strings.Builder{}
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "found ") {
			return cmd, lines, stdout
		}
	}
	t.Fatal("the campaign ended and found nothing")
	return nil, nil, nil
}

func serverTarget(t *testing.T) string {
	t.Helper()
	for _, name := range target.Installed(t.Context()) {
		if strings.HasPrefix(name, "mariadb:") {
			return name
		}
	}
	if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set and no MariaDB is installed")
	}
	t.Skip("no MariaDB is installed")
	return ""
}

func savedFindings(t *testing.T, out string) []corpus.Stored {
	t.Helper()
	stored, err := corpus.LoadDir(out)
	if err != nil {
		t.Fatalf("a file is not whole: %v", err)
	}
	return stored
}

// A campaign that is killed while it has a finding in hand has saved it: whole,
// unconfirmed, with the command that confirms and reduces it, and that works.
func TestKilledCampaignHasSavedWhatIsPending(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "found")
	cmd, _, _ := strictRun(t, out)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	stored := savedFindings(t, out)
	if len(stored) == 0 {
		t.Fatal("nothing is saved")
	}
	for _, s := range stored {
		rate, _ := s.Case.Get("reproduced")
		how, _ := s.Case.Get("to confirm and reduce")
		if rate == "unconfirmed" && how != "txnfuzz reduce '"+s.Path+"' --out '"+s.Path+"'" {
			t.Errorf("%s: unconfirmed, and the command is %q", s.Path, how)
		}
		if rate != "unconfirmed" {
			continue
		}
		if got := txnfuzz(t, "reduce", s.Path, "--out", s.Path); got.code != 0 {
			t.Fatalf("%s: status %d: %s", how, got.code, got.stderr)
		}
		after, err := corpus.Load(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		if rate, _ := after.Get("reproduced"); !strings.HasSuffix(rate, "/10") || len(after.Steps) > len(s.Case.Steps) {
			t.Errorf("after the command: reproduced %q, %d steps of %d", rate, len(after.Steps), len(s.Case.Steps))
		}
		return
	}
	t.Errorf("none of %d findings is unconfirmed", len(stored))
}

// Ctrl-C ends a campaign at once; what is pending is in the report as null and in
// its file as unconfirmed, and the status says that something was found.
func TestInterruptedCampaignReportsWhatIsPending(t *testing.T) {
	out := filepath.Join(t.TempDir(), "found")
	cmd, lines, stdout := strictRun(t, out)
	begun := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end of the process
	}
	_ = cmd.Wait()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the end took %v", took)
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("status %d, want 1", code)
	}
	var r struct {
		Findings []struct {
			File       string
			Reproduced *int
		}
	}
	if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if len(r.Findings) == 0 {
		t.Fatal("no findings in the report")
	}
	pending := 0
	for _, f := range r.Findings {
		c, err := corpus.Load(f.File)
		if err != nil {
			t.Error(err)
			continue
		}
		rate, _ := c.Get("reproduced")
		if (f.Reproduced == nil) != (rate == "unconfirmed") {
			t.Errorf("%s: %q in the file, %v in the report", f.File, rate, f.Reproduced)
		}
		if f.Reproduced == nil {
			pending++
		}
	}
	if pending == 0 {
		t.Error("nothing was pending")
	}
}

// A duration is kept while findings are in hand.
func TestDurationIsKept(t *testing.T) {
	target := serverTarget(t)
	out := filepath.Join(t.TempDir(), "found")
	const asked = 8 * time.Second
	begun := time.Now()
	got := txnfuzz(t, "run", "--target", target, "--strict", "--seed", "1", "--duration", asked.String(), "--out", out, "--json", "-")
	took := time.Since(begun)
	r := decode[map[string]any](t, got.stdout)
	if len(r["findings"].([]any)) == 0 || got.code != 1 {
		t.Errorf("status %d, %v", got.code, r["findings"])
	}
	if took < asked-2*time.Second || took > asked+4*time.Second { // two, and two for a busy machine
		t.Errorf("took %v, asked for %v", took, asked)
	}
}

// Two runs without a seed are two campaigns, and each says its seed first.
func TestRunDrawsItsSeed(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	seeds := map[string]bool{}
	for range 2 {
		got := txnfuzz(t, "run", "--target", target, "--cases", "4", "--workers", "1", "--reduce", "0", "--out", t.TempDir(), "--json", "-")
		first, _, _ := strings.Cut(got.stderr, "\n")
		seed, ok := strings.CutPrefix(first, "seed ")
		r := decode[struct{ Seed json.Number }](t, got.stdout)
		if !ok || seed != r.Seed.String() {
			t.Errorf("the first line is %q, the report's seed %s", first, r.Seed)
		}
		seeds[seed] = true
	}
	if len(seeds) != 2 {
		t.Errorf("seeds %v", seeds)
	}
}

// What a replay has found when it is ended is in its file, which is whole.
func TestReplayWritesAsItGoes(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	file := filepath.Join(t.TempDir(), "verdicts.json")
	cmd := command(t, "replay", "corpus/known", "--target", target, "--json", file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		if strings.Count(string(text), `"verdict"`) >= 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no results in the file")
		}
	}
	begun := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the end took %v", took)
	}
	if code := cmd.ProcessState.ExitCode(); code == 0 {
		t.Error("a replay that was cut off passes")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := decode[[]map[string]any](t, string(text))
	if len(list) < 3 {
		t.Errorf("%d results", len(list))
	}
	for _, r := range list {
		if r["file"] == "" || r["verdict"] == "" || r["runs"] != 1.0 {
			t.Errorf("a result is not whole: %v", r)
		}
	}
}
