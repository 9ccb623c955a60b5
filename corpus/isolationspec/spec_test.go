package isolationspec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

const grammar = "grammar.spec"

func TestParse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", grammar))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(grammar, text)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, n := range s.Sessions {
		fmt.Fprintf(&got, "%s(%t,%t):", n.Name, n.SetUp != "", n.TearDown != "")
		for _, step := range n.Steps {
			fmt.Fprintf(&got, " %q", step.Name)
		}
		got.WriteString("; ")
	}
	for _, l := range s.Permutations[0] {
		fmt.Fprintf(&got, "%d.%d%q ", l.Session, l.Step, l.Markers)
	}
	want := `s1(true,true): "r1" "upd 1" "c1"; s2(false,false): "both" "b2" "e2" "l2" "p2" "empty"; idle(true,false): "never"; ` +
		`0.0[] 0.1["*"] 1.0["c1" "upd 1 notices 2"] 0.2[] 1.1[] 1.2[] `
	if got.String() != want || len(s.SetUp) != 3 || len(s.Permutations) != 4 {
		t.Errorf("%s\nwant %s\n%d set-ups, %d permutations", got.String(), want, len(s.SetUp), len(s.Permutations))
	}
}

func TestParseErrors(t *testing.T) {
	const good = "session a step x { SELECT 1 } step y { } "
	for text, want := range map[string]string{
		"":                                  "x:1:1: no session: want session NAME and its steps",
		"setup { SELECT 1":                  "x:1:7: this block of SQL is never closed",
		"setup SELECT":                      "x:1:7: want SQL in braces behind setup",
		"session a\nsetup { }":              "x:1:9: session a has no step",
		"session step":                      "x:1:9: want the name of a session",
		good + "step x { }":                 "x:1:47: two steps have the name x",
		good + "permutation":                "x:1:53: want the names of steps behind permutation",
		good + "permutation x z":            "x:1:56: no session has a step z",
		good + "permutation x(z)":           "x:1:56: no session has a step z",
		good + "permutation x(y notices)":   "x:1:65: want a number behind notices",
		good + "permutation x(y":            "x:1:57: want a comma or the parenthesis behind a marker",
		good + "permutation x(,)":           "x:1:56: want * or the name of a step in parentheses",
		good + "permutation x session b":    "x:1:56: want setup and teardown, then sessions, then permutations, not \"session\"",
		good + "teardown { } setup { }":     "x:1:55: want setup and teardown, then sessions, then permutations, not \"setup\"",
		"session \"a\nb\" step x { }":       "x:1:9: this name is never closed",
		"session a step x { } ; ":           "x:1:22: unexpected character ';'",
		many(9, 3):                          "x:9:52: the sessions have more than 20000 interleavings, and no permutation is listed",
		"session a\nstep é { }\nstep é { }": "x:3:6: two steps have the name é",
	} {
		_, err := Parse("x", []byte(text))
		var at *corpus.ParseError
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// many is a spec of so many sessions with so many steps each.
func many(sessions, steps int) string {
	var b strings.Builder
	for i := range sessions {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "session s%d", i)
		for j := range steps {
			fmt.Fprintf(&b, " step s%d_%d { }", i, j)
		}
	}
	return b.String()[:b.Len()-len(" }")] + "}"
}

// TestInterleavings wants the tester's order, in which its expected outputs are.
func TestInterleavings(t *testing.T) {
	s, err := Parse("x", []byte("session a step a1 { } step a2 { } session b step b1 { } session c step c1 { }"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Permutations {
		var names []string
		for _, l := range p {
			names = append(names, l.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	want := "a1 a2 b1 c1|a1 a2 c1 b1|a1 b1 a2 c1|a1 b1 c1 a2|a1 c1 a2 b1|a1 c1 b1 a2|b1 a1 a2 c1|b1 a1 c1 a2|b1 c1 a1 a2|c1 a1 a2 b1|c1 a1 b1 a2|c1 b1 a1 a2"
	if strings.Join(got, "|") != want || interleavings(s.Sessions) != len(got) {
		t.Errorf("%d counted:\n%s\nwant %s", interleavings(s.Sessions), strings.Join(got, "|"), want)
	}
}

func TestCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", grammar))
	if err != nil {
		t.Fatal(err)
	}
	read, err := Cases(grammar, text)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range read.Cases {
		fmt.Fprintf(&got, "%s\n%s\n", s.Path, corpus.Print(s.Case, corpus.Text))
	}
	for _, r := range read.Refused {
		fmt.Fprintf(&got, "%v\n", r)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "grammar.cases"))
	if err != nil || got.String() != string(want) {
		t.Errorf("%v\n%s", err, got.String())
	}
}

// FuzzCases wants of any text an error or cases that are read back as they are printed.
func FuzzCases(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", grammar))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("setup { create table t (a int); } session s step x { begin; SAVEPOINT a; insert into t values (1) returning a; }")
	f.Add("setup { create index on t using } session s setup { set local } step x { select $1, $a$ b $a$ for } permutation x(*)")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("x", []byte(text))
		if err != nil || len(s.Permutations) > 50 {
			return
		}
		read, err := Cases("x", []byte(text))
		if err != nil || len(read.Cases)+len(read.Refused) != len(s.Permutations) {
			t.Fatalf("%v, %+v", err, read)
		}
		for _, k := range read.Cases {
			again, err := corpus.Parse("x", corpus.Print(k.Case, corpus.Text))
			if err != nil || !again.Equal(k.Case) {
				t.Errorf("%v\n%s", err, corpus.Print(k.Case, corpus.Text))
			}
		}
	})
}
