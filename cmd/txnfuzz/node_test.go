package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
)

// meddling are statements that change what others run.
var meddling = regexp.MustCompile(`(?i)\b(SET\s+(GLOBAL\b|@@GLOBAL|PERSIST)|(START|STOP)\s+(ALL\s+)?(SLAVE|REPLICA|GROUP_REPLICATION)|RESET\s+|` +
	`CHANGE\s+(MASTER|REPLICATION)|PURGE\s|FLUSH\s|SHUTDOWN|RESTART\b|INSTALL\s|UNINSTALL\s|ALTER\s+(USER|SYSTEM)|CREATE\s+USER)`)

// TestNodesAreLeftAlone loads a primary and its replica as if somebody else ran them, and reads in their general logs
// what they were sent.
func TestNodesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		b, err := harness.Open(t.Context(), server+",replica=row,general_log=ON,general_log_file=queries.log", harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		var dsns, logs []string
		var began []int
		for _, n := range b.(harness.Clustered).Topology().Nodes {
			w, err := harness.WiredOf(n.Backend)
			if err != nil {
				t.Fatal(err)
			}
			dsns = append(dsns, w.Config().FormatDSN())
			logs = append(logs, filepath.Join(filepath.Dir(w.Config().Addr), "data", "queries.log"))
		}
		for _, log := range logs {
			text := readFile(t, log)
			began = append(began, len(text))
			if log == logs[1] && !meddling.MatchString(text) {
				t.Errorf("nothing in the log of the replica looks like what has attached it: %s", text)
			}
		}
		got := txnfuzz(t, "load", "--target", dsns[0], "--node", "ro:"+dsns[1], "--duration", "500ms", "--clients", "4",
			"--program-time", "0", "--found", t.TempDir())
		if got.code != exitClean {
			t.Fatalf("%v", got)
		}
		for i, want := range []string{"COMMIT", "SHOW GLOBAL VARIABLES"} {
			text := readFile(t, logs[i])[began[i]:]
			if !strings.Contains(text, want) {
				t.Errorf("the log of node %d has no %s", i+1, want)
			}
			for _, line := range strings.Split(text, "\n") {
				if meddling.MatchString(line) {
					t.Errorf("node %d was sent %s", i+1, line)
				}
			}
		}
		got = txnfuzz(t, "load", "--target", dsns[0], "--node", "ro:"+dsns[1], "--fault", "pause", "--duration", "1s")
		if got.code != exitUsage || !strings.Contains(got.stderr, "--fault needs a private server") {
			t.Errorf("a fault: %v", got)
		}
	}
}
