package fuzz

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var update = flag.Bool("update", false, "record the verdicts of stored cases as they are now")

// TestCorpus runs every stored case on TXNFUZZ_TARGET (default: the embedded
// TiDB) and compares its verdicts with those that its header records. Without
// a target it only checks that all cases have such records.
//
// Run it with -update to record the verdicts, and look at the difference: a
// verdict changes because the oracle or the server does.
func TestCorpus(t *testing.T) {
	s := pairSettings(t)
	known, err := corpus.LoadDir(fromRoot(KnownDir))
	if err != nil {
		t.Fatal(err)
	}
	if s.Target == "" {
		for _, k := range known {
			if len(recordedVerdicts(k.Case, DefaultTarget)) == 0 {
				t.Errorf("%s records no verdict on %s; run: go test ./fuzz -run TestCorpus -update", k.Path, DefaultTarget)
			}
		}
		return
	}
	found, err := os.ReadDir(fromRoot(DefaultOut))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	ctx := context.Background()
	target, err := OpenTarget(ctx, s.Target, TargetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, k := range known {
		replayStored(t, ctx, target, k.Path, k.Case, true)
	}
	for _, e := range found {
		if path := filepath.Join(fromRoot(DefaultOut), e.Name()); regularCase(e) {
			c, err := corpus.Load(path)
			if err != nil {
				t.Error(err)
				continue
			}
			// What shows only now and then is no regression test.
			if k, _ := c.Get(keyReproduced); k == reproducedText(reruns) {
				replayStored(t, ctx, target, path, c, false)
			}
		}
	}
}

func regularCase(e fs.DirEntry) bool {
	return e.Type().IsRegular() && filepath.Ext(e.Name()) == corpus.Ext && !strings.HasPrefix(e.Name(), ".")
}

// recordedVerdicts returns the verdict lines of a case for a target.
func recordedVerdicts(c *corpus.Case, target string) []corpus.Field {
	var out []corpus.Field
	prefix, _, _ := strings.Cut(verdictKey(target, "RC"), ", RC)")
	for _, f := range c.Header {
		if strings.HasPrefix(f.Key, prefix+",") {
			out = append(out, f)
		}
	}
	return out
}

// replayStored runs a case and compares or records its verdicts. Where a
// record is due, its absence is an error.
func replayStored(t *testing.T, ctx context.Context, target *Target, path string, c *corpus.Case, due bool) {
	t.Helper()
	if !due && len(recordedVerdicts(c, target.Name)) == 0 {
		return
	}
	results := target.Replay(ctx, path, c, target.Levels())
	if *update {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range results {
			text = setHeader(text, verdictKey(target.Name, results[i].Level), verdictText(&results[i].run.Verdict))
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i := range results {
		r := &results[i]
		now := verdictText(&r.run.Verdict)
		name := fmt.Sprintf("%s on %s at %s", path, r.Target, r.Level)
		switch r.Recorded {
		case now:
		case "":
			t.Errorf("%s: no verdict is recorded, and it is now: %s\n%s", name, now, howToRecord)
		default:
			t.Errorf("%s: the verdict has changed\n  recorded: %s\n  now:      %s\n  expected: %s\n  actual:   %s\n  because:  %s\n%s",
				name, r.Recorded, now, r.Expected, r.Actual, r.Reason, howToRecord)
		}
	}
}

// setHeader sets a header line in the text of a case and leaves the rest as its
// author wrote it, which printing the case would not.
func setHeader(text []byte, key, value string) []byte {
	lines := strings.Split(string(text), "\n")
	at := 0
	for at < len(lines) && strings.HasPrefix(lines[at], "--") {
		if strings.HasPrefix(lines[at], "-- "+key+":") {
			lines[at] = "-- " + key + ": " + value
			return []byte(strings.Join(lines, "\n"))
		}
		at++
	}
	lines = slices.Insert(lines, at, "-- "+key+": "+value)
	return []byte(strings.Join(lines, "\n"))
}

const howToRecord = `  If the change is right, record it: go test ./fuzz -run TestCorpus -update`
