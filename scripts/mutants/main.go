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
	planted, survivors := 0, 0
	for _, m := range ms {
		if !strings.Contains(m.Name, *only) {
			continue
		}
		planted++
		caught, out, err := run(m)
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", m.Name, err)
			os.Exit(2)
		case caught:
			fmt.Printf("caught    %-40s %s\n", m.Name, firstFailure(out))
		default:
			survivors++
			fmt.Printf("SURVIVED  %-40s no test of ./oracle/... fails\n", m.Name)
		}
	}
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
	// The recorded histories catch most, in a quarter of the time of all tests.
	for _, some := range []string{"^TestGolden|Disagree|Abort|Cause", "."} {
		var b []byte
		b, err = exec.Command("go", "test", "-tags", "notidb", "-vet=off", "-failfast", "-run", some, "-overlay", list, "./oracle/...").CombinedOutput()
		if out = string(b); err != nil {
			break
		}
	}
	if err == nil {
		return false, out, nil
	}
	if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
		return false, out, fmt.Errorf("the mistake does not compile:\n%s", out)
	}
	return true, out, nil
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
