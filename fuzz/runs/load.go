package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// Run is one JSON file of a run.
type Run struct {
	campaign.Report
	File string
	// Races says that it is one of run --races.
	Races bool
	// written is the time of the file.
	written time.Time
	// Pages are HTML pages of txnfuzz that lie beside the file.
	Pages []Page
}

// Page is an HTML page of txnfuzz.
type Page struct{ Name, File string }

// Unread is a file that is no run.
type Unread struct{ File, Why string }

// Set is what was found in some folders.
type Set struct {
	// Runs are sorted by when they began.
	Runs []Run
	// Others counts the JSON files of txnfuzz that are no runs, such as the records of findings; Superseded counts runs of
	// which a later state, or the same one, is at hand.
	Others, Superseded int
	// Unread are those of which nobody knows what they are.
	Unread []Unread

	cases map[string][]string // paths of cases, by file name
}

// mostBytes is how large the file of a run may be; one has some twenty to two hundred kilobytes.
const mostBytes = 64 << 20

// Load reads files, and folders with all folders below them. That a file is no run is no error, but that a path is not
// there is.
func Load(paths []string) (*Set, error) {
	s := &Set{cases: map[string][]string{}}
	pages := map[string][]Page{} // by folder
	for _, root := range paths {
		if _, err := os.Stat(root); err != nil {
			return nil, fmt.Errorf("read runs: %w", err)
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				s.unread(path, err)
			case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir():
			case filepath.Ext(path) == ".html":
				if name := pageName(path); name != "" {
					dir := filepath.Dir(path)
					pages[dir] = append(pages[dir], Page{name, path})
				}
			case filepath.Ext(path) == corpus.Ext:
				s.cases[d.Name()] = append(s.cases[d.Name()], path)
			case filepath.Ext(path) == ".json" || path == root:
				s.read(path)
			}
			return nil // what cannot be read is told, and the rest is read
		})
	}
	s.order()
	s.give(pages)
	return s, nil
}

func (s *Set) unread(path string, why error) {
	text := why.Error()
	if e := (*fs.PathError)(nil); errors.As(why, &e) { // it is told with its path
		text = e.Err.Error()
	}
	s.Unread = append(s.Unread, Unread{path, text})
}

func (s *Set) read(path string) {
	info, err := os.Stat(path)
	if err != nil {
		s.unread(path, err)
		return
	}
	if info.Size() > mostBytes {
		s.unread(path, fmt.Errorf("has %d MB, too much for a run", info.Size()>>20))
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		s.unread(path, err)
		return
	}
	switch kind, err := kindOf(path, text); {
	case err != nil:
		s.unread(path, err)
	case kind == other:
		s.Others++
	default:
		r := Run{File: path, Races: kind == races, written: info.ModTime()}
		if err := json.Unmarshal(text, &r.Report); err != nil {
			s.unread(path, fmt.Errorf("is no run that this version can read: %w", err))
			return
		}
		if r.CasesPerMinute == 0 && r.Seconds > 0 { // run --races tells none
			r.CasesPerMinute = float64(r.Cases) / r.Seconds * 60
		}
		s.Runs = append(s.Runs, r)
	}
}

// kind is what a JSON file is.
type kind int

const (
	run kind = iota
	races
	other // of txnfuzz, but no run
)

// others are the keys of JSON objects of txnfuzz that are no runs: the state of a corpus, reports of load and workload,
// records of findings.
var others = [][]string{{"next", "report", "seed"}, {"workload", "target"}, {"case", "verdict"}, {"case", "history"}}

var errForeign = errors.New("is no JSON file of txnfuzz run")

