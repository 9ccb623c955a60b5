package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// emptyStore is an adapter in which every read finds nothing; oddStore one in which they find what nobody wrote, except
// right behind setup.
const (
	emptyStore = `adapter:while read x; do echo '{"ok":true,"value":null}'; done`
	oddStore   = `adapter:n=0; while read x; do a='{"ok":true,"value":null}'; case "$x" in *'"op":"setup"'*) n=16;; ` +
		`*'"op":"read"'*) if test $n = 0; then a='{"ok":true,"value":77}'; else n=$((n-1)); fi;; esac; echo "$a"; done`
)

func programOf(target, rate string) string {
	text := "target: " + target + "\nlevel: SER\nworkload: register\nmodel: serializable\nshows: unwritten-value\n"
	if rate != "" {
		text += "rate: " + rate + "\n"
	}
	return text + "client\n  begin\n  read 1\n  commit\n"
}

// TestReplayProgram: the exit status says whether a program showed its anomaly, surely did not, or nobody knows.
func TestReplayProgram(t *testing.T) {
	t.Parallel()
	const rate = "1 in 4.0 executions (25 of 100 in 1.0 s)"
	for _, c := range []struct {
		name, text string
		code       int
		want       string
	}{
		{"shows", programOf(oddStore, rate), exitFound, "shows unwritten-value after "},
		{"does not", programOf(emptyStore, rate), exitClean, "does not show unwritten-value in 19 executions"},
		{"shows another", strings.Replace(programOf(oddStore, rate), "shows: unwritten-value", "shows: lost-update", 1),
			exitFailure, "something else: 19 unwritten-value"},
		{"no server", programOf("adapter:exit 5", rate), exitFailure, "exit status 5"},
		{"bad", strings.Replace(programOf(oddStore, rate), "read 1", "raed 1", 1), exitUsage,
			`bad.load:9: "raed 1" is no statement`},
	} {
		file := writeFile(t, c.name+".load", c.text)
		for _, args := range [][]string{{"replay", file}, {"load", "--program", file}} {
			got := txnfuzz(t, args...)
			if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("%s: status %d, want %d; standard output %q, standard error %q", c.name, got.code, c.code, got.stdout,
					got.stderr)
			}
		}
	}
	file := writeFile(t, "x.load", programOf(oddStore, rate))
	got := txnfuzz(t, "replay", file, "--json", "-")
	all := decode[[]map[string]any](t, got.stdout)
	if got.code != exitFound || len(all) != 1 || all[0]["needed"] != 19.0 || all[0]["shows"] != "unwritten-value" {
		t.Errorf("%v", got)
	}
	if got := txnfuzz(t, "load", "--program", writeFile(t, "y.load", programOf(emptyStore, "")), "--duration",
		"300ms"); got.code != exitFailure ||
		!strings.Contains(got.stderr, "no rate is recorded") {
		t.Errorf("a program without a rate: %v", got)
	}
}

func TestProgramUsage(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "x.load", programOf(oddStore, ""))
	nameless := writeFile(t, "y.load", strings.Replace(programOf("x", ""), "target: x\n", "", 1))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", file, "corpus/known/maria-34108.sql"}, "replayed apart"},
		{[]string{"replay", file, "--levels", "RC"}, "--levels means nothing to a program"},
		{[]string{"replay", filepath.Join(t.TempDir(), "none.load")}, "no such file"},
		{[]string{"replay", nameless}, "names no target"},
		{[]string{"load", "--program", file, "--workload", "bank"}, "--workload means nothing to a program"},
		{[]string{"load", "--adapter", "true"}, "want --model or --promise"},
		{[]string{"load", "--adapter", "true", "--target", "mysql:9.7", "--model", "serializable"}, "exclude each other"},
		{[]string{"load", "--adapter", " ", "--model", "serializable"}, "want a command"},
		{[]string{"load", "--adapter", "", "--model", "serializable"}, "want a command"},
		{[]string{"load", "--adapter", "true", "--model", "serializable", "--workload", "queue"}, "needs SQL"},
		{[]string{"show", writeFile(t, "x.jsonl", "{}")}, "txnfuzz check "},
		{[]string{"load", "--adapter", "true", "--model", "serializable", "--workload", "predicate"}, "needs SQL"},
		{[]string{"load", "--adapter", "true", "--model", "serializable", "--program-time", "-1s"},
			"--program-time: want 0 or more"},
	} {
		if got := txnfuzz(t, c.args...); got.code != exitUsage || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%q: status %d, standard error %q, want %q", c.args, got.code, got.stderr, c.want)
		}
	}
}

// TestLoadAdapter: what an adapter does wrong is no finding, and what lies behind it is; of that a program is made,
// which repeats it.
func TestLoadAdapter(t *testing.T) {
	t.Parallel()
	found := t.TempDir()
	flags := []string{"--model", "serializable", "--workload", "register", "--clients", "2", "--duration", "500ms",
		"--found", found}
	if got := txnfuzz(t, append([]string{"load", "--adapter", "echo broken >&2; exit 4"},
		flags...)...); got.code != exitFailure ||
		!strings.Contains(got.stderr, "exit status 4") || !strings.Contains(got.stderr, "broken") {
		t.Errorf("%v", got)
	}
	got := txnfuzz(t, append([]string{"load", "--program-time", "2s", "--adapter", strings.TrimPrefix(oddStore,
		"adapter:")}, flags...)...)
	if got.code != exitFound || !strings.Contains(got.stdout, "FOUND unwritten") {
		t.Errorf("%v", got)
	}
	histories, err := filepath.Glob(filepath.Join(found, "*unwritten*.jsonl"))
	if err != nil || len(histories) != 1 {
		t.Fatalf("histories: %v, %v", histories, err)
	}
	if got := txnfuzz(t, "check", histories[0]); got.code != exitFound ||
		!strings.Contains(got.stdout, "\nunwritten-value, ") {
		t.Errorf("%v of %s", got, histories[0])
	}
	programs, err := filepath.Glob(filepath.Join(found, "*unwritten*.load"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("programs: %v, %v", programs, err)
	}
	if got := txnfuzz(t, "replay", programs[0]); got.code != exitFound {
		text, _ := os.ReadFile(programs[0])
		t.Errorf("%v of %s", got, text)
	}
}
