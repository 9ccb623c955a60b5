package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/browsertest"
)

// TestLooks looks at the page of testdata, and at that of the runs in the folder that TXNFUZZ_TEST_RUNS names, if it
// names one.
func TestLooks(t *testing.T) {
	ctx := browsertest.Open(t)
	dirs := map[string]string{"nights": nights(t)}
	long, err := os.ReadFile(filepath.Join(dirs["nights"], "3", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	word := strings.Repeat("x", 200)
	longer := strings.NewReplacer("mariadb:11.8", word, "record-gone-unseen", word, "11.8.9-MariaDB-4", word,
		"https://bugs.example/1", "https://bugs.example/"+word, "fixed in the next release", word)
	put(t, filepath.Join(dirs["nights"], "long", word[:100]+".json"), longer.Replace(string(long)))
	if dir := os.Getenv("TXNFUZZ_TEST_RUNS"); dir != "" {
		dirs["runs"] = dir
	}
	var pages []browsertest.Page
	for name, dir := range dirs {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(written(t, load(t, dir), dir)), 0o644); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, browsertest.Page{Name: name, URL: "file://" + file})
	}
	browsertest.Look(t, ctx, pages...)
}
