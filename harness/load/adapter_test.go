package load_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// python returns the path of the interpreter: a command that finds it anew for each client may take seconds.
func python(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sqlite3, sys; print(sys.executable)").Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		t.Fatalf("python3 with sqlite3 is needed: %v", err)
	}
	t.Skipf("there is no python3 with sqlite3: %v", err)
	return ""
}

func adapterSettings(t testing.TB, workload string) load.Settings {
	s := settings(t, "adapter", workload, corpus.Serializable)
	s.Clients, s.Models, s.Duration = 2, []model.Model{model.Serializable}, time.Second/2
	return s
}

// TestAdapterOfSQLite: the example of the manual is an adapter for all workloads that need no SQL, and a bug that is
// planted in it is found.
func TestAdapterOfSQLite(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "docs", "adapters", "sqlite.py"))
	if err != nil {
		t.Fatal(err)
	}
	command := python(t) + " " + script + " " + filepath.Join(t.TempDir(), "test.db")
	for _, w := range []string{"append", "register", "mini", "bank"} {
		r := run(t, load.NewAdapter(command, corpus.Serializable), adapterSettings(t, w))
		if r.Found() || r.Problem() != nil {
			t.Errorf("%s: %v\n%s", w, r.Problem(), textOf(t, r))
		}
	}
	t.Setenv("STALE", "0.2")
	for _, w := range []string{"append", "register"} {
		s := adapterSettings(t, w)
		s.Duration, s.Transactions = 10*time.Second, 500
		if r := run(t, load.NewAdapter(command, corpus.Serializable), s); !r.Found() {
			t.Errorf("%s: reads from a stale copy are not found\n%s", w, textOf(t, r))
		}
	}
}

// TestAdapterFails: what goes wrong in an adapter ends the run, and is told with what it wrote to its standard error.
func TestAdapterFails(t *testing.T) {
	const ok = `echo '{"ok":true}'`
	for _, c := range []struct {
		name, command string
		want          []string
	}{
		{"no such command", "no-such-command-anywhere", []string{"exit status 127", "no-such-command-anywhere",
			`"op":"open"`}},
		{"it dies", "read x; " + ok + "; read x; " + ok + "; read x; echo the disk is gone >&2; exit 7",
			[]string{"exit status 7", "the disk is gone"}},
		{"garbage", "while read x; do echo hello; done", []string{`answers "hello", which is no answer`, "want {",
			"wrote nothing"}},
		{"two answers in one", `while read x; do echo '{"ok":true,"abort":"no"}'; done`, []string{"is no answer"}},
		{"an unknown field", `while read x; do echo '{"ok":true,"val":1}'; done`, []string{"is no answer"}},
		{"not ok", `while read x; do echo '{"ok":false}'; done`, []string{"is no answer"}},
		{"it says so", `while read x; do echo '{"error":"no table"}'; done`, []string{"answers that it failed: no table"}},
		{"it cannot set up", "read x; " + ok + `; read x; echo '{"abort":"in use"}'; cat`, []string{"cannot set up: in use"}},
		{"it hangs", "read x; " + ok + "; read x; " + ok + "; echo waiting >&2; sleep 60",
			[]string{"does not answer for 200ms", "flushed", "waiting"}},
		{"a read of nothing", "while read x; do " + ok + "; done", []string{`a read without a "value"`, `"op":"read-list"`}},
		{"a read of a text", `while read x; do case "$x" in *'"op":"read'*) echo '{"ok":true,"value":"5"}';; *) ` + ok +
			`;; esac; done`, []string{`answers "5" to a read of a list, which is no list of integers`}},
		{"it fails and says nothing", `while read x; do echo '{"error":""}'; done`, []string{"that it failed, and not why"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := adapterSettings(t, "append")
			s.Timeout, s.Duration = 200*time.Millisecond, 20*time.Second // setup and open have five seconds
			_, err := load.Run(t.Context(), load.NewAdapter(c.command, corpus.Serializable), s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

// TestAdapterAnswers: an abort is one wherever it comes, and what the adapter does not know nobody does.
func TestAdapterAnswers(t *testing.T) {
	// Reads find nothing, and what is appended is refused. Of the commits every second one is unknown.
	const adapter = `n=0; while read x; do case "$x" in
*'"op":"append'*) echo '{"abort":"txn 17 is too old"}';;
*commit*) n=$((1-n)); if test $n = 0; then echo '{"unknown":"wire 3 is cut"}'; else echo '{"ok":true}'; fi;;
*) echo '{"ok":true,"value":null}';; esac; done`
	s := adapterSettings(t, "append")
	s.Transactions, s.Duration, s.Epoch = 100, 10*time.Second, 100
	r := run(t, load.NewAdapter(adapter, corpus.Serializable), s)
	if r.Found() || r.OK == 0 || r.Aborts["aborted: txn ## is too old"] == 0 {
		t.Errorf("%s", textOf(t, r))
	}
	if r.Info == 0 || r.Aborts["unknown: wire # is cut"] != r.Info {
		t.Errorf("%d unknown\n%s", r.Info, textOf(t, r))
	}
}

// TestAdapterSettings: what cannot be is refused before anything is started.
func TestAdapterSettings(t *testing.T) {
	for _, c := range []struct {
		change func(*load.Settings)
		want   string
	}{
		{func(s *load.Settings) { s.Workload = "predicate" }, "needs SQL"},
		{func(s *load.Settings) { s.Workload = "queue" }, "needs SQL"},
		{func(s *load.Settings) { s.Models = nil }, "want --model or --promise"},
		{func(s *load.Settings) { s.Models, s.Declared, s.Workload = nil, "statement", "bank" }, "another workload"},
		{func(s *load.Settings) { s.Faults = []load.FaultKind{load.Kill} }, "--fault"},
	} {
		s := adapterSettings(t, "append")
		c.change(&s)
		if _, err := load.Run(t.Context(), load.NewAdapter("exit 9", corpus.Serializable), s); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
