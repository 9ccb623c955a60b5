package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// recorded is what the headers of the stored cases say, and on which versions.
type recorded struct {
	cases []storedCase
	// targets are those that have recorded verdicts, as people type them.
	targets []recordedTarget
}

type storedCase struct {
	path  string // relative to the root of the project
	sub   string // the folder
	steps int
	cells []findings.Cell
}

type recordedTarget struct {
	name, version string
	dbms          history.DBMS
}

// readRecorded reads the stored cases below a folder, and the file beside them that names the versions.
func readRecorded(dir string) (*recorded, error) {
	var out recorded
	for _, sub := range []string{"found", "known", "audit"} {
		stored, err := corpus.LoadCommitted(filepath.Join(dir, sub))
		if err != nil {
			return nil, fmt.Errorf("read the stored cases: %w", err)
		}
		for _, s := range stored {
			if filepath.Dir(s.Path) == filepath.Join(dir, sub) { // not what lies in found/unreproduced
				path := "corpus/" + sub + "/" + filepath.Base(s.Path)
				out.cases = append(out.cases, storedCase{path, sub, len(s.Case.Steps), findings.RecordedCells(s.Case)})
			}
		}
	}
	f, err := os.Open(filepath.Join(dir, "recorded-on.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the recorded versions: %w", err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if name, version, ok := strings.Cut(sc.Text(), "\t"); ok && !strings.HasPrefix(name, "#") {
			out.targets = append(out.targets, recordedTarget{name, version, dbmsOf(name)})
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read the recorded versions: %w", err)
	}
	return &out, nil
}

func dbmsOf(target string) history.DBMS {
	name, _, _ := strings.Cut(target, ":")
	if name == "embedded" {
		return history.TiDB
	}
	return history.DBMS(name)
}

// release is one version of a server, with the targets that ran it: the built-in TiDB and the
// private one of its commit, or a server with and without a setting.
type release struct {
	dbms    history.DBMS
	label   string
	version string
	targets []string // the one without a setting first
}

// releases are the versions of a vendor's server, the oldest first.
func (r *recorded) releases(dbms history.DBMS) []release {
	var out []release
	for _, t := range r.targets {
		if t.dbms != dbms {
			continue
		}
		label := t.label()
		if i := slices.IndexFunc(out, func(o release) bool { return o.label == label }); i >= 0 {
			out[i].targets = append(out[i].targets, t.name)
			continue
		}
		out = append(out, release{t.dbms, label, t.version, []string{t.name}})
	}
	for i := range out {
		slices.SortStableFunc(out[i].targets, func(a, b string) int {
			return cmp.Compare(foreign(a), foreign(b))
		})
	}
	slices.SortFunc(out, func(a, b release) int { return slices.Compare(order(a.version), order(b.version)) })
	return out
}

// foreign ranks a target behind the private server with its vendor's settings.
func foreign(target string) int {
	switch {
	case strings.Contains(target, ","):
		return 2
	case !strings.Contains(target, ":"):
		return 1
	}
	return 0
}

// label is the commit of a TiDB, and for others the series that the target names.
func (t recordedTarget) label() string {
	if t.dbms == history.TiDB {
		return t.version[strings.LastIndex(t.version, "-")+1:]
	}
	_, series, _ := strings.Cut(t.name, ":")
	series, _, _ = strings.Cut(series, ",")
	return series
}

// order is what two versions are sorted by: their numbers, which of two TiDBs count behind the
// version of MySQL that one of them names first.
func order(version string) []int {
	if _, own, ok := strings.Cut(version, "-TiDB-"); ok {
		version = own
	}
	var out []int
	for _, part := range strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' }) {
		n := 0
		for _, d := range part {
			n = 10*n + int(d-'0')
		}
		out = append(out, n)
		if len(out) == 3 {
			break
		}
	}
	return out
}
