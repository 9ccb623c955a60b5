package corpus

import (
	"path/filepath"
	"strings"
	"testing"
)

func knownCases(t testing.TB) []Stored {
	t.Helper()
	cases, err := LoadDir("known")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 21 {
		t.Fatalf("found %d published cases, want at least 21", len(cases))
	}
	return cases
}

func TestKnownCases(t *testing.T) {
	for _, s := range knownCases(t) {
		t.Run(filepath.Base(s.Path), func(t *testing.T) {
			c := s.Case
			if err := c.Validate(); err != nil {
				t.Error(err)
			}
			for _, key := range []string{"source", "reported"} {
				if _, ok := c.Get(key); !ok {
					t.Errorf("no header line %q", key)
				}
			}
			if len(c.Init) == 0 || len(c.Steps) == 0 || len(c.Sessions()) == 0 {
				t.Errorf("%d init lines, %d steps", len(c.Init), len(c.Steps))
			}
			text := Print(c, Text)
			again, err := Parse("printed", text)
			if err != nil {
				t.Fatal(err)
			}
			if !again.Equal(c) || ID(again) != ID(c) {
				t.Errorf("printed and parsed again:\n%s", Print(again, Text))
			}
			for i, l := range append(c.Init[:len(c.Init):len(c.Init)], c.Steps...) {
				l2 := append(again.Init[:len(again.Init):len(again.Init)], again.Steps...)[i]
				if path := differentMeaning(l.Stmt, l2.Stmt); path != "" || l.Session != l2.Session {
					t.Errorf("%s: %s differs", SQL(l.Stmt, Text), path)
				}
			}
			for _, d := range []Dialect{MySQL, MariaDB, TiDB} {
				if out := string(Print(c, d)); out != string(text) && !strings.Contains(string(text), "SHARE") {
					t.Errorf("dialect %d:\n%s", d, out)
				}
			}
		})
	}
}

func TestKnownCasesHaveDistinctIDs(t *testing.T) {
	seen := map[string]string{}
	for _, s := range knownCases(t) {
		id := ID(s.Case)
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the ID %s", s.Path, other, id)
		}
		seen[id] = s.Path
	}
}
