package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := RunChild(noCampaign); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func noCampaign(context.Context, string) error {
	return errors.New("no test here runs a campaign in a child")
}

// docBlocks returns the SQL of docs/cases.md by the word behind ```sql.
func docBlocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fromRoot("docs/cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```sql ([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// fromRoot makes a path usable that a setting gives relative to the root of
// the project: a test runs in the folder of its package.
func fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("..", "..", path)
}

func parseCase(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serversAmong returns those of some servers that can be started here; where
// servers are required, all must be.
func serversAmong(t *testing.T, wanted ...string) []string {
	var out []string
	installed := Installed(t.Context())
	for _, w := range wanted {
		if slices.Contains(installed, w) {
			out = append(out, w)
		} else if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and %s is not installed", w)
		}
	}
	return out
}

const tidbPanic = `[WARN] something before
panic: runtime error: index out of range [3] with length 2

goroutine 11824 [running]:
github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next(0xc001, {0x1, 0x2})
	/src/pkg/executor/update.go:21 +0x12
github.com/pingcap/tidb/pkg/server.(*clientConn).Run(0xc002)
	/src/pkg/server/conn.go:1 +0x1
`
