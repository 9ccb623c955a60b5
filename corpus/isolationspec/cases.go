package isolationspec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

// Cases makes a case of each permutation of a spec: path#1 of the first. The note behind each line is the name of its
// step, or "setup" and "teardown".
func Cases(path string, text []byte) (*foreign.Read, error) {
	s, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	out := &foreign.Read{}
	for i, p := range s.Permutations {
		out.Add(foreign.PostgreSQL, s.script(path, i, p))
	}
	return out, nil
}

// The notes behind the lines of a session's own set-up and teardown.
const (
	noteSetUp    = "setup"
	NoteTearDown = "teardown"
)

// NoteOf returns the note behind the lines of a launch: the name of its step, and if the permutation has it before,
// too, how many times by then.
func NoteOf(p Permutation, launch int) string {
	times := 1
	for _, l := range p[:launch] {
		if l.Name == p[launch].Name {
			times++
		}
	}
	if times > 1 {
		return fmt.Sprintf("%s, time %d", p[launch].Name, times)
	}
	return p[launch].Name
}

// script is a permutation as the tester runs it. A session without a step in it is left out, if it only begins and
// ends a transaction: nobody can tell.
func (s *Spec) script(path string, i int, p Permutation) *foreign.Script {
	names := make([]string, len(p))
	used := map[int]bool{}
	for j, l := range p {
		names[j] = l.Name
		used[l.Session] = true
	}
	out := &foreign.Script{
		Path: fmt.Sprintf("%s#%d", path, i+1), SetUp: s.SetUp,
		Header: []corpus.Field{
			{Key: "source", Value: "isolationtester of PostgreSQL, " + filepath.Base(path)},
			{Key: "note", Value: fmt.Sprintf("permutation %d: %s", i+1, strings.Join(names, " "))},
		},
	}
	add := func(session int, sql, note string) {
		out.Blocks = append(out.Blocks, foreign.Block{Session: session + 1, SQL: sql, Note: note})
	}
	for j, n := range s.Sessions {
		if used[j] || !foreign.OnlyBegins(n.SetUp, n.TearDown) {
			add(j, n.SetUp, noteSetUp)
		}
	}
	for j, l := range p {
		add(l.Session, s.Sessions[l.Session].Steps[l.Step].SQL, NoteOf(p, j))
	}
	for j, n := range s.Sessions {
		if used[j] || !foreign.OnlyBegins(n.SetUp, n.TearDown) {
			add(j, n.TearDown, NoteTearDown)
		}
	}
	return out
}
