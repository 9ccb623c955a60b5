package corpus

import "testing"

// TestVersions reads, prints and changes the header line that asks for versions of rows.
func TestVersions(t *testing.T) {
	const body = "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT 1 FROM t;\n"
	c := parseCase(t, "-- row-versions: told\n-- level: RC\n"+body)
	if !c.TellsVersions() {
		t.Error("not asked for")
	}
	if again := parseCase(t, string(Print(c, Text))); !again.TellsVersions() {
		t.Errorf("lost in print: %s", Print(c, Text))
	}
	shared := *c
	shared.SetVersions(false)
	if shared.TellsVersions() || !c.TellsVersions() {
		t.Error("a copy changes the original, or keeps the line")
	}
	shared.SetVersions(true)
	shared.SetVersions(true)
	if !shared.TellsVersions() || len(shared.Header) != 2 {
		t.Errorf("header %v", shared.Header)
	}
	if _, err := Parse("x", []byte("-- row-versions: yes\n"+body)); err == nil ||
		err.Error() != `x:1:1: header row-versions: "yes": want row-versions: told, or no such line` {
		t.Errorf("%v", err)
	}
}
