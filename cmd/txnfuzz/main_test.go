package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected help texts")

// envMain makes the test binary the command itself, so that tests run the very
// thing, with exit status and processes, without a build of their own.
const envMain = "TXNFUZZ_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type outcome struct {
	stdout, stderr string
	code           int
}

// txnfuzz runs the command line in the root of the project.
func txnfuzz(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("txnfuzz %s: %v", strings.Join(args, " "), err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), envMain+"=1")
	cmd.Dir = filepath.Join("..", "..")
	return cmd
}

// writeFile makes a file of a test and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// seedLine is what run says before all else where it draws a seed.
var seedLine = regexp.MustCompile(`\Aseed \d+\n`)

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	malformed := writeFile(t, "malformed.sql", "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELEC 1;\n")
	misspelt := writeFile(t, "misspelt.sql", "-- levl: RR\n/* tx1 */ SELECT 1;\n")
	baseline := writeFile(t, "baseline", "# comment\nwrong-read/RR | reason | link\n")
	const dsn = "root:hush@tcp(localhost:1"
	for _, c := range []struct {
		args string
		want string // part of standard error
	}{
		{"", "no command"},
		{"run --target mariadb --against embedded --cases 1", "make it the --target"},
		{"run --target mariadb --against mariadbb --cases 1", "unknown target"},
		{"run --target mariadb --against mysql --resume --corpus x", "--resume and --against exclude each other"},
		{"replay corpus/known/maria-34108.sql --target mariadb --against oracle", "unknown target"},
		{"rnu", `unknown command or argument "rnu" (did you mean "run"?)`},
		{"corpus verfiy", `"verfiy" (did you mean "verify"?)`},
		{"run --levles RC", `unknown flag: --levles (did you mean "--levels"?)`},
		{"run --target embeded", `unknown target "embeded" (did you mean "embedded"?)`},
		{"run --target mraiadb:11.8,snapshot=off", ` (did you mean "mariadb:11.8,snapshot=off"?)`},
		{"run --target mysql-9.7", ` (did you mean "mysql:9.7"?)`},
		{"run --level RX", `--levels: unknown isolation level "RX"`},
		{"show --level RX corpus/known/tidb-33315.sql", `--levels: unknown isolation level "RX"`},
		{"export --level RX corpus/known/tidb-33315.sql", `--levels: unknown isolation level "RX"`},
		{"export --format makrdown corpus/known/tidb-33315.sql", `unknown format "makrdown" (did you mean "markdown"?); want one of`},
		{"run --cases many", "invalid argument"},
		{"run --cases -1", "--cases: want 0 or more"},
		{"run --duration -1s", "--duration: want 0 or more"},
		{"run --cases 1 --duration 1s", "exclude each other"},
		{"run --workers 0", "--workers: want 1 or more"},
		{"run --levels RC,RX", `unknown isolation level "RX"`},
		{"run --conflict fancy", `unknown conflict strategy "fancy"`},
		{"run --fail-on maybe", `--fail-on: unknown choice "maybe": want new, any or none`},
		{"run --json - --junit -", "only one of --json, --junit and --sarif"},
		{"replay --fail-on maybe corpus/known", `--fail-on: unknown choice "maybe"`},
		{"run --resume", "--resume: want --corpus"},
		{"run --duration 1h --json no/such/run.json", "no/such/run.json: there is no folder no/such"},
		{"report --html x.html", "want a folder or files of cases, or --runs DIR"},
		{"report --runs docs", "want --html FILE"},
		{"report --runs docs corpus/known --html x.html", "cases and --runs exclude each other"},
		{"report --runs docs --html x.html --target mariadb", "it excludes --svg and --target"},
		{"report --runs no/such --html x.html", "--runs: read runs: stat no/such"},
		{"report --runs docs/schema --html x.html", "there is no JSON file of a run in docs/schema"},
		{"report --runs docs --html no/such/x.html", "there is no folder no/such"},
		{"replay --html no/such/m.html corpus/known", "no/such/m.html: there is no folder no/such"},
		{"run --frobnicate", "unknown flag: --frobnicate"},
		{"run --target oracle:23", `unknown target "oracle:23"`},
		{"run --target mariadb:11.8,foo", `option "foo" of target mariadb:11.8: want key=value`},
		{"run --target mariadb:11.8,snapshot=maybe", "option snapshot=maybe: want one of off, on"},
		{"run --target mysql:9.7,snapshot=on", "option snapshot exists for mariadb only"},
		{"replay --target mariadb:11.8,foo corpus/known/tidb-33315.sql", `option "foo" of target mariadb:11.8`},
		{"server mariadb:11.8,port=1", "option port cannot be set"},
		{"run --server-opt sql_mode=", "--server-opt sql_mode=: only private servers take it; name one"},
		{"run --target mariadb:11.8 --server-opt snapshot", "--server-opt snapshot: want NAME=VALUE"},
		{"run --target mariadb:11.8 --server-opt sql_mode=A,b=c", "behind a comma, '='"},
		{"run --target mariadb:11.8 --server-opt port=1", "option port cannot be set"},
		{"run --target mysql:9.7 --server-opt snapshot=on", "option snapshot exists for mariadb only"},
		{"run --server-opt a=b --target " + dsn + ")/", "the server behind a DSN is not ours to configure"},
		{"replay --target mariadb:11.8 --target all --server-opt a=b corpus/known", "name the private servers that take it, not all"},
		{"server --server-opt a=b", "want one target"},
		{"run extra", `"extra"`},
		{"run --target " + dsn + "/", "malformed DSN"},
		{"run --target mariadb --baseline " + baseline, baseline + ":2: want `fingerprint | reason | link | expires`"},
		{"replay", "want a file or a folder"},
		{"bisect", "want one file"},
		{"bisect corpus/known/tidb-33315.sql --builds docs", "no postgres, mysqld, mariadbd, tidb-server is below it"},
		{"replay no/such/file.sql", "no/such/file.sql"},
		{"replay --target nothing " + malformed, malformed + ":2:11:"},
		{"replay --target nothing corpus/known", `unknown target "nothing"`},
		{"replay mutate", "mutate holds no case"},
		{"replay --only ( corpus/known", "--only: error parsing regexp"},
		{"replay --only no-such-case corpus/known", "--only no-such-case matches none of"},
		{"replay --levels 7 corpus/known", `unknown isolation level "7"`},
		{"show", "want one file"},
		{"show a b", "want one file"},
		{"show no/such/file.sql", "no/such/file.sql"},
		{"show " + malformed, malformed + ":2:11:"},
		{"reduce", "want one file"},
		{"reduce --strategy clever corpus/known/tidb-33315.sql", `unknown reduction strategy "clever"`},
		{"reduce no/such/file.sql", "no/such/file.sql"},
		{"server", "want one target"},
		{"server mariadb --target mysql", "want one target"},
		{"server --target nothing", `unknown target "nothing"`},
		{"server --target mariadb:11.8 --server-opt port=1", "option port cannot be set"},
		{"server nothing", `unknown target "nothing"`},
		{"server root@unix(/nowhere)/", "names a server that runs already"},
		{"targets all", `"all"`},
		{"corpus", "no command"},
		{"corpus merge all", "want a folder to merge into"},
		{"corpus frobnicate", `"frobnicate"`},
		{"corpus import", "want a file or a folder"},
		{"corpus verify no/such/file.sql", "no/such/file.sql"},
		{"corpus verify --target nothing " + misspelt, misspelt + `:1:1: unknown header key "levl" (did you mean "level"?)`},
		{"corpus seed", "want one file"},
		{"corpus decode no/such/file", "no/such/file"},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := txnfuzz(t, strings.Fields(c.args)...)
			if got.code != 2 || !strings.Contains(got.stderr, c.want) {
				t.Errorf("status %d, want 2; standard error %q, want %q in it", got.code, got.stderr, c.want)
			}
			if got.stdout != "" {
				t.Errorf("standard output: %q", got.stdout)
			}
			if strings.Contains(got.stderr, "hush") {
				t.Errorf("standard error shows the password: %q", got.stderr)
			}
			said := seedLine.ReplaceAllString(got.stderr, "")
			if n := strings.Count(said, "\n"); n != 1 {
				t.Errorf("%d lines of standard error: %q", n, got.stderr)
			}
		})
	}
}

