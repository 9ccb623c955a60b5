package corpus

import (
	"os"
	"strings"
	"testing"
)

// TestCheckHeader holds texts and what a person is told of their header lines.
func TestCheckHeader(t *testing.T) {
	runGolden(t, "testdata/headers", func(t *testing.T, input string) string {
		var out strings.Builder
		for _, d := range CheckHeader("case.sql", []byte(input)) {
			out.WriteString(d.Error() + "\n")
		}
		return out.String()
	})
}

// The stored cases have no header line that is in doubt.
func TestStoredHeaders(t *testing.T) {
	for _, dir := range []string{"known", "found"} {
		cases, err := LoadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range cases {
			text, err := os.ReadFile(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range CheckHeader(s.Path, text) {
				t.Error(d)
			}
		}
	}
}
