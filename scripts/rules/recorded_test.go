package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const noOp, reverse = "known no-op-update-unseen", "known reverse-scan-reads-newest"

// cells are verdicts of a target, each as a level and what comes of it there.
func cells(target string, verdicts ...string) []findings.Cell {
	var out []findings.Cell
	for _, v := range verdicts {
		level, verdict, _ := strings.Cut(v, ": ")
		out = append(out, findings.Cell{Target: target, Level: level, Verdict: verdict})
	}
	return out
}

// made are verdicts on two commits of TiDB and two series of MariaDB.
func made() *recorded {
	return &recorded{
		targets: []recordedTarget{
			{"embedded", "8.0.11-TiDB-v8.5.4-20251126-bbbb", history.TiDB},
			{"mariadb:10.11", "10.11.18-MariaDB", history.MariaDB},
			{"mariadb:10.11,snapshot=on", "10.11.18-MariaDB", history.MariaDB},
			{"mariadb:10.5", "10.5.23-MariaDB", history.MariaDB},
			{"tidb:2024-07", "v8.2.0-20240703-aaaa", history.TiDB},
			{"tidb:2025-11", "v8.5.4-20251126-bbbb", history.TiDB},
		},
		cases: []storedCase{
			{"corpus/found/one.sql", "found", 5, slices.Concat(
				cells("embedded", "RC: ok", "RR: "+noOp, "RU: unknown stale"),
				cells("tidb 2025-11", "RC: ok", "RR: "+noOp, "RU: unknown stale"),
				cells("tidb 2024-07", "RC: ok", "RR: "+noOp),
			)},
			{"corpus/found/two.sql", "found", 4, slices.Concat(
				cells("embedded", "RR: "+reverse, "SER: "+reverse),
				cells("mariadb 10.11,snapshot=on", "SER: known record-changed-unseen + record-gone-unseen"),
			)},
		},
	}
}

func TestSeenOn(t *testing.T) {
	const older, newer = "commit `aaaa` (2024-07)", "commit `bbbb` (2025-11)"
	for name, want := range map[string]string{
		"no-op-update-unseen": "* TiDB: from " + older + " to " + newer + "\n" +
			"* MariaDB: no stored case on 10.5, 10.11\n",
		"reverse-scan-reads-newest": "* TiDB: " + newer + " (only `embedded`); no stored case on " + older + "\n",
		"share-nowait-reads-newest": "* TiDB: no stored case on " + older + "; not meant for " + newer + "\n",
		"record-gone-unseen":        "* MariaDB: 10.11 (only `mariadb:10.11,snapshot=on`); not meant for 10.5\n",
	} {
		if diff := cmp.Diff(want, made().seenOn(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTiDBRows(t *testing.T) {
	rows, cases := made().tidbRows()
	if cases != 2 {
		t.Errorf("%d cases with a verdict on TiDB", cases)
	}
	want := []row{
		{"corpus/found/one.sql", []string{"RR"}, [3]string{noOp, noOp, noOp}},
		{"corpus/found/one.sql", []string{"RU"}, [3]string{"unknown stale", "unknown stale", ""}},
		{"corpus/found/two.sql", []string{"RR", "SER"}, [3]string{reverse, "", ""}},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}
