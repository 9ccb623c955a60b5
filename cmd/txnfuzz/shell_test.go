package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// The case of MDEV-27992 as a person types it: the DELETE waits for a row whose
// key moves behind it.
var typed27992 = []string{
	"level RC",
	"CREATE TABLE t(c1 INT PRIMARY KEY);",
	"INSERT INTO t(c1) VALUES (8);",
	"1> BEGIN",
	"2> BEGIN",
	"1> UPDATE t SET c1 = 5",
	"2> DELETE FROM t",
	"1> UPDATE t SET c1 = 3",
	"COMMIT",
	"2> SELECT * FROM t FOR UPDATE",
	"COMMIT",
}

// shellTargets are those to be had here on which MDEV-27992 is typed in, with
// the verdict at READ COMMITTED: MariaDB shows it; TiDB does not.
func shellTargets(t *testing.T) map[string]string {
	t.Helper()
	installed := target.Installed(t.Context())
	out := map[string]string{}
	for name, verdict := range map[string]string{"mariadb:11.8": "known moved-row", "mariadb:10.5": "known moved-row", target.Default: "ok"} {
		if slices.Contains(installed, name) {
			out[name] = verdict
		}
	}
	if len(out) == 0 {
		t.Skip("nothing to type into: this build has no embedded TiDB, and no MariaDB is installed")
	}
	return out
}

// piped runs the shell on a text.
func piped(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	cmd := command(t, append([]string{"shell"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// inOrder reports which of some texts do not follow each other in another.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, behind, ok := strings.Cut(rest, p)
		if !ok {
			t.Errorf("no %q behind the others in:\n%s", p, text)
			return
		}
		rest = behind
	}
}

func TestShellUnderAPipe(t *testing.T) {
	t.Parallel()
	for target, verdict := range shellTargets(t) {
		t.Run(target, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mdev-27992.sql")
			got := piped(t, strings.Join(append(slices.Clone(typed27992), "check", "save "+file, "quit", "not read"), "\n"), target)
			if got.code != 0 {
				t.Errorf("status %d: %s", got.code, got.stderr)
			}
			inOrder(t, got.stdout, "init> CREATE TABLE", "ok\n", "init> 1> BEGIN\ntx1: ok\n", "1> 2> BEGIN\ntx2: ok\n", "tx1: 1 matched, 1 changed\n",
				"1> 2> DELETE FROM t\ntx2: blocked by 1\n", "2> 1> UPDATE", "1> COMMIT\ntx1: ok\ntx2: resumed: ", "verdict: "+verdict+"\n", "saved "+file+"\n")
			replayed := txnfuzz(t, "replay", file, "--target", target)
			if want, _, _ := strings.Cut(verdict, " "); replayed.code != 0 || !strings.Contains(replayed.stdout, "│ RC    │ "+want) {
				t.Errorf("replayed, status %d:\n%s%s", replayed.code, replayed.stdout, replayed.stderr)
			}
			saved, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			inOrder(t, string(saved), "-- source: txnfuzz shell\n", "-- target: "+target+"\n", "-- level: READ COMMITTED\n", "/* tx2 */ DELETE FROM t; -- blocked; ")
		})
	}
}

// Lines that cannot be used are told, leave the rest as it was, and fail a
// script.
func TestShellRefuses(t *testing.T) {
	t.Parallel()
	var target string
	for name := range shellTargets(t) {
		target = max(target, name)
	}
	exists := writeFile(t, "exists.sql", "")
	missing := filepath.Join(t.TempDir(), "no", "such", "folder")
	if err := os.WriteFile(filepath.Dir(filepath.Dir(filepath.Dir(missing)))+"/no", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"SELEC 1", `error: column 1: syntax error near "SELEC 1"`,
		"check", "error: no session has done anything",
		"save " + exists, "error: no session has done anything",
		"level", `error: unknown isolation level ""`,
		"level 7", `error: unknown isolation level "7"`,
		"tx12> BEGIN", "error: sessions are 1 to 9, and init",
		"SET GLOBAL max_connections = 1", "error: refused to run",
		"INSERT INTO nowhere VALUES (1)", "error: 1146 (42S02)",
		"CREATE TABLE t (a INT PRIMARY KEY)", "ok",
		"INSERT INTO t VALUES (1)", "ok",
		"1> SELECT * FROM mysql.user", "error: refused to run",
		"1> BEGIN", "tx1: ok",
		"init> INSERT INTO t VALUES (2)", "error: set-up ends with the first statement of a session",
		"level RC", "error: levels are settled",
		"1> INSERT INTO t VALUES (1)", "tx1: error 1062",
		"UPDATE t SET a = 2", "tx1: 1 matched, 1 changed",
		"2> DELETE FROM t", "tx2: blocked by 1",
		"2> BEGIN", "tx2: waits its turn, as its session is blocked",
		"check", "error: a statement still waits, so there is no whole history: end the transaction that blocks tx2 first",
		"save " + exists, "error: " + exists + " exists",
		"save " + missing, "error: save case",
		"save", "error: save where? save FILE",
		"show", "/* tx2 */ DELETE FROM t;\n/* tx2 */ BEGIN;\n",
		"reset", "",
		"CREATE TABLE t (a INT)", "ok",
		"3> INSERT INTO t VALUES (1)", "tx3: 1 affected",
		"check", "verdict: ok",
		"2> BEGIN", "tx2: ok",
		"2> DELETE FROM t", "tx2: 1 affected",
		"1> DELETE FROM t", "tx1: blocked by 2",
	}
	var input strings.Builder
	var want []string
	for i := 0; i < len(lines); i += 2 {
		input.WriteString(lines[i] + "\n")
		want = append(want, "> "+lines[i]+"\n", lines[i+1])
	}
	got := piped(t, input.String(), target)
	if got.code != 2 || !strings.Contains(got.stderr, "15 lines could not be used") {
		t.Errorf("status %d, want 2: %s", got.code, got.stderr)
	}
	inOrder(t, got.stdout, append(want, "tx1: still blocked at the end\n")...)
}

func TestShellUsage(t *testing.T) {
	for args, want := range map[string]string{
		"a b": "want one target at most", "a --target b": "want one target at most", "--target oracle:23": `unknown target "oracle:23"`, "--level 7": `unknown isolation level "7"`, "--levels RC,RR": `unknown isolation level "RC,RR"`, "oracle:23": `unknown target "oracle:23"`,
	} {
		got := piped(t, "", strings.Fields(args)...)
		if got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: status %d, %s", args, got.code, got.stderr)
		}
	}
}

// A check tells what replay would tell of the case when it is saved.
func TestShellCheckTellsLimits(t *testing.T) {
	t.Parallel()
	for target := range shellTargets(t) {
		t.Run(target, func(t *testing.T) {
			for sql, want := range map[string]string{
				"SELECT b FROM t":         "verdict: unknown stale\n  because:  a statement does not fit the tables: step 1, tx1: SELECT b FROM t: error 1054",
				"SELECT SHA1(a) FROM t":   "verdict: unknown unsupported\n  because:  the oracle does not know this SQL: function SHA1; at step 1, tx1: SELECT SHA1(a) FROM t\n",
				"SELECT a FROM t LIMIT 1": "verdict: ok\n",
			} {
				got := piped(t, "CREATE TABLE t (a INT)\n1> "+sql+"\ncheck\n", target)
				if got.code != 0 {
					t.Errorf("%s: status %d: %s", sql, got.code, got.stderr)
				}
				inOrder(t, got.stdout, "1> check\n", want)
			}
		})
	}
}
