package findings

import (
	"context"
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
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
func Verify(ctx context.Context, t *target.Target, s corpus.Stored) ([]Verified, error) {
	var out []Verified
	for _, r := range Replay(ctx, t, s.Path, s.Case, t.Levels()) {
		if r.Reason == target.ReasonLevel {
			continue
		}
		v := Verified{Replayed: r}
		for {
			v.Runs++
			v.Now = VerdictText(&v.Trial.Verdict)
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

// Due says that a case must have a verdict on a target. A finding that a campaign has just saved records only that of
// its own, and so does a published case of which the header names a target, on the servers of other vendors. The older
// versions of PostgreSQL are there for bugs that were fixed: no other case need be recorded on them.
func Due(c *corpus.Case, target string) bool {
	if HasRecord(c, target) {
		return true
	}
	_, finding := c.Get(keyReproduced)
	return !finding && !past(target) && Meant(c, target)
}

// Meant says that a case can have a verdict on a target: it is not one of another vendor's server alone.
func Meant(c *corpus.Case, target string) bool {
	home, named := c.Get(KeyTarget)
	if _, finding := c.Get(keyReproduced); past(target) {
		return named && !finding && vendor(home) == vendor(target)
	}
	return !named || vendor(home) == vendor(target)
}

// newestPostgres is the target of PostgreSQL on which every case is recorded.
const newestPostgres = "postgres:18"

// past says that a target is an older version of PostgreSQL.
func past(target string) bool { return vendor(target) == "postgres" && target != newestPostgres }

// vendor is what a target's name begins with.
func vendor(target string) string {
	name, _, _ := strings.Cut(target, ":")
	return name
}
