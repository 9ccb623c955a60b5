package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// What a server option brings about is found, carries the option, and replays
// with the target that the finding names.
func TestFindingsCarryServerOptions(t *testing.T) {
	t.Parallel()
	const name, rule = "mariadb:10.11", "semi-consistent-read-uncommitted" // in scope with the option only
	installed := target.Installed(t.Context())
	if !slices.Contains(installed, name) {
		if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Fatalf("%s is not installed", name)
		}
		return
	}
	out := t.TempDir()
	opt := []string{"--server-opt", "innodb_snapshot_isolation=ON"}
	got := txnfuzz(t, append([]string{"run", "--target", name, "--levels", "RU", "--strict", "--cases", "400", "--seed", "1", "--reduce", "2s", "--workers", "1", "--out", out}, opt...)...)
	if got.code != 1 {
		t.Fatalf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		c, err := corpus.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := c.Get("rules"); r != rule {
			continue
		}
		named, _ := c.Get("target")
		if settings, _ := c.Get("settings"); named != name+",innodb_snapshot_isolation=ON" || !strings.Contains(settings, "innodb_snapshot_isolation=ON") {
			t.Errorf("target %q, settings %q", named, settings)
		}
		for _, args := range [][]string{{"--target", named}, append([]string{"--target", name}, opt...)} {
			got := txnfuzz(t, append([]string{"replay", f, "--json", "-"}, args...)...)
			list := decode[[]map[string]any](t, got.stdout)
			if got.code != 0 || len(list) != 1 || list[0]["verdict"] != "known" || list[0]["target"] != named {
				t.Errorf("%v: status %d, %v", args, got.code, list)
			}
		}
		without := txnfuzz(t, "replay", f, "--json", "-", "--target", name)
		if list := decode[[]map[string]any](t, without.stdout); len(list) != 1 || slices.Contains(anyStrings(list[0]["rules"]), rule) {
			t.Errorf("without the option: %v", list)
		}
		return
	}
	t.Errorf("%q is not among the findings %v", rule, files)
}

func anyStrings(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
