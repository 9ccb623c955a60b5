package telling

import (
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
)

// TestMain plays the part of a child process where the tests started one.
func TestMain(m *testing.M) {
	if code, ran := campaign.RunChild(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
