package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

func mariadb(ruleset string, seed, cases, seen int) *row {
	return &row{ruleset, "mariadb:11.8", "", seed, summary{
		ServerVersion: "11.8.9-MariaDB", DBMS: "mariadb", Settings: map[string]string{"innodb_snapshot_isolation": "ON", "time_zone": "+00:00"},
		Seconds: 1.5, Cases: cases, Statements: 10 * cases, Judged: 0.99, Blocked: 3, Conflicting: 0.8,
		Verdicts: map[string]int{"ok": cases - seen, "known": seen, "violation": 1, "unknown": 0},
		Known:    map[string]int{"record-gone-unseen": seen}, Unknown: map[string]int{},
		ByLevel: campaign.ByLevel{"RR": {Cases: cases, Known: map[string]int{"record-gone-unseen": seen}, Violations: map[string]int{"wrong-rows/RR/SELECT": 1}}},
	}}
}

func writeTally(t *testing.T, rows ...*row) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tally.tsv")
	for _, r := range rows {
		if err := appendChunk(path, r); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestTallyRoundTrip(t *testing.T) {
	want := mariadb("abc", 3, 500, 7)
	got, err := readTally(writeTally(t, want))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	if diff := cmp.Diff(want.ByLevel, got[0].ByLevel); diff != "" {
		t.Errorf("counts by level (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(want.Settings, got[0].Settings); diff != "" {
		t.Errorf("settings (-written +read):\n%s", diff)
	}
	if got[0].Cases != 500 || got[0].seed != 3 || got[0].Judged != 0.99 || got[0].Verdicts["known"] != 7 {
		t.Errorf("read %+v", got[0])
	}
}

func TestResumeCountsTheRuleset(t *testing.T) {
	path := writeTally(t, mariadb("old", 9, 500, 7), mariadb("new", 2, 300, 1), mariadb("new", 3, 200, 1))
	done, seed, err := resume(path, "new", "mariadb:11.8", "")
	if err != nil || done != 500 || seed != 9 {
		t.Errorf("done %d, highest seed %d, %v; want 500 and 9", done, seed, err)
	}
	if done, seed, err = resume(path, "new", "mysql:9.7", ""); err != nil || done != 0 || seed != 0 {
		t.Errorf("another target: done %d, highest seed %d, %v", done, seed, err)
	}
	if done, _, err = resume(path, "new", "mariadb:11.8", "RR"); err != nil || done != 0 {
		t.Errorf("other levels: done %d, %v", done, err)
	}
}

// The committed tally has rows of all versions.
func TestCommittedTallyIsRead(t *testing.T) {
	rows, err := readTally("tally.tsv")
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	text, err := os.ReadFile("tally.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(strings.TrimSpace(string(text)), "\n"); len(rows) != want {
		t.Errorf("read %d of %d rows", len(rows), want)
	}
	if head, _, _ := strings.Cut(string(text), "\n"); head != strings.Join(columns, "\t") {
		t.Errorf("columns %q", head)
	}
}

func TestTable(t *testing.T) {
	rows, err := readTally(writeTally(t, mariadb("old", 1, 1000, 50), mariadb("new", 2, 300, 3), mariadb("new", 3, 200, 2)))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := corpus.LoadDir("../../corpus/known")
	if err != nil {
		t.Fatal(err)
	}
	for i := range stored {
		stored[i].Path = strings.TrimPrefix(stored[i].Path, "../../")
	}
	text := tableText(summed(rows), stored)
	for _, want := range []string{
		"| `mariadb:11.8` | 11.8.9-MariaDB | innodb_snapshot_isolation=ON | new | 500 | 99.00 % | 495 | 5 | 2 | 0 |\n",
		"| `mariadb:11.8` | RR | [record-gone-unseen](https://jira.mariadb.org/browse/MDEV-40092) | 5 | 500 | 1000 | [known/maria-40092.sql](../corpus/known/maria-40092.sql) |\n",
		"| `mariadb:11.8` | RR | `wrong-rows/RR/SELECT` | 2 | 500 | 400 | – |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

// A few cases under a newer ruleset do not replace many under an older one.
func TestTableKeepsManyCases(t *testing.T) {
	rows, err := readTally(writeTally(t, mariadb("old", 1, 60000, 600), mariadb("old", 2, 50000, 500), mariadb("new", 3, 300, 3)))
	if err != nil {
		t.Fatal(err)
	}
	if s := summed(rows); len(s) != 1 || s[0].ruleset != "old" || s[0].Cases != 110000 {
		t.Errorf("%+v", s[0].row)
	}
}

func TestTableOfAnOldTally(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.tsv")
	line := "abc\tembedded\t8.0.11\t\t1\t50\t600\t0.9\t3\t0.9\t50\t0\t0\t0\t1.0\t-\t-\n"
	if err := os.WriteFile(old, []byte(strings.Join(columns[:oldColumns], "\t")+"\n"+line), 0o644); err != nil {
		t.Fatal(err)
	}
	if done, _, err := resume(old, "abc", "embedded", ""); err != nil || done != 50 {
		t.Errorf("done %d, %v", done, err)
	}
	if err := writeTable(filepath.Join(t.TempDir(), "t.md"), old); err == nil {
		t.Error("a tally without counts by level gave a table")
	}
}
