package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// verifyRuns is how often a verdict that differs is taken before it is
// believed: sessions may race for one lock, and then a case has more than one
// outcome.
const verifyRuns = 3

// Verified compares what a stored case does on a target at one level with what
// its header records.
type Verified struct {
	Replayed
	// Now is the verdict of the last run, as a header line would record it.
	Now string
	// Runs is how often the case ran, Agreed how often the verdict was the
	// recorded one.
	Runs, Agreed int
}

// Changed says that no run had the recorded verdict; a case without a record is
// changed, too.
func (v *Verified) Changed() bool { return v.Agreed == 0 }

// Unsteady says that some runs had the recorded verdict and some another.
func (v *Verified) Unsteady() bool { return v.Agreed > 0 && v.Agreed < v.Runs }

// Explain tells a person what is wrong with a changed verdict, and what to do.
// recordedOn is the server's version when the record was made, if it is known.
func (v *Verified) Explain(recordedOn string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s at %s: ", v.File, v.Target, v.Level)
	if v.Recorded == "" {
		fmt.Fprintf(&b, "the file records no verdict for this server and level\n")
	} else {
		fmt.Fprintf(&b, "the verdict is not the one that the file records\n")
		fmt.Fprintf(&b, "  recorded: %s\n", v.Recorded)
	}
	fmt.Fprintf(&b, "  now:      %s (%d of %d runs)\n", v.Now, v.Runs-v.Agreed, v.Runs)
	if v.Verdict != oracle.OK {
		for _, line := range [][2]string{{"expected: ", v.Expected}, {"actual:   ", v.Actual}, {"because:  ", v.Reason}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "  %s%s\n", line[0], line[1])
			}
		}
	}
	server := v.ServerVersion
	if recordedOn != "" && recordedOn != server {
		server += ", recorded on " + recordedOn
	}
	fmt.Fprintf(&b, "  server:   %s\n", server)
	fmt.Fprintf(&b, "  look:     go run ./cmd/txnfuzz show %s --target '%s'%s\n", v.File, v.Target, v.LevelsFlag())
	fmt.Fprintf(&b, "  accept:   go test ./fuzz -run TestCorpus -update")
	return b.String()
}

// LevelsFlag is the part of a command that runs the case at this level again.
// Levels that differ between sessions can only come from the case's own header.
func (r *Replayed) LevelsFlag() string {
	if strings.Contains(r.Level, "=") {
		return ""
	}
	return " --levels " + r.Level
}

// Verify runs a stored case on a target at every level that the two have. Levels
// that the target does not know are left out.
func Verify(ctx context.Context, t *Target, s corpus.Stored) ([]Verified, error) {
	var out []Verified
	for _, r := range Replay(ctx, t, s.Path, s.Case, t.Levels()) {
		if r.Reason == ReasonLevel {
			continue
		}
		v := Verified{Replayed: r}
		for {
			v.Runs++
			v.Now = verdictText(&v.Trial.Verdict)
			if v.Now == v.Recorded {
				v.Agreed++
			}
			if v.Runs == 1 && v.Agreed == 1 || v.Runs == verifyRuns {
				break
			}
			v.Replayed = replayAt(ctx, t, s.Path, s.Case, r.Trial.Levels)
		}
		if v.Trial.Dead != nil {
			return out, fmt.Errorf("verify %s at %s: %w", s.Path, v.Level, v.Trial.Dead)
		}
		out = append(out, v)
	}
	return out, ctx.Err()
}

// Steady says that a stored case is a regression test: a published one, or a
// finding that showed each time.
func Steady(c *corpus.Case) bool {
	k, finding := c.Get(keyReproduced)
	return !finding || k == Rate(reruns).String()
}

// Due says that a case must have a verdict on every target. A finding that a
// campaign has just saved records only that of its own.
func Due(c *corpus.Case, target string) bool {
	_, finding := c.Get(keyReproduced)
	return !finding || len(recordedOn(c, target)) > 0
}

// versionsFile names, beside the folders of cases, the file that tells on which
// version of each target the verdicts were recorded.
const versionsFile = "corpus/recorded-on.txt"

const versionsHeader = `# The version of each target when its verdicts were last recorded in the headers
# of the cases (go test ./fuzz -run TestCorpus -update).
`

// readVersions reads that file: lines of a target, a tab and a version.
func readVersions(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read recorded versions: %w", err)
	}
	out := map[string]string{}
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		if target, version, ok := strings.Cut(sc.Text(), "\t"); ok && !strings.HasPrefix(target, "#") {
			out[target] = version
		}
	}
	return out, nil
}

func writeVersions(path string, versions map[string]string) error {
	var b strings.Builder
	b.WriteString(versionsHeader)
	for _, t := range sortedKeys(versions) {
		fmt.Fprintf(&b, "%s\t%s\n", t, versions[t])
	}
	return wholefile.Write(path, []byte(b.String()))
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
