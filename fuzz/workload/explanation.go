package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

// Explanation is what a run told of a finding: its group with all findings of that. It lies beside the case's file.
type Explanation struct {
	// Case is the ID of the statements that it is about.
	Case          string `json:"case"`
	Finding       string `json:"finding"`
	Workload      string `json:"workload"`
	Target        string `json:"target"`
	ServerVersion string `json:"server_version"`
	Seed          uint64 `json:"seed"`
	// Causes is how many groups the report had.
	Causes int            `json:"causes"`
	Group  *Group         `json:"group"`
	Of     []savedFinding `json:"findings"`
}

// savedFinding is a finding with what its text needs beside the keys of the report.
type savedFinding struct {
	*Finding
	// KeptLines are those of the workload that the case has.
	KeptLines []int `json:"kept_lines"`
	// SeenAbove says that it was seen at every stronger level.
	SeenAbove bool `json:"seen_above,omitempty"`
}

// explanationFile is the file beside that of a case.
func explanationFile(path string) string {
	return strings.TrimSuffix(path, corpus.Ext) + ".explain.json"
}

// saveExplanations writes one beside the file of each finding.
func (c *campaign) saveExplanations() error {
	r := c.report
	for _, g := range r.Groups {
		x := Explanation{
			Workload: r.Workload, Target: r.Target, ServerVersion: r.ServerVersion, Seed: r.Seed, Causes: len(r.Groups), Group: g,
		}
		for _, f := range g.list {
			s := savedFinding{Finding: f, KeptLines: []int{}, SeenAbove: f.above}
			for line := range f.kept {
				s.KeptLines = append(s.KeptLines, line)
			}
			slices.Sort(s.KeptLines)
			x.Of = append(x.Of, s)
		}
		for _, f := range g.list {
			saved, err := corpus.Load(f.File)
			if err != nil {
				return fmt.Errorf("explain a finding: %w", err)
			}
			x.Case, x.Finding = corpus.ID(saved), f.ID
			text, err := json.MarshalIndent(&x, "", " ")
			if err == nil {
				err = wholefile.Write(explanationFile(f.File), append(text, '\n'))
			}
			if err != nil {
				return fmt.Errorf("save the explanation of %s: %w", f.File, err)
			}
		}
	}
	return nil
}

// ReadExplanation returns the explanation beside a case's file; false: there is none of these statements.
func ReadExplanation(path string, c *corpus.Case) (*Explanation, bool, error) {
	file := explanationFile(path)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the explanation of %s: %w", path, err)
	}
	var x Explanation
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, false, fmt.Errorf("read the explanation %s: %w", file, err)
	}
	if x.Group == nil || x.Case != corpus.ID(c) {
		return nil, false, nil
	}
	for _, s := range x.Of {
		if s.Finding == nil {
			return nil, false, fmt.Errorf("read the explanation %s: a finding is empty", file)
		}
		s.kept, s.above = map[int]bool{}, s.SeenAbove
		for _, line := range s.KeptLines {
			s.kept[line] = true
		}
		x.Group.list = append(x.Group.list, s.Finding)
	}
	if x.finding() == nil {
		return nil, false, fmt.Errorf("read the explanation %s: it does not hold finding %q", file, x.Finding)
	}
	return &x, true, nil
}

func (x *Explanation) finding() *Finding {
	for _, f := range x.Group.list {
		if f.ID == x.Finding {
			return f
		}
	}
	return nil
}

// WriteText writes the explanation for people, with the snippets of some frameworks.
func (x *Explanation) WriteText(out io.Writer, frameworks []string) error {
	var b strings.Builder
	g, f := x.Group, x.finding()
	fmt.Fprintf(&b, "%s on %s %s, seed %d: ", x.Workload, x.Target, x.ServerVersion, x.Seed)
	fmt.Fprintf(&b, "cause %d of %d\n\n%s\n  %s\n", g.Number, x.Causes, g.Title, g.Extent())
	g.writeAdvice(&b)
	f.writeText(&b)
	rest := slices.DeleteFunc(slices.Clone(g.list), func(o *Finding) bool { return o == f })
	writeLines(&b, rest)
	g.writeLarger(&b)
	if g.Diff != "" {
		fmt.Fprintf(&b, "\nwhat is proposed at %s for this cause, as a change of the workload's file:\n", g.DiffLevel)
		b.WriteString(g.Diff)
	}
	writeSnippets(&b, g.Snippets, frameworks)
	_, err := io.WriteString(out, b.String())
	if err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	return nil
}

// Hint says in a line what a finding's group is and where more is told.
func (x *Explanation) Hint(path string) string {
	return strings.TrimSpace(x.Group.Title+". "+x.Group.FirstAdvice()) + "\nmore: txnfuzz workload explain " + path
}
