package target

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
)

// What is listed is what `all` stands for, beside the names of families and several servers at once.
func TestTargets(t *testing.T) {
	var listed []string
	for _, x := range Targets(t.Context()) {
		if x.Available && (x.Version == "" || x.Note == "") {
			t.Errorf("%+v", x)
		}
		if x.Available && (strings.Contains(x.Name, ":") || x.Name == Default) && !OfSeveral(x.Name) {
			listed = append(listed, x.Name)
		}
	}
	if want := Installed(t.Context()); !slices.Equal(listed, want) {
		t.Errorf("listed %q, installed %q", listed, want)
	}
	if n := len(harness.Available(t.Context())); n > 0 && len(Targets(t.Context())) < n {
		t.Errorf("fewer than the %d of the harness", n)
	}
}

func TestEmbeddedCommit(t *testing.T) {
	for version, want := range map[string]string{
		"v1.1.0-beta.0.20240703042657-230bbc2ef5ef": ", commit 230bbc2ef5ef of 2024-07-03", "v8.5.0": "", "(devel)": "",
	} {
		info := &debug.BuildInfo{Deps: []*debug.Module{{Path: "github.com/pingcap/tidb/pkg/parser", Version: "v0.0.0-20200101000000-000000000000"}, {Path: "github.com/pingcap/tidb", Version: version}}}
		if got := embeddedCommit(info); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}
