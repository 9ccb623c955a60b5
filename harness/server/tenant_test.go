package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
)

// tenancy runs cases over three schemas on a server that is not ours.
func tenancy(ctx context.Context, dsn string) (*harness.Pool, error) {
	b, err := harness.Open(ctx, dsn, harness.Options{})
	if err != nil {
		return nil, err
	}
	p, err := harness.NewPool(ctx, b, harness.PoolOptions{Ahead: true, CacheSize: 1})
	if err != nil {
		return nil, err
	}
	for i := range 3 {
		c, err := corpus.Parse("case", fmt.Appendf(nil, "/* init */ CREATE TABLE t (a INT, c%d INT);\n/* tx1 */ SELECT * FROM t;\n", i))
		if err != nil {
			return nil, err
		}
		if _, err := p.Run(ctx, c, harness.At(corpus.RepeatableRead)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// TestNothingOutlivesAKilledTenant: what a killed process left on a server that is not
// ours is gone when the next one has connected; what the living have is not, nor is
// what only looks alike.
func TestNothingOutlivesAKilledTenant(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		s := start(t, target)
		root := sideOf(t, s)
		const alike = "txnfuzz_1_00c0ffee_1"
		must(t, root, "CREATE DATABASE "+alike)
		dsn := "root@unix(" + s.current.socket().path + ")/"
		count := func() int {
			rows, err := root.query(t.Context(), `SHOW DATABASES LIKE 'txnfuzz\_%'`)
			if err != nil {
				t.Fatal(err)
			}
			return len(rows)
		}
		alive, err := tenancy(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		cmd, lines := again(t, tenantEnv+"="+dsn)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the tenant says %q", lines.Text())
		}
		if n := count(); n < 5 { // of each pool two at least, one of ours
			t.Fatalf("%d databases before the kill: this test shows nothing", n)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = cmd.Process.Wait()
		gone := until(func() bool { // the server notices a little later
			p, err := tenancy(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			return count() <= 4
		})
		if !gone {
			t.Errorf("%d databases are left behind the kill, want those of the living", count())
		}
		if _, err := root.query(t.Context(), "SHOW TABLES FROM "+alike); err != nil {
			t.Errorf("what was not made by a pool is gone: %v", err)
		}
		if err := alive.Close(); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != 1 {
			t.Errorf("%d databases are left, want the one that is not ours", n)
		}
	})
}
