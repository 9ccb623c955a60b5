package campaign

import (
	"os"
	"path/filepath"
	"testing"

	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := RunChild(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// fromRoot makes a path usable that a setting gives relative to the root of
// the project: a test runs in the folder of its package.
func fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("..", "..", path)
}

const tidbPanic = `[WARN] something before
panic: runtime error: index out of range [3] with length 2

goroutine 11824 [running]:
github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next(0xc001, {0x1, 0x2})
	/src/pkg/executor/update.go:21 +0x12
github.com/pingcap/tidb/pkg/server.(*clientConn).Run(0xc002)
	/src/pkg/server/conn.go:1 +0x1
`
