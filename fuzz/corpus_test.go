package fuzz

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var update = flag.Bool("update", false, "record the verdicts of stored cases as they are now")

// TestCorpus runs every stored case, at every level, on every server to be had
// here (the embedded TiDB, and what scripts/servers has installed), and compares
// the verdicts with those that the headers record. TXNFUZZ_TARGET restricts it
// to one target.
//
// With -update it records the verdicts instead. Look at the difference before
// you commit it: a verdict changes because the oracle or the server does.
func TestCorpus(t *testing.T) {
	s := pairSettings(t)
	cases := storedCases(t)
	targets := withTopologies(cases, target.Installed(t.Context()))
	if os.Getenv("TXNFUZZ_TARGET") != "" {
		targets = []string{s.Target}
	}
	if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		demandRecorded(t, cases, targets)
	}
	versions, err := readVersions(fromRoot(versionsFile))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var runs atomic.Int64
	for _, name := range targets {
		if !*update && !recordedAnywhere(cases, name) {
			t.Logf("%s: no case records a verdict here; -update records them", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if !*update { // which writes the files of the cases
				t.Parallel()
			}
			runs.Add(int64(verifyOn(t, name, storedCases(t), versions)))
		})
	}
	t.Cleanup(func() {
		took := time.Since(begun)
		t.Logf("%d cases, %d targets, %d runs in %.1f s: %.0f a second, servers' starts included",
			len(cases), len(targets), runs.Load(), took.Seconds(), float64(runs.Load())/took.Seconds())
	})
	if *update {
		if err := writeVersions(fromRoot(versionsFile), versions); err != nil {
			t.Fatal(err)
		}
	}
}

// storedCases reads the published cases, the findings and the audit. Paths are relative to
// the root of the project, as people type them.
func storedCases(t *testing.T) []corpus.Stored {
	t.Helper()
	var out []corpus.Stored
	for _, dir := range []string{findings.KnownDir, findings.DefaultOut, findings.AuditDir} {
		stored, err := corpus.LoadCommitted(fromRoot(dir))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, s := range stored {
			rel, err := filepath.Rel("..", s.Path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(rel) == filepath.Clean(dir) { // not what lies in found/unreproduced
				out = append(out, corpus.Stored{Path: rel, Case: s.Case})
			}
		}
	}
	if len(out) < 20 {
		t.Fatalf("%d stored cases", len(out))
	}
	return out
}

// memberOf is the server that each node of a target is.
func memberOf(server string) string { return strings.Replace(server, "galera:", "mariadb:", 1) }

// withTopologies adds the primaries with a replica, and the clusters, that cases were found on, where their servers are
// installed.
func withTopologies(cases []corpus.Stored, installed []string) []string {
	out := slices.Clone(installed)
	for _, s := range cases {
		home := findings.Home(s.Case)
		server, _, _ := strings.Cut(home, ",")
		if target.OfSeveral(home) && slices.Contains(installed, memberOf(server)) && !slices.Contains(out, home) {
			out = append(out, home)
		}
	}
	return out
}

func recordedAnywhere(cases []corpus.Stored, target string) bool {
	return slices.ContainsFunc(cases, func(s corpus.Stored) bool {
		return slices.ContainsFunc(findings.RecordedCells(s.Case), func(c findings.Cell) bool { return c.Target == findings.HeaderTarget(target) })
	})
}

// optional are targets that not every machine has: a TiDB that is not the embedded one takes minutes to compile, and
// most older versions of PostgreSQL show the same bugs as oldPostgres. Only who has them compares.
func optional(target string) bool {
	return target == "tidb 2024-07" ||
		strings.HasPrefix(target, "postgres ") && target != "postgres 18" && target != oldPostgres
}

// oldPostgres is the older version that most of PostgreSQL's published bugs show on.
const oldPostgres = "postgres 15.1"

// demandRecorded fails where verdicts are recorded for a target that cannot be
// opened: on a machine that is to have all of them, nothing goes unnoticed.
func demandRecorded(t *testing.T, cases []corpus.Stored, targets []string) {
	t.Helper()
	missing := map[string]bool{}
	for _, s := range cases {
		for _, r := range findings.RecordedCells(s.Case) {
			if !optional(r.Target) && !slices.ContainsFunc(targets, func(name string) bool { return findings.HeaderTarget(name) == r.Target }) {
				missing[r.Target] = true
			}
		}
	}
	for _, name := range sortedKeys(missing) {
		t.Errorf("verdicts are recorded for %s, which is not installed (scripts/servers)", name)
	}
}

// verifyOn opens a target once for all cases and returns how many runs it took.
func verifyOn(t *testing.T, name string, cases []corpus.Stored, versions map[string]string) int {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	on, err := target.Open(ctx, name, target.Options{Clean: true})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() {
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}()
	runs := 0
	for _, s := range cases {
		if !findings.Steady(s.Case) || !findings.Due(s.Case, name) && !(*update && findings.Meant(s.Case, name)) {
			continue
		}
		if target.OfSeveral(name) && !findings.HasRecord(s.Case, name) {
			continue // its verdict is that of the primary alone, or no rule judges it
		}
		results, err := findings.Verify(ctx, on, s)
		if err != nil {
			t.Error(err)
			return runs
		}
		var cells []findings.Cell
		for i := range results {
			v := &results[i]
			runs += v.Runs
			if *update && !findings.Due(s.Case, name) && (v.NotRun() || noWords(v.Trial.History)) {
				continue
			}
			cells = append(cells, findings.Cell{Target: name, Level: v.Level, Verdict: v.Now})
			switch {
			case v.Unsteady():
				t.Logf("%s on %s at %s: %s in %d of %d runs, else %s", v.File, v.Target, v.Level, v.Recorded, v.Agreed, v.Runs, v.Now)
				cells[len(cells)-1].Verdict = v.Recorded
			case v.Changed() && !*update:
				t.Error(v.Explain(versions[name]))
			}
		}
		if *update {
			recordIn(t, fromRoot(s.Path), name, cells)
		}
	}
	if *update {
		versions[name] = on.Server().Version
	}
	return runs
}

// noWords says that an older version of a server does not know a statement of a case.
func noWords(h *history.History) bool {
	return slices.ContainsFunc(h.Stmts, func(s history.Stmt) bool { return s.Result.Err != nil && s.Result.Err.State == "42601" })
}

func recordIn(t *testing.T, path, target string, cells []findings.Cell) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, findings.Record(text, target, cells), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every stored case records its verdicts, whatever can be run here.
func TestCorpusIsRecorded(t *testing.T) {
	for _, s := range storedCases(t) {
		cells := findings.RecordedCells(s.Case)
		if len(cells) == 0 {
			t.Errorf("%s records no verdict; run: go test ./fuzz -run TestCorpus -update", s.Path)
		}
		seen := map[string]bool{}
		for _, c := range cells {
			if key := c.Target + " " + c.Level; seen[key] {
				t.Errorf("%s records two verdicts on %s at %s", s.Path, c.Target, c.Level)
			} else {
				seen[key] = true
			}
			if outcome, _, _ := strings.Cut(c.Verdict, " "); !slices.Contains([]string{"ok", "known", "violation", "unknown"}, outcome) {
				t.Errorf("%s records on %s at %s the verdict %q: want ok, known RULE, violation KIND or unknown REASON", s.Path, c.Target, c.Level, c.Verdict)
			}
		}
	}
}
