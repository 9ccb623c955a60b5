//go:build !notidb

package embedded

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// What the server says it is must be the commit that is built in, and the parser that of
// the same commit.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range mod.Require {
		if r.Mod.Path != "github.com/pingcap/tidb" && r.Mod.Path != "github.com/pingcap/tidb/pkg/parser" {
			continue
		}
		seen++
		rev, err := module.PseudoVersionRev(r.Mod.Version)
		if err != nil {
			t.Fatal(err)
		}
		at, err := module.PseudoVersionTime(r.Mod.Version)
		if err != nil {
			t.Fatal(err)
		}
		if want := at.Format("-20060102-") + rev; !strings.HasSuffix(release, want) {
			t.Errorf("%s is %s, the server would report %s", r.Mod.Path, want, release)
		}
	}
	if seen != 2 {
		t.Errorf("%d of two modules in go.mod", seen)
	}
}
