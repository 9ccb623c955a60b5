package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// change adds to a group what its findings' proposals change in the workload's file, and how that is said in the
// languages of some frameworks.
func (r *Report) change(g *Group) {
	level := g.list[0].Level
	for _, f := range g.list {
		if len(f.proposed()) > 0 {
			level = f.Level
			break
		}
	}
	var reads []read
	for _, f := range g.list {
		for _, x := range f.proposed() {
			if f.Level == level && !slices.Contains(reads, x) {
				reads = append(reads, x)
			}
		}
	}
	slices.SortFunc(reads, func(a, b read) int { return a.line - b.line })
	if g.Diff = r.diff(reads); g.Diff != "" {
		g.DiffLevel = level
	}
	if f := g.list[0]; g.Class == Isolation && r.w != nil {
		g.Snippets = snippets(r.w, r.dbms, reads, f.Weakest, f.Transactions)
	}
}

// diff is what some reads FOR UPDATE change in the workload's file, in the unified format.
func (r *Report) diff(reads []read) string {
	if r.w == nil || r.w.Text() == "" || len(reads) == 0 {
		return ""
	}
	var at []workload.Place
	for _, x := range reads {
		at = append(at, workload.Place{Line: x.line, Column: x.column})
	}
	mended, err := workload.ForUpdate(r.w.Text(), at)
	if err != nil {
		return "" // they are not of this file
	}
	return unified(shownPath(r.w.File), r.w.Text(), mended)
}

// shownPath is a path as patch takes it: below the working folder, or else the name alone.
func shownPath(path string) string {
	if filepath.IsAbs(path) {
		if dir, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(dir, path); err == nil {
				path = rel
			}
		}
	}
	if path = filepath.ToSlash(filepath.Clean(path)); !filepath.IsLocal(path) {
		return filepath.Base(path)
	}
	return path
}

// unified is the difference of two texts of a file, as patch -p0 takes it.
func unified(path, before, after string) string {
	if strings.ContainsAny(path, " \t") {
		path += "\t" // which ends a name that has blanks
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: diffLines(before), B: diffLines(after), FromFile: path, ToFile: path, Context: 3,
	})
	if err != nil { // a strings.Builder takes everything
		return ""
	}
	return text
}

// diffLines are the lines of a text with their ends, the last one with the words that say that it has none.
func diffLines(text string) []string {
	lines := slices.Collect(strings.Lines(text))
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n\\ No newline at end of file\n"
	}
	return lines
}

// writeDiff writes beside a mended workload what it changes in the workload's file; none is written for a workload
// that has no text.
func (c *campaign) writeDiff(m *Mended) error {
	m.Diff = c.report.diff(m.reads)
	if m.Diff == "" {
		return nil
	}
	m.DiffFile = strings.TrimSuffix(m.File, filepath.Ext(m.File)) + ".diff"
	head := fmt.Sprintf("%s.\nApply it with: patch '%s' '%s'\n", upper(m.Title()), c.w.File, m.DiffFile)
	if err := wholefile.Write(m.DiffFile, []byte(head+m.Diff)); err != nil {
		return fmt.Errorf("write what the mended workload changes: %w", err)
	}
	return nil
}
