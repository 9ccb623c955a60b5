package solve_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/solve/conform"
)

// TestRecordings holds the solver against what live servers answered; see
// `go run ./scripts/conformance -record`.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.rec")
	if err != nil || len(files) < 4 {
		t.Fatalf("recordings: %v, %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := conform.Replay(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range r.Differences {
				t.Errorf("%s\n want %s\n got  %s", d.SQL, d.Want, d.Got)
			}
			if r.Statements < 2500 || r.Compared*100 < r.Statements*80 {
				t.Errorf("%d statements, %d compared: too few; refused %v", r.Statements, r.Compared, r.Unsupported)
			}
			t.Logf("%d statements, %d compared", r.Statements, r.Compared)
		})
	}
}