func kindOf(path string, text []byte) (kind, error) {
	if _, err := os.Stat(strings.TrimSuffix(path, ".json") + corpus.Ext); err == nil && strings.HasSuffix(path, ".json") {
		return other, nil // the record of a finding
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return 0, errors.New("is empty")
	}
	if text[0] == '[' {
		var replayed []struct{ File, Target, Level, Verdict string }
		err := json.Unmarshal(text, &replayed)
		if err == nil && !slices.ContainsFunc(replayed, func(r struct{ File, Target, Level, Verdict string }) bool {
			return r.File == "" || r.Target == "" || r.Verdict == ""
		}) {
			return other, nil
		}
		return 0, cmp.Or(err, errForeign)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return 0, fmt.Errorf("is malformed: %w", err)
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := keys[n]; return !ok })
	}
	switch {
	case has("target", "seed", "cases", "verdicts", "findings", "by_level"):
		return run, nil
	case has("target", "seed", "cases", "verdicts", "findings", "holds"):
		return races, nil
	case slices.ContainsFunc(others, func(names []string) bool { return has(names...) }):
		return other, nil
	}
	return 0, errForeign
}

// order sorts the runs by when they began. Older versions did not write that: their runs come first, in the order of
// the times of their files. Of a campaign that was resumed, and of a run that is there twice, it keeps the one that
// came farthest.
func (s *Set) order() {
	slices.SortStableFunc(s.Runs, func(a, b Run) int {
		written := 0
		if a.Begun.IsZero() && b.Begun.IsZero() {
			written = a.written.Compare(b.written)
		}
		return cmp.Or(a.Begun.Compare(b.Begun), written, cmp.Compare(a.Cases, b.Cases), cmp.Compare(a.File, b.File))
	})
	at := map[string]int{}
	var kept []Run
	for _, r := range s.Runs {
		key := fmt.Sprint(r.Key(), r.Seed, r.Begun.Unix())
		if r.Begun.IsZero() {
			key = fmt.Sprint(r.Key(), r.Seed, r.Seconds, r.Cases)
		}
		if i, again := at[key]; again {
			kept[i], s.Superseded = r, s.Superseded+1
			continue
		}
		at[key] = len(kept)
		kept = append(kept, r)
	}
	s.Runs = kept
}

// Key is what runs are compared by: their target, and what they do on it.
func (r *Run) Key() string {
	if r.Races {
		return r.Target + " with --races"
	}
	return r.Target
}

// head is how much of a page is read to see what it is.
const head = 4096

// pageName says what a page of txnfuzz is, by its title; "" for others.
func pageName(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, head)
	n, _ := f.Read(text)
	switch text = text[:n]; {
	case bytes.Contains(text, []byte("<title>txnfuzz: what the cases do")):
		return "replayed cases"
	case bytes.Contains(text, []byte("<title>txnfuzz: ")):
		return "findings"
	}
	return ""
}

// give gives each run the pages beside it: of a folder with a single run all, else those whose name begins with that of
// the run's file.
func (s *Set) give(pages map[string][]Page) {
	alone := map[string]int{}
	for i := range s.Runs {
		alone[filepath.Dir(s.Runs[i].File)]++
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		dir := filepath.Dir(r.File)
		stem := strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))
		for _, p := range pages[dir] {
			rest, mine := strings.CutPrefix(filepath.Base(p.File), stem)
			if alone[dir] == 1 || mine && !startsWithDigit(rest) {
				r.Pages = append(r.Pages, p)
			}
		}
	}
}

// startsWithDigit tells 12.html from a page of 1.json.
func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// caseOf returns where the case of a finding lies that a run names, the nearest to the run's file; "": nowhere here.
func (s *Set) caseOf(r *Run, file string) string {
	best, longest := "", -1
	for _, path := range s.cases[filepath.Base(file)] {
		if n := inCommon(filepath.Dir(path), filepath.Dir(r.File)); n > longest {
			best, longest = path, n
		}
	}
	return best
}

// inCommon counts the folders that two paths begin with alike.
func inCommon(a, b string) int {
	x, y := strings.Split(filepath.ToSlash(a), "/"), strings.Split(filepath.ToSlash(b), "/")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}
