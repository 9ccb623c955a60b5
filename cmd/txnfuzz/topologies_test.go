package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
)

// topologies are those of several servers, with the kinds of findings that bugs which are known of each bring in cases
// (docs/clusters.md, docs/replicas.md), and with the openings of transactions without such bugs; empty: all.
var topologies = []struct {
	target   string
	known    []string
	openings string
}{
	{"galera:11.8", []string{"nodes-differ", "replica-stopped"}, "begin,read-only,autocommit"},
	{"mysql:9.7,group=3,primary=multi", []string{"nodes-differ"}, "begin,read-only,autocommit"},
	{"mariadb:11.8,replica=mixed,workers=4", nil, ""},
	{"mysql:9.7,replica=row,workers=4", []string{"replica-stopped"}, ""},
	{"postgres:18,standby=1,sync=remote_apply", nil, ""},
	{"galera:10.11,nodes=2", []string{"nodes-differ", "replica-stopped"}, "begin,read-only,autocommit"},
	{"mysql:9.7,group=3", nil, ""},
	{"mariadb:10.11,replica=row", nil, ""},
	{"postgres:16,standby=1", nil, ""},
}

// TestTopologies runs load and cases on three topologies, which are other ones the next day: all take minutes.
// TXNFUZZ_TOPOLOGIES=all has it run on all.
func TestTopologies(t *testing.T) {
	t.Parallel()
	list := topologies
	if os.Getenv("TXNFUZZ_TOPOLOGIES") != "all" {
		turns := len(topologies) / 3
		turn := int(time.Now().Unix()/(24*60*60)) % turns
		list = nil
		for i := turn; i < len(topologies); i += turns {
			list = append(list, topologies[i])
		}
	}
	for _, x := range list {
		t.Run(x.target, func(t *testing.T) {
			server, _, _ := strings.Cut(x.target, ",")
			there := slices.ContainsFunc(harness.Available(t.Context()), func(a harness.Target) bool { return a.Name == server && a.Available })
			if !there && !targettest.Required() {
				t.Skipf("%s is not installed (scripts/servers)", server)
			}
			load := []string{"load", "--target", x.target, "--workload", "append", "--duration", "3s", "--clients", "6",
				"--seed", "1", "--found", t.TempDir()}
			if x.openings != "" {
				load = append(load, "--openings", x.openings)
			}
			out := txnfuzz(t, load...)
			if out.code != 0 || !strings.Contains(out.stdout, "nothing found") {
				t.Errorf("load: %+v", out)
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "run.json")
			out = txnfuzz(t, "run", "--target", x.target, "--cases", "80", "--seed", "1", "--reduce", "0", "--out", dir,
				"--json", file)
			text, err := os.ReadFile(file)
			var told struct {
				Cases    int `json:"cases"`
				Findings []struct {
					Kind string `json:"kind"`
				} `json:"findings"`
			}
			if err == nil {
				err = json.Unmarshal(text, &told)
			}
			if err != nil || out.code > 1 || told.Cases < 80 {
				t.Fatalf("run: %v, %+v\n%s", err, out, text)
			}
			for _, f := range told.Findings {
				if !slices.Contains(x.known, f.Kind) {
					t.Errorf("run found %s:\n%s%s", f.Kind, out.stdout, out.stderr)
				}
			}
		})
	}
}
