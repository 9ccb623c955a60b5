package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/isolationspec"
)

// seen is what one step of a permutation showed.
type seen struct {
	step string
	// rows holds the rows of all its results, with a bar between values and no blanks around them.
	rows []string
	err  string
	// waits says that it did not answer at once, and until names the step that was launched last when it did; empty if
	// none was launched in between.
	waits bool
	until string
}

func (s *seen) String() string {
	out := s.step + ":"
	if s.waits {
		out += " waits until " + s.until + ";"
	}
	if s.err != "" {
		out += " " + s.err
	}
	if len(s.rows) > 0 {
		out += " (" + strings.Join(s.rows, ") (") + ")"
	}
	return out
}

const begins = "starting permutation: "

var (
	completed = regexp.MustCompile(`^step (\S+): <\.\.\. completed>$`)
	launched  = regexp.MustCompile(`^step (\S+): `)
	lineRule  = regexp.MustCompile(`^-+(\+-+)*$`)
	rowCount  = regexp.MustCompile(`^\([0-9]+ rows?\)$`)
	failed    = regexp.MustCompile(`^(?:ERROR|FATAL):  (.*)$`)
)

const waiting = " <waiting ...>"

// expectations returns the outputs of a spec by permutation, of each file that PostgreSQL's tests take.
func expectations(dir, spec string) (out [][][]seen, err error) {
	base := strings.TrimSuffix(filepath.Base(spec), isolationspec.Ext)
	for _, name := range []string{base, base + "_1", base + "_2"} {
		text, err := os.ReadFile(filepath.Join(dir, "expected", name+".out"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all := strings.Split(string(text), "\n"+begins)
		var perms [][]seen
		for _, p := range all[1:] {
			perms = append(perms, expectation(p))
		}
		out = append(out, perms)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no expected output", base)
	}
	return out, nil
}

// expectation reads the output of one permutation.
func expectation(text string) (out []seen) {
	lines := strings.Split(text, "\n")
	at := map[string]int{} // the step's last launch
	now, last := -1, ""
	for i, line := range lines {
		if m := completed.FindStringSubmatch(line); m != nil {
			if now = at[unquoted(m[1])]; out[now].waits {
				out[now].until = last
			}
			continue
		}
		if m := launched.FindStringSubmatch(line); m != nil {
			last = unquoted(m[1])
			now = len(out)
			at[last] = now
			out = append(out, seen{step: last})
		}
		switch m := failed.FindStringSubmatch(line); {
		case now < 0: // what the set-up shows
		case strings.HasSuffix(line, waiting):
			out[now].waits = true
		case m != nil:
			out[now].err = m[1]
		case lineRule.MatchString(line):
			for _, row := range lines[i+1:] {
				if rowCount.MatchString(row) {
					break
				}
				out[now].rows = append(out[now].rows, trimmed(strings.Split(row, "|")))
			}
		}
	}
	return out
}

func unquoted(name string) string { return strings.Trim(name, `"`) }

// americanDate is a date as PostgreSQL's tests have it printed, which set DateStyle; txnfuzz leaves the default.
var americanDate = regexp.MustCompile(`^([0-9]{2})-([0-9]{2})-([0-9]{4})$`)

func trimmed(values []string) string {
	for i, v := range values {
		values[i] = americanDate.ReplaceAllString(strings.TrimSpace(v), "$3-$1-$2")
	}
	return strings.Join(values, "|")
}