func TestServerFailures(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	for _, args := range []string{
		"run --target root:hush@unix(" + socket + ")/ --cases 1",
		"replay --target root:hush@unix(" + socket + ")/ corpus/known",
		"show --target root:hush@unix(" + socket + ")/ corpus/known/tidb-33315.sql",
		"reduce --target root:hush@unix(" + socket + ")/ corpus/known/tidb-33315.sql",
	} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			got := txnfuzz(t, strings.Fields(args)...)
			if got.code != 3 || !strings.Contains(got.stderr, "no such file or directory") {
				t.Errorf("status %d, want 3; standard error %q", got.code, got.stderr)
			}
			if strings.Contains(got.stderr, "hush") {
				t.Errorf("standard error shows the password: %q", got.stderr)
			}
		})
	}
}

// Who looks only at the files of results must see that nothing was tested.
func TestFailuresAreInTheResults(t *testing.T) {
	target := "root:hush@unix(" + filepath.Join(t.TempDir(), "socket") + ")/"
	for _, args := range [][]string{
		{"run", "--cases", "1", "--fail-on", "none"},
		{"replay", "corpus/known/tidb-33315.sql", "--fail-on", "none"},
	} {
		t.Run(args[0], func(t *testing.T) {
			dir := t.TempDir()
			files := []string{filepath.Join(dir, "junit.xml"), filepath.Join(dir, "findings.sarif")}
			got := txnfuzz(t, append(args, "--target", target, "--junit", files[0], "--sarif", files[1])...)
			if got.code != 3 {
				t.Errorf("status %d, want 3", got.code)
			}
			for i, want := range []string{` errors="1"`, `"executionSuccessful": false`} {
				text, err := os.ReadFile(files[i])
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(text), want) || !strings.Contains(string(text), "no such file or directory") {
					t.Errorf("no %s, or no cause, in %s", want, text)
				}
				if strings.Contains(string(text), "hush") {
					t.Errorf("the password is in %s", text)
				}
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "run", "replay", "reduce", "bisect", "show", "shell", "corpus", "corpus verify", "corpus import", "corpus stats", "corpus decode", "corpus seed", "corpus merge", "export", "report", "server", "targets", "check"} {
		t.Run(name, func(t *testing.T) {
			got := txnfuzz(t, append(strings.Fields(name), "--help")...)
			if got.code != 0 || got.stderr != "" {
				t.Fatalf("status %d, standard error %q", got.code, got.stderr)
			}
			if !strings.Contains(got.stdout, "Examples:\n") {
				t.Error("no examples")
			}
			file := filepath.Join("testdata", "help-"+strings.ReplaceAll(name, " ", "-")+".txt")
			if name == "" {
				file = filepath.Join("testdata", "help.txt")
			}
			text := steady(got.stdout)
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("help has changed (rewrite %s with -update):\n%s", file, text)
			}
		})
	}
}

// steady takes out of a help text what depends on the machine.
func steady(help string) string {
	lines := strings.Split(help, "\n")
	for i, l := range lines {
		if strings.Contains(l, "--workers") {
			lines[i], _, _ = strings.Cut(l, " (default ")
		}
	}
	return strings.Join(lines, "\n")
}
