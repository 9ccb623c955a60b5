package campaign

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
)

// Environment variables that bring the settings of the command line to
// `go test -fuzz`.
const (
	envTarget = "TXNFUZZ_TARGET"
	envLevels = "TXNFUZZ_LEVELS"
	envStrict = "TXNFUZZ_STRICT"
	envOut    = "TXNFUZZ_OUT"
	envTally  = "TXNFUZZ_TALLY"
	envFirsts = "TXNFUZZ_FIRSTS"
	envGoOn   = "TXNFUZZ_GO_ON"
)

// FromEnvironment fills in the settings that variables give.
func (s *Settings) FromEnvironment() error {
	if v := os.Getenv(envTarget); v != "" {
		s.Target = v
	}
	if v := os.Getenv(envOut); v != "" {
		s.Out = v
	}
	s.Tally, s.Firsts = os.Getenv(envTally), os.Getenv(envFirsts)
	levels, err := target.ParseLevels(os.Getenv(envLevels))
	if err != nil {
		return fmt.Errorf("%s: %w", envLevels, err)
	}
	if len(levels) > 0 {
		s.Levels = levels
	}
	for _, x := range []struct {
		name string
		set  *bool
	}{{envStrict, &s.Strict}, {envGoOn, &s.GoOn}} {
		switch v := os.Getenv(x.name); v {
		case "", "0", "false":
		case "1", "true":
			*x.set = true
		default:
			return fmt.Errorf("%s: want 1 or 0, found %q", x.name, v)
		}
	}
	return nil
}

// envPrefix begins the names of all variables that this project reads.
const envPrefix = "TXNFUZZ_"

// otherVariables are those that its parts, its scripts and its tests read beside
// the settings above.
var otherVariables = []string{
	target.EnvAllowKill, target.EnvPromise, target.EnvChild, target.EnvChildDir, harness.EnvBinary, "TXNFUZZ_WORKLOAD", "TXNFUZZ_PREFIX",
	"TXNFUZZ_DEBIAN_MIRROR", "TXNFUZZ_NPM_REGISTRY", "TXNFUZZ_REQUIRE_SERVERS", "TXNFUZZ_REQUIRE_BROWSER",
	"TXNFUZZ_REQUIRE_POSTGRES", "TXNFUZZ_AXE", "TXNFUZZ_SCREENSHOTS", "TXNFUZZ_BENCH_TARGET",
	"TXNFUZZ_POWER", "TXNFUZZ_POWER_TARGET", "TXNFUZZ_TOPOLOGIES", "TXNFUZZ_KILL_FOR", "TXNFUZZ_SNAPSHOTS", "TXNFUZZ_SNAPSHOTS_SEED", "TXNFUZZ_RECORDS",
}

// otherPrefixes begin the names that the action's inputs and the tests use.
var otherPrefixes = []string{"TXNFUZZ_ACTION_", "TXNFUZZ_TEST_"}

// StrangeVariables returns, of an environment in the form of os.Environ, what to
// tell of variables that bear this project's name and that nothing reads.
func StrangeVariables(environ []string) []string {
	known := append([]string{envTarget, envLevels, envStrict, envOut, envTally, envFirsts, envGoOn}, otherVariables...)
	var out []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if !ours(envPrefix) || slices.Contains(known, name) || slices.ContainsFunc(otherPrefixes, ours) {
			continue
		}
		out = append(out, fmt.Sprintf("environment variable %s is unknown%s", name, meantVariable(name, known)))
	}
	slices.Sort(out)
	return out
}

// meantVariable compares what follows the prefix, which all share.
func meantVariable(name string, known []string) string {
	var words []string
	for _, k := range known {
		words = append(words, strings.TrimPrefix(k, envPrefix))
	}
	near := spelling.Nearest(strings.TrimPrefix(name, envPrefix), words)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", envPrefix+near)
}
