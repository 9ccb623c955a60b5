package findings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := target.RunChild(noCampaign); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func noCampaign(context.Context, string) error {
	return errors.New("no test here runs a campaign in a child")
}

// fromRoot makes a path usable that a setting gives relative to the root of
// the project: a test runs in the folder of its package.
func fromRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("..", "..", path)
}
