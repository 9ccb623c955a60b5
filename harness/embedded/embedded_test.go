//go:build !notidb

package embedded_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/embedded"
)

// shared is the one server of the tests that do not start their own.
var shared harness.Backend

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	if spec := os.Getenv(childEnv); spec != "" {
		return 0, playChild(spec)
	}
	shared, err = harness.Open(context.Background(), "embedded", harness.Options{})
	if err != nil {
		return 1, err
	}
	code = m.Run()
	return code, shared.Close()
}

func newPool(tb testing.TB, o harness.PoolOptions) *harness.Pool {
	tb.Helper()
	p, err := harness.NewPool(context.Background(), shared, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}
