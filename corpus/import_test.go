package corpus

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"cases/mariadb32898.txt": "mariadb-32898", "MDEV-26642.sql": "mdev-26642", "tidb28212.txt#2": "tidb-28212-2", "x/Some Case!.sql": "some-case",
		"mysql_104833": "mysql-104833", "....": "",
	} {
		if got := NameOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestImportCases(t *testing.T) {
	dir := t.TempDir()
	if _, err := Save(dir, "there", parseCase(t, "/* tx1 */ SELECT 1;")); err != nil {
		t.Fatal(err)
	}
	cases := []Stored{
		{"a/tidb1.txt", parseCase(t, "-- reported: READ COMMITTED\n/* tx1 */ SELECT 2;")},
		{"b/tidb-1.sql", parseCase(t, "-- source: a page\n/* tx1 */ SELECT 3;")},
		{"c/other.sql", parseCase(t, "-- x: y\n/* tx1 */ SELECT 1; -- there already")},
		{"d/again.sql", parseCase(t, "/* tx1 */ SELECT 2;")},
	}
	done, err := ImportCases(dir, cases)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range done {
		word := "new"
		if d.Known {
			word = "known"
		}
		got = append(got, d.From+" "+word+" "+filepath.Base(d.To))
	}
	want := "a/tidb1.txt new tidb-1.sql|b/tidb-1.sql new tidb-1-" + ID(cases[1].Case)[:6] + ".sql|c/other.sql known there.sql|d/again.sql known tidb-1.sql"
	if strings.Join(got, "|") != want {
		t.Errorf("%q\nwant %q", strings.Join(got, "|"), want)
	}
	c, err := Load(filepath.Join(dir, "tidb-1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(Print(c, Text)); text != "-- source: tidb1.txt\n-- reported: READ COMMITTED\n\n/* tx1 */ SELECT 2;\n" {
		t.Errorf("imported:\n%s", text)
	}
}

// TestImportLevels keeps the same statements at other levels apart: that is another case.
func TestImportLevels(t *testing.T) {
	dir := t.TempDir()
	at := func(level string) *Case { return parseCase(t, level+"/* tx1 */ SELECT 1;") }
	done, err := ImportCases(dir, []Stored{
		{"x#1", at("-- level: RC\n")}, {"x#2", at("-- level: RR\n")}, {"y#1", at("-- level: RR\n")}, {"z", at("")},
		{"x.sql#1", at("-- level: SER\n")}, {"x#1", at("-- level: RU\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range done {
		got = append(got, filepath.Base(d.To))
	}
	id := ID(at(""))[:6]
	want := "x-1.sql x-2.sql x-2.sql x-1.sql x-1-" + id + ".sql x-1-" + id + "-ru.sql"
	if strings.Join(got, " ") != want {
		t.Errorf("%q\nwant %q", strings.Join(got, " "), want)
	}
	if done, err = ImportCases(dir, []Stored{{"w", at("-- level: RC\n")}}); err != nil || filepath.Base(done[0].To) != "x-1.sql" {
		t.Errorf("again: %v, %v", done, err)
	}
	all := t.TempDir()
	if done, err = ImportCases(all, []Stored{{"x", at("")}, {"y", at("-- level: RC\n")}}); err != nil || !done[1].Known {
		t.Errorf("at all levels it is there: %v, %v", done, err)
	}
}
