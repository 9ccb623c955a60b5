package campaign

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestStrangeVariables(t *testing.T) {
	for env, want := range map[string]string{
		"TXNFUZZ_TARGET=x":                      "",
		"TXNFUZZ_ACTION_SEED=x":                 "",
		"TXNFUZZ=x":                             "",
		"TARGET=TXNFUZZ_TARET":                  "",
		"TXNFUZZ_TARET=x":                       `environment variable TXNFUZZ_TARET is unknown (did you mean "TXNFUZZ_TARGET"?)`,
		"TXNFUZZ_LEVEL=RC":                      `environment variable TXNFUZZ_LEVEL is unknown (did you mean "TXNFUZZ_LEVELS"?)`,
		"TXNFUZZ_NOTHING=secret":                "environment variable TXNFUZZ_NOTHING is unknown",
		"TXNFUZZ_ZZ=1\nTXNFUZZ_AA=1\nPATH=/bin": "environment variable TXNFUZZ_AA is unknown|environment variable TXNFUZZ_ZZ is unknown",
	} {
		if got := strings.Join(StrangeVariables(strings.Split(env, "\n")), "|"); got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}

// Every variable that a file of the project names is known.
func TestVariablesAreKnown(t *testing.T) {
	name := regexp.MustCompile(`TXNFUZZ_[A-Z_]*[A-Z]\b`)
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "corpus"):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "environment"):
			return nil
		}
		if ext := filepath.Ext(path); ext != "" && ext != ".go" && ext != ".md" && ext != ".yml" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, n := range name.FindAllString(string(text), -1) {
			found = append(found, n+"=")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(found, envTarget+"=") {
		t.Fatalf("%d variables, %s not among them", len(found), envTarget)
	}
	for _, w := range StrangeVariables(slices.Compact(slices.Sorted(slices.Values(found)))) {
		t.Error(w)
	}
}
