package server

import (
	"context"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

func TestPairTry(t *testing.T) {
	for _, name := range []string{"mariadb:11.8,replica=row", "mariadb:10.11,replica=statement", "mysql:9.7,replica=row,workers=4,order=off", "mysql:9.7,replica=mixed"} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			b, err := harness.Open(context.Background(), name, harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			t.Logf("started in %s: %v", time.Since(begun), b.Server().Settings)
			r := b.(harness.Replicated)
			begun = time.Now()
			f, err := r.Follow(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for range 100 {
				if err := f.CatchUp(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("100 questions in %s", time.Since(begun))
			begun = time.Now()
			if err := r.Rebuild(context.Background()); err != nil {
				t.Fatal(err)
			}
			t.Logf("rebuilt in %s", time.Since(begun))
			if err := f.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
