//go:build !notidb

package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// reportKeys are the keys that the JSON of run must have.
var reportKeys = []string{
	"target", "server_version", "settings", "seconds", "cases", "cases_per_minute", "statements", "judged", "blocked",
	"deadlocks", "conflicting", "verdicts", "known", "unknown", "findings", "begun", "end", "series",
}

var findingKeys = []string{
	"id", "fingerprint", "kind", "level", "rules", "file", "statements", "reproduced", "first_seen_s",
}

var replayKeys = []string{"file", "target", "server_version", "level", "verdict", "kind", "rules", "expected", "actual"}

func wantKeys(t *testing.T, object map[string]any, keys []string) {
	t.Helper()
	for _, k := range keys {
		if _, ok := object[k]; !ok {
			t.Errorf("no key %q in %v", k, object)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "found")
	args := []string{"run", "--cases", "50", "--workers", "2", "--seed", "3", "--strict", "--levels", "RR", "--out", out, "--json", "-"}
	got := txnfuzz(t, args...)
	r := decode[map[string]any](t, got.stdout)
	wantKeys(t, r, reportKeys)
	if r["cases"] != 50.0 {
		t.Errorf("%v cases, want 50", r["cases"])
	}
	if j := r["judged"].(float64); j <= 0.5 || j > 1 {
		t.Errorf("judged %v of the statements", j)
	}
	sum := 0.0
	for _, name := range []string{"ok", "known", "violation", "unknown"} {
		sum += r["verdicts"].(map[string]any)[name].(float64)
	}
	if sum != 50 {
		t.Errorf("%v verdicts for 50 cases: %v", sum, r["verdicts"])
	}
	findings := r["findings"].([]any)
	wantCode := 0
	if len(findings) > 0 {
		wantCode = 1
	}
	if got.code != wantCode {
		t.Errorf("status %d with %d findings; standard error: %s", got.code, len(findings), got.stderr)
	}
	for _, f := range findings {
		f := f.(map[string]any)
		wantKeys(t, f, findingKeys)
		file := f["file"].(string)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, key := range []string{"target: embedded", "server_version: ", "level: REPEATABLE READ", "fingerprint: ", "expected: ", "actual: ", "reproduced: ", "input: seed 3, "} {
			if !strings.Contains(string(text), "\n-- "+key) && !strings.HasPrefix(string(text), "-- "+key) {
				t.Errorf("%s has no header line %q", file, key)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(out, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Equal settings make equal cases: what does not depend on time is the same.
func TestRunIsDeterministic(t *testing.T) {
	run := func() []any {
		got := txnfuzz(t, "run", "--cases", "60", "--workers", "2", "--seed", "11", "--reduce", "0", "--out", t.TempDir(), "--json", "-")
		r := decode[map[string]any](t, got.stdout)
		return []any{r["cases"], r["statements"], r["conflicting"]}
	}
	if a, b := run(), run(); !slices.Equal(a, b) {
		t.Errorf("cases, statements, conflicting: %v, then %v", a, b)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "verdicts.json")
	got := txnfuzz(t, "replay", "corpus/known/tidb-33315.sql", "corpus/known/mysql-113228.sql", "--levels", "RC,RR,SER", "--json", out)
	if got.code != 0 {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	list := decode[[]map[string]any](t, string(text))
	var verdicts []string
	for _, r := range list {
		wantKeys(t, r, replayKeys)
		verdicts = append(verdicts, r["level"].(string)+" "+r["verdict"].(string))
	}
	want := []string{"RC ok", "RR known", "SER unknown", "RC ok", "RR known", "SER unknown"}
	if !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %q, want %q", verdicts, want)
	}
	for _, part := range []string{"key-change-leaves-old-row", "unsupported", "corpus/known/mysql-113228.sql", "(1,3) (2,2) (3,3)"} {
		if !strings.Contains(got.stdout, part) {
			t.Errorf("no %q in the table:\n%s", part, got.stdout)
		}
	}
}

// A replay in which nothing could be judged must not look like a pass.
func TestReplayJudgesNothing(t *testing.T) {
	t.Parallel()
	broken := writeFile(t, "broken.sql", "/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1, 2);\n/* tx1 */ SELECT * FROM t;\n")
	got := txnfuzz(t, "replay", broken, "--levels", "RC", "--json", "-")
	if got.code != 3 {
		t.Errorf("status %d, want 3", got.code)
	}
	list := decode[[]map[string]any](t, got.stdout)
	if len(list) != 1 || list[0]["verdict"] != "unknown" || !strings.Contains(list[0]["actual"].(string), "Column count doesn't match") {
		t.Errorf("want one unknown with the server's message: %v", list)
	}
	if !strings.Contains(got.stderr, "set-up failed") {
		t.Errorf("no word of the set-up: %s", got.stderr)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	got := txnfuzz(t, "show", "corpus/known/mysql-113228.sql", "--levels", "RR")
	if got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	for _, part := range []string{"tx1 (RR)", "│ expected ", "2 matched, 2 changed", "verdict: known key-change-leaves-old-row", "because:", "versions of each row at step"} {
		if !strings.Contains(got.stdout, part) {
			t.Errorf("no %q in:\n%s", part, got.stdout)
		}
	}
}

func TestReduce(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "small.sql")
	got := txnfuzz(t, "reduce", "corpus/known/tidb-33315.sql", "--out", out)
	if got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	small, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	again := txnfuzz(t, "replay", out, "--json", "-")
	list := decode[[]map[string]any](t, again.stdout)
	if len(list) != 1 || list[0]["verdict"] != "known" {
		t.Errorf("the reduced case shows %v:\n%s", list, small)
	}
}

func TestLevelNotOffered(t *testing.T) {
	t.Parallel()
	got := txnfuzz(t, "run", "--levels", "SER", "--cases", "1", "--out", t.TempDir())
	if got.code != 2 || !strings.Contains(got.stderr, "target embedded has no level SER; it has RC, RR") {
		t.Errorf("status %d, want 2: %s", got.code, got.stderr)
	}
}

// An interrupted run ends soon, with its summary.
func TestInterrupt(t *testing.T) {
	out := t.TempDir()
	cmd := command(t, "run", "--out", out, "--reduce", "0", "--json", "-")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		// A worker makes its file before the campaign has begun, and an interrupt
		// of the set-up has no summary: some case must be in one.
		for range time.Tick(time.Millisecond) {
			if caseInFlight(out) || t.Context().Err() != nil {
				_ = cmd.Process.Signal(syscall.SIGINT)
				return
			}
		}
	}()
	var r map[string]any
	if err := json.NewDecoder(stdout).Decode(&r); err != nil {
		t.Errorf("no summary: %v", err)
	}
	wantKeys(t, r, reportKeys)
	_ = cmd.Wait() // the status depends on what was found until then
	verdicts, _ := r["verdicts"].(map[string]any)
	judged := false
	for _, name := range []string{"ok", "known", "violation"} {
		n, _ := verdicts[name].(float64)
		judged = judged || n > 0
	}
	// An interrupt before the first verdict is a failure, never a pass.
	if code := cmd.ProcessState.ExitCode(); judged && code != 0 && code != 1 || !judged && code != 3 {
		t.Errorf("status %d, verdicts %v", code, verdicts)
	}
}

// caseInFlight tells whether a case of the campaign that writes to out is running.
func caseInFlight(out string) bool {
	files, _ := filepath.Glob(filepath.Join(out, ".inflight-*", "*"))
	return slices.ContainsFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Size() > 0
	})
}

func TestServer(t *testing.T) {
	serving(t, func(dsn string) { replayOK(t, dsn) })
}

// By its port the server lets in who has the password, and nobody else.
func TestServerByPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	serving(t, func(dsn string) {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil || cfg.Net != "tcp" || cfg.Addr != "127.0.0.1:"+port || len(cfg.Passwd) < 20 {
			t.Fatalf("the data source name is %q, %v", dsn, err)
		}
		replayOK(t, dsn)
		for _, who := range [][2]string{{"root", ""}, {cfg.User, ""}, {cfg.User, "wrong"}} {
			other := cfg.Clone()
			other.User, other.Passwd = who[0], who[1]
			db, err := sql.Open("mysql", other.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			var refused *mysql.MySQLError
			if err := db.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
				t.Errorf("%s with the password %q: %v", who[0], who[1], err)
			}
			db.Close()
		}
	}, "--port", port)
}

// serving starts the embedded server, hands over the data source name that it prints,
// and ends it.
func serving(t *testing.T, use func(dsn string), args ...string) {
	t.Helper()
	cmd := command(t, append([]string{"server", "embedded"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dsn, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	use(strings.TrimSpace(dsn))
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server's end: %v", err)
	}
}

// replayOK replays a case that shows nothing.
func replayOK(t *testing.T, dsn string) {
	t.Helper()
	got := txnfuzz(t, "replay", "corpus/known/base-G-single.sql", "--levels", "RC", "--target", dsn, "--json", "-")
	if list := decode[[]map[string]any](t, got.stdout); len(list) != 1 || list[0]["verdict"] != "ok" {
		t.Errorf("replay: %v %s", list, got.stderr)
	}
}

// Each format has what tells it from the others; the numbers of steps and the
// wrong answer are the same in all.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for format, parts := range map[string][]string{
		"markdown":        {"| step | tx1 | tx2 | result |", "## What is expected", "REPEATABLE READ"},
		"two-terminals":   {"; -- tx1, step ", "; -- tx2, step ", ", expected "},
		"mtr":             {"--connect (con2,localhost,root,,)", "--sorted_result", "--disconnect con1"},
		"isolationtester": {"session s1", "permutation s"},
		"go":              {"package anomaly", "const decided = true", "github.com/go-sql-driver/mysql"},
		"json":            {`"verdict": "known"`, `"key-change-leaves-old-row"`, `"promised_final"`},
	} {
		out := filepath.Join(dir, "export")
		got := txnfuzz(t, "export", "corpus/known/tidb-33315.sql", "--level", "RR", "--format", format, "--out", out)
		if got.code != 0 {
			t.Fatalf("%s: status %d: %s", format, got.code, got.stderr)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s: no %q in\n%s", format, part, text)
			}
		}
	}
	if result, err := os.ReadFile(filepath.Join(dir, "export.result")); err != nil || !strings.Contains(string(result), "affected rows: ") {
		t.Errorf("the result beside the test: %v\n%s", err, result)
	}
	if got := txnfuzz(t, "export", "corpus/known/tidb-33315.sql", "--format", "pdf"); got.code != 2 || !strings.Contains(got.stderr, "markdown") {
		t.Errorf("an unknown format: status %d, %s", got.code, got.stderr)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	html, svg := filepath.Join(dir, "page.html"), filepath.Join(dir, "case.svg")
	// A stored case that nothing was recorded for is listed with its text.
	got := txnfuzz(t, "report", "corpus/found", "--html", html)
	if got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"known/no-op-update-unseen/RR", "txnfuzz replay corpus/found/tidb-no-op-update-unseen.sql --target embedded", "reproduced 10/10"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("no %q in the page", part)
		}
	}
	got = txnfuzz(t, "report", "corpus/found/tidb-no-op-update-unseen.sql", "--target", "embedded", "--html", html, "--svg", svg)
	if got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	for file, parts := range map[string][]string{html: {"What happened", "Versions of each row", `class="m differs"`}, svg: {"<svg", "<circle", "expected: (1)"}} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("no %q in %s", part, file)
			}
		}
	}
	if got := txnfuzz(t, "report", "corpus/found", "--svg", svg); got.code != 2 {
		t.Errorf("a drawing of many cases: status %d", got.code)
	}
	if got := txnfuzz(t, "report", "corpus/found"); got.code != 2 {
		t.Errorf("no output asked for: status %d", got.code)
	}
}
