package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// suite is the test binaries, one for each package, that hold all mistakes.
type suite struct {
	root    string // of the module
	dir     string // for the overlay and the binaries
	overlay string // the file that lists the overlay
	mutants []mutant

	mu     sync.Mutex
	builds map[string]func() (string, error)
	sound  map[stage]func() error
}

// stage is some tests of one package. An empty pattern stands for all.
type stage struct{ folder, pattern string }

func (s stage) String() string {
	if s.pattern == "" {
		return "the tests of ./" + s.folder
	}
	return fmt.Sprintf("the tests %q of ./%s", s.pattern, s.folder)
}

// newSuite writes the sources with the mistakes to a folder of its own, which end removes.
func newSuite(root string, ms []mutant) (*suite, error) {
	files, err := plant(root, ms)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	s := &suite{root: root, dir: dir, overlay: filepath.Join(dir, "overlay.json"), mutants: ms,
		builds: map[string]func() (string, error){}, sound: map[stage]func() error{}}
	if err := s.write(files); err != nil {
		s.end()
		return nil, fmt.Errorf("write the sources with the mistakes: %w", err)
	}
	return s, nil
}

func (s *suite) end() { os.RemoveAll(s.dir) }

func (s *suite) write(files map[string]string) error {
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(s.dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		replace[name] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(s.overlay, list, 0o600)
}

// fails reports whether a test of st fails with m switched on, and which did. It is an error if that
// test fails with no mistake switched on.
func (s *suite) fails(st stage, m mutant) (caught bool, test string, err error) {
	if _, err := s.binary(st.folder); err != nil {
		return false, "", err
	}
	out, err := s.run(st, m.No)
	if err == nil {
		return false, "", nil
	}
	if _, isExit := err.(*exec.ExitError); !isExit {
		return false, "", fmt.Errorf("run %s: %w", st, err)
	}
	if test = firstFailure(out); test == "" {
		return true, "a test that did not end", s.passes(st)
	}
	return true, test, s.passes(stage{st.folder, "^" + test + "$"})
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// firstFailure returns the name of the first test that failed, if it came to its end or panicked.
func firstFailure(out string) string {
	match := failure.FindStringSubmatch(out)
	if match == nil {
		return ""
	}
	return match[1]
}

// passes makes sure, once for each st, that no test of st fails with no mistake switched on.
func (s *suite) passes(st stage) error {
	s.mu.Lock()
	once := s.sound[st]
	if once == nil {
		once = sync.OnceValue(func() error {
			if out, err := s.run(st, 0); err != nil {
				return fmt.Errorf("%s do not pass with no mistake switched on: %w\n%s", st, err, out)
			}
			return nil
		})
		s.sound[st] = once
	}
	s.mu.Unlock()
	return once()
}

// run runs the tests of st with the mistake that has this number switched on.
func (s *suite) run(st stage, no int) (string, error) {
	binary, err := s.binary(st.folder)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(binary, "-test.failfast", "-test.timeout", "10m", "-test.run", st.pattern)
	cmd.Dir = filepath.Join(s.root, st.folder)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", switchVariable, no))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// binary builds the tests of a package, once.
func (s *suite) binary(folder string) (string, error) {
	s.mu.Lock()
	once := s.builds[folder]
	if once == nil {
		once = sync.OnceValues(func() (string, error) {
			binary := filepath.Join(s.dir, strings.ReplaceAll(folder, string(filepath.Separator), "-")+".test")
			cmd := exec.Command("go", "test", "-c", "-o", binary, "-tags", "notidb", "-gcflags=-e",
				"-overlay", s.overlay, "./"+folder)
			cmd.Dir = s.root
			if out, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("build the tests of ./%s: %w\n%s%s", folder, err, s.guilty(string(out)), out)
			}
			return binary, nil
		})
		s.builds[folder] = once
	}
	s.mu.Unlock()
	return once()
}

var mistakePlace = regexp.MustCompile(`mistake(\d+)-`)

// guilty names the mistakes that the compiler complains of.
func (s *suite) guilty(out string) string {
	var b strings.Builder
	named := map[string]bool{}
	for _, match := range mistakePlace.FindAllStringSubmatch(out, -1) {
		if named[match[1]] {
			continue
		}
		named[match[1]] = true
		for _, m := range s.mutants {
			if strconv.Itoa(m.No) == match[1] {
				fmt.Fprintf(&b, "the mistake %q does not compile\n", m.Name)
			}
		}
	}
	return b.String()
}

// packages are the folders of the packages below ./oracle that have tests.
func (s *suite) packages() ([]string, error) {
	cmd := exec.Command("go", "list", "-tags", "notidb",
		"-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./oracle/...")
	cmd.Dir = s.root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of the oracle: %w", err)
	}
	var folders []string
	for _, dir := range strings.Fields(string(out)) {
		folder, err := filepath.Rel(s.root, dir)
		if err != nil {
			return nil, fmt.Errorf("list the packages of the oracle: %w", err)
		}
		folders = append(folders, folder)
	}
	return folders, nil
}
