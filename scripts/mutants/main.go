package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed mutants.txt
var table string

// mutant is one planted mistake: in File, Old becomes New.
type mutant struct{ Name, File, Old, New string }

func main() {
	only := flag.String("only", "", "plant only the mistakes whose name holds this text")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Plants mistakes in the oracle, one at a time, and demands that a test fails for\neach. A mistake takes up to a minute; status 1 if one survives.")
		flag.PrintDefaults()
	}
	flag.Parse()
	ms, err := parse(table)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	for _, m := range ms { // to find out before the first of them costs a minute
		if _, err := m.source(); err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", m.Name, err)
			os.Exit(2)
		}
	}
	ms = slices.DeleteFunc(ms, func(m mutant) bool { return !strings.Contains(m.Name, *only) })
	survivors := 0
	for r := range runAll(ms) {
		switch {
		case r.err != nil:
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", r.mutant.Name, r.err)
			os.Exit(2)
		case r.caught:
			fmt.Printf("caught    %-40s %s\n", r.mutant.Name, firstFailure(r.out))
		default:
			survivors++
			fmt.Printf("SURVIVED  %-40s no test of ./oracle/... fails\n", r.mutant.Name)
		}
	}
	planted := len(ms)
	fmt.Printf("%d planted mistakes, %d survived\n", planted, survivors)
	if survivors > 0 || planted == 0 || *only == "" && planted < 20 {
		os.Exit(1)
	}
}

// parse reads blocks of the form "# name", "file", "- old", "+ new", where old
// and new are single lines or parts of one.
func parse(text string) ([]mutant, error) {
	var ms []mutant
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		last := len(ms) - 1
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			ms = append(ms, mutant{Name: line[2:]})
		case last < 0:
			return nil, fmt.Errorf("mutants.txt:%d: a block begins with `# name`", n)
		case strings.HasPrefix(line, "- "):
			ms[last].Old = line[2:]
		case strings.HasPrefix(line, "+ "):
			ms[last].New = line[2:]
		case strings.HasPrefix(line, "+"):
			ms[last].New = ""
		default:
			ms[last].File = line
		}
	}
	return ms, sc.Err()
}

// source reads the file that the mistake goes into, which holds its place once.
func (m *mutant) source() (string, error) {
	src, err := os.ReadFile(m.File)
	if err != nil {
		return "", fmt.Errorf("read the source (run this from the repository's root): %w", err)
	}
	if n := strings.Count(string(src), m.Old); n != 1 {
		return "", fmt.Errorf("%s holds the text %q %d times, want once", m.File, m.Old, n)
	}
	return string(src), nil
}

// result is what became of one planted mistake.
type result struct {
	mutant mutant
	caught bool
	out    string
	err    error
}

// runAll plants each of ms by itself, as many at a time as there are processors (a test of
// the oracle keeps one of them busy), and sends what became of them in their order.
func runAll(ms []mutant) <-chan result {
	pending := make(chan chan result, runtime.GOMAXPROCS(0)-1)
	results := make(chan result)
	go func() {
		defer close(pending)
		for _, m := range ms {
			one := make(chan result, 1)
			pending <- one
			go func() {
				r := result{mutant: m}
				r.caught, r.out, r.err = run(m)
				one <- r
			}()
		}
	}()
	go func() {
		defer close(results)
		for one := range pending {
			results <- <-one
		}
	}()
	return results
}

// stages are the tests of ./oracle that a mistake meets first, until one fails. The scripts and
// the recorded histories catch most, and want one package built in place of a score. Behind
// them come the tests of its own package, and then all.
var stages = []string{"^TestScripts$|Abort|Disagree|Cause|ErrorBeside", "^TestGolden$"}

// apart are the folders of packages that those tests do not reach: there a mistake meets the tests of its
// own package first.
var apart = []string{"oracle/promise", "corpus"}

// run tests the oracle with one mistake in it. caught is false if all tests
// pass; a mistake that does not compile is an error.
func run(m mutant) (caught bool, out string, err error) {
	src, err := m.source()
	if err != nil {
		return false, "", err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	abs, err := filepath.Abs(m.File)
	if err != nil {
		return false, "", err
	}
	mutated := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(mutated, []byte(strings.Replace(src, m.Old, m.New, 1)), 0o600); err != nil {
		return false, "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {abs: mutated}})
	if err != nil {
		return false, "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return false, "", err
	}
	own := "./" + filepath.Dir(m.File)
	if slices.Contains(apart, filepath.Dir(m.File)) {
		if caught, out, err := in(list, own); caught || err != nil {
			return caught, out, err
		}
	}
	binary := filepath.Join(dir, "oracle.test")
	if out, err := command("", "go", "test", "-c", "-o", binary, "-tags", "notidb", "-overlay", list, "./oracle"); err != nil {
		return false, out, fmt.Errorf("the mistake does not compile:\n%s", out)
	}
	for _, tests := range stages {
		if out, err := command("oracle", binary, "-test.failfast", "-test.run", tests); err != nil {
			return true, out, nil
		}
	}
	for _, packages := range []string{own, "./oracle/..."} {
		if caught, out, err := in(list, packages); caught || err != nil {
			return caught, out, err
		}
	}
	return false, "", nil
}

// in runs the tests of some packages with the mistake of an overlay.
func in(overlay, packages string) (caught bool, out string, err error) {
	out, err = command("", "go", "test", "-tags", "notidb", "-vet=off", "-failfast", "-overlay", overlay, packages)
	if err != nil && (strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]")) {
		return false, out, fmt.Errorf("the mistake does not compile:\n%s", out)
	}
	return err != nil, out, nil
}

// command runs a program in dir and returns what it printed.
func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// firstFailure returns the name of the first test that failed.
func firstFailure(out string) string {
	for _, l := range strings.Split(out, "\n") {
		if i := strings.Index(l, "--- FAIL: "); i >= 0 {
			return strings.Fields(l[i+len("--- FAIL: "):])[0]
		}
	}
	return "a test panicked"
}
