package corpus

import (
	"path/filepath"
	"slices"
	"testing"
)

// A program outside of the project has the committed cases that one inside of it reads,
// in the same order, so that a seed makes the same cases in both. What a run has left is no
// matter of that: such files make no cases, whatever the seed.
func TestEmbeddedIsWhatIsStored(t *testing.T) {
	var want []Stored
	for _, dir := range []string{"found", "known"} {
		more, err := LoadCommitted(dir)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, more...)
	}
	committed := map[string]bool{}
	for _, s := range want {
		committed[filepath.ToSlash(filepath.Join("corpus", s.Path))] = true
	}
	got, err := Embedded()
	got = slices.DeleteFunc(got, func(s Stored) bool { return !committed[s.Path] })
	if err != nil || len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d cases, error %v; want %d", len(got), err, len(want))
	}
	for i := range got {
		if got[i].Path != filepath.ToSlash(filepath.Join("corpus", want[i].Path)) || ID(got[i].Case) != ID(want[i].Case) {
			t.Errorf("case %d is %s, want %s", i, got[i].Path, want[i].Path)
		}
	}
}
