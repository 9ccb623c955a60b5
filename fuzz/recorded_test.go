package fuzz

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

// versionsFile names, beside the folders of cases, the file that tells on which
// version of each target the verdicts were recorded.
const versionsFile = "corpus/recorded-on.txt"

const versionsHeader = `# The version of each target when its verdicts were last recorded in the headers
# of the cases (go test ./fuzz -run TestCorpus -update).
`

// readVersions reads that file: lines of a target, a tab and a version.
func readVersions(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read recorded versions: %w", err)
	}
	out := map[string]string{}
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		if target, version, ok := strings.Cut(sc.Text(), "\t"); ok && !strings.HasPrefix(target, "#") {
			out[target] = version
		}
	}
	return out, nil
}

func writeVersions(path string, versions map[string]string) error {
	var b strings.Builder
	b.WriteString(versionsHeader)
	for _, t := range sortedKeys(versions) {
		fmt.Fprintf(&b, "%s\t%s\n", t, versions[t])
	}
	return wholefile.Write(path, []byte(b.String()))
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

func TestVersionsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "versions")
	want := map[string]string{"mariadb:11.8,snapshot=off": "11.8.9 from Debian", "embedded": "8"}
	if err := writeVersions(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := readVersions(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none, err := readVersions(path + "x"); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
}
