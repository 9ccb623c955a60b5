package corpus

import (
	"os"
	"slices"
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

// The documentation has each key that has a meaning, and no other.
func TestDocumentedKeys(t *testing.T) {
	text, err := os.ReadFile("../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| key | meaning |")
	table, _, _ = strings.Cut(table, "\n\n")
	var found []string
	for _, row := range strings.Split(table, "\n")[2:] {
		keys, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, key := range strings.Split(keys, "`, `") {
			found = append(found, qualifierPattern.ReplaceAllString(strings.Trim(key, "`"), ""))
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(headerKeys))
	if !slices.Equal(found, want) {
		t.Errorf("docs/cases.md has %q\nwant %q", found, want)
	}
}

// TestHeaderOfTwoServers: what a run beside another server writes is no unknown key.
func TestHeaderOfTwoServers(t *testing.T) {
	const text = "-- against: mariadb:11.8\n-- against server_version: 11.8.9\n-- against settings: log_bin=OFF\n" +
		"-- differs: wait\n-- attribution: rule\n/* tx1 */ BEGIN;\n"
	for _, d := range CheckHeader("case.sql", []byte(text)) {
		t.Error(d)
	}
}

// The stored cases have no header line that is in doubt.
func TestStoredHeaders(t *testing.T) {
	for _, dir := range []string{"known", "found"} {
		cases, err := LoadCommitted(dir)
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
