package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// examples returns the workloads of the project, by file.
func examples(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../workloads/*.workload")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = text
	}
	return out
}

// TestRoundTrip parses the examples, prints them and parses that again.
func TestRoundTrip(t *testing.T) {
	for name, text := range examples(t) {
		w, err := Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		printed := Print(w)
		again, err := Parse(name, printed)
		if err != nil {
			t.Errorf("printed: %v\n%s", err, printed)
			continue
		}
		if reprinted := Print(again); !bytes.Equal(reprinted, printed) {
			t.Errorf("%s: printed twice it differs:\n%s\n%s", name, printed, reprinted)
		}
	}
}
