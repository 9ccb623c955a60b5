package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Cases with levels of their own do not run at those asked for, and the command
// says so, once. Single cases and the matrix compare with the header alike, and
// --fail-on new counts what is worse than recorded.
func TestReplayTellsWhatDiffers(t *testing.T) {
	t.Parallel()
	var target string
	for name := range shellTargets(t) {
		target = max(target, name)
	}
	const steps = "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n"
	own := writeFile(t, "own.sql", "-- level: READ COMMITTED\n"+steps)
	free := writeFile(t, "free.sql", steps)
	wrong := writeFile(t, "wrong.sql", "-- verdict ("+strings.ReplaceAll(target, ":", " ")+", RC): known moved-row\n"+steps)
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // parts
		not            string // no part of standard error
	}{
		{"replay --levels RR " + own + " " + free, 0, "", "--levels does not apply to what has levels in its header (edit that line to change them): " + own + " (RC)\n", free},
		{"replay --levels RC " + own, 0, "", "", "does not apply"},
		{"replay --level RC,RR " + own, 0, "", "change them): " + own + " (RC)\n", ""},
		{"show --levels RR " + own, 0, "", "change them): " + own + " (RC)\n", ""},
		{"export --levels RC " + free, 3, "", "nothing to report: " + free + " is ok here", ""},
		{"export --format two-terminals --levels RR " + own, 0, "", "change them): " + own + " (RC)\n", ""},
		{"export --format bugs.mysql --levels RC " + free, 2, "", "bugs.mysql.com takes reports of MySQL only", ""},
		{"replay --levels RC --fail-on new " + wrong, 0, "│ ok*     │", "", ""},
		{"replay --levels RC " + wrong, 0, "* other than recorded at RC: known moved-row\n", "", ""},
		{"show --levels RC " + wrong, 0, "verdict: ok (recorded: known moved-row)\n", "", ""},
		{"replay --levels RC " + wrong + " " + free, 0, "; 1 other than recorded", "", ""},
	} {
		got := txnfuzz(t, append(strings.Fields(x.args), "--target", target)...)
		if got.code != x.code || !strings.Contains(got.stdout, x.stdout) || !strings.Contains(got.stderr, x.stderr) || x.not != "" && strings.Contains(got.stderr, x.not) {
			t.Errorf("%s: status %d\n%s\n%s", x.args, got.code, got.stdout, got.stderr)
		}
		if strings.Count(got.stderr, "--levels does not apply") > 1 {
			t.Errorf("%s: told twice: %s", x.args, got.stderr)
		}
	}
	// What was ok is a known deviation now.
	if target == "embedded" {
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mdev-27992.sql")
	piped(t, strings.Join(append(typed27992, "save "+file), "\n"), target)
	worse := writeFile(t, "worse.sql", "-- verdict ("+strings.ReplaceAll(target, ":", " ")+", RC): ok\n"+readFile(t, file))
	for failOn, code := range map[string]int{"any": 0, "new": 1, "none": 0} {
		got := txnfuzz(t, "replay", worse, "--target", target, "--fail-on", failOn)
		if got.code != code || !strings.Contains(got.stdout, "│ known*  │") || !strings.Contains(got.stdout, "* other than recorded at RC: ok\n") {
			t.Errorf("--fail-on %s: status %d, want %d:\n%s%s", failOn, got.code, code, got.stdout, got.stderr)
		}
	}
}
