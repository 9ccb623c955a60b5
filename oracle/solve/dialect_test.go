package solve

import (
	"net/url"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestDialectTableNamesEachQuirkAndItsDocumentation(t *testing.T) {
	seen := map[quirk]bool{}
	named := map[quirk]map[history.DBMS]bool{}
	lines := append([]dialectLine(nil), dialectTable...)
	for _, l := range versionLines {
		lines = append(lines, l.dialectLine)
	}
	for _, l := range lines {
		if !seen[l.quirk] {
			named[l.quirk] = map[history.DBMS]bool{}
		}
		seen[l.quirk] = true
		for _, db := range l.dbms {
			if named[l.quirk][db] {
				t.Errorf("quirk %d has two lines for %s", l.quirk, db)
			}
			named[l.quirk][db] = true
		}
		if u, err := url.Parse(l.doc); err != nil || u.Scheme != "https" || len(l.dbms) == 0 || len(l.dbms) == 3 {
			t.Errorf("quirk %d: documentation %q, servers %v", l.quirk, l.doc, l.dbms)
		}
	}
	for q := quirk(0); q < quirks; q++ {
		if !seen[q] {
			t.Errorf("quirk %d has no line", q)
		}
	}
	if quirks > 128 {
		t.Errorf("%d quirks do not fit into two words", quirks)
	}
}

func TestDialectOf(t *testing.T) {
	for _, tc := range []struct {
		server               history.Server
		version              int
		connection, database Collation
		strict               bool
	}{
		{history.Server{DBMS: history.TiDB, Version: "8.0.11-TiDB-v8.2.0"}, 80200, GeneralCI, BinPad, true},
		{history.Server{DBMS: history.MySQL, Version: "9.7.4-2"}, 90704, GeneralCI, AI0900, true},
		{history.Server{DBMS: history.MariaDB, Version: "10.11.18-MariaDB-0+deb12u1"}, 101118, GeneralCI, GeneralCI, true},
		{history.Server{DBMS: history.MariaDB, Version: "11.8.9-MariaDB-4 from Debian"}, 110809, UCA1400, UCA1400, true},
		{history.Server{DBMS: history.MySQL, Version: "9.7.4", Settings: map[string]string{
			"sql_mode": "", "collation_connection": "utf8mb4_bin", "collation_database": "utf8mb4_general_ci"}}, 90704, BinPad, GeneralCI, false},
	} {
		d := DialectOf(tc.server)
		if d.Version != tc.version || d.Connection != tc.connection || d.Database != tc.database || (d.Mode&Strict != 0) != tc.strict {
			t.Errorf("%v: %+v", tc.server, d)
		}
	}
	if DialectOf(history.Server{DBMS: history.MariaDB, Version: "11.8.9"}).is(xorByInt) || !DialectOf(history.Server{DBMS: history.MariaDB, Version: "10.11.2"}).is(xorByInt) {
		t.Error("version lines do not follow the version")
	}
}

func TestCollations(t *testing.T) {
	for _, tc := range []struct {
		c    Collation
		a, b string
		want int
	}{
		{Binary, "a", "a ", -1}, {Binary, "a", "A", 1},
		{BinPad, "a", "a ", 0}, {BinPad, "a", "A", 1}, {BinPad, "a", "a\t", 1},
		{GeneralCI, "a", "A  ", 0}, {GeneralCI, "a", "_", -1}, {GeneralCI, "ab", "b", -1},
		{AI0900, "a", "A", 0}, {AI0900, "a", "a ", -1}, {AI0900, "_", "a", -1}, {AI0900, "_", "1", -1},
		{UCA1400, "a ", "A", 0}, {UCA1400, "a-", "a", 1}, {Bin0900, "a", "a ", -1},
	} {
		if got := tc.c.compare(tc.a, tc.b); got != tc.want {
			t.Errorf("%d: %q against %q: %d, want %d", tc.c, tc.a, tc.b, got, tc.want)
		}
		if got := tc.c.compare(tc.b, tc.a); got != -tc.want {
			t.Errorf("%d: %q against %q: %d, want %d", tc.c, tc.b, tc.a, got, -tc.want)
		}
		if same := tc.c.identity(tc.a) == tc.c.identity(tc.b); same != (tc.want == 0) {
			t.Errorf("%d: identity of %q and %q: %v", tc.c, tc.a, tc.b, same)
		}
	}
	if GeneralCI.exact("ü") || AI0900.exact("\x01") || !BinPad.exact("ü") {
		t.Error("exact: wrong")
	}
}
