package solve

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
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
		{UCA400, "a ", "A", 0}, {UCA400, "`", "_", -1}, {UCA400, "^", "_", -1}, {UCA400, "#", "^", 1}, {UCA1400, "#", "^", -1},
		{ByteCI, "a", "A ", 0}, {ByteCI, "[", "a", 1}, {ByteBin, "a", "A", 1}, {ByteBin, "a", "a ", 0},
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
	if GeneralCI.exact("ü") || AI0900.exact("\x01") || !BinPad.exact("ü") || ByteBin.exact("ü") || !ByteBin.exact("\x01") || UCA400.exact("ü") {
		t.Error("exact: wrong")
	}
}

// TestTextCollation: the collation of a column is its own, that of its character set, or that of the table.
func TestTextCollation(t *testing.T) {
	mysql, mariadb, tidb := DialectOf(history.Server{DBMS: history.MySQL, Version: "9.7.4"}),
		DialectOf(history.Server{DBMS: history.MariaDB, Version: "11.8.9"}), DialectOf(history.Server{DBMS: history.TiDB, Version: "8.0.11-TiDB-v8.5.4"})
	for _, tc := range []struct {
		d             Dialect
		column, table string
		want          Collation
		err           string
	}{
		{mysql, "", "", AI0900, ""},
		{mysql, "COLLATE utf8mb4_unicode_ci", "", UCA400, ""},
		{mysql, "", "CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci", UCA400, ""},
		{mysql, "CHARACTER SET utf8mb4", "COLLATE=utf8mb4_bin", AI0900, ""},
		{mysql, "CHARACTER SET latin1", "", ByteCI, ""},
		{mysql, "CHARACTER SET latin1 COLLATE latin1_bin", "", ByteBin, ""},
		{mysql, "", "CHARSET=latin1", ByteCI, ""},
		{mysql, "", "CHARSET=utf8mb3", GeneralCI, ""},
		{mysql, "COLLATE utf8mb4_unicode_ci", "CHARSET=gbk", UCA400, ""},
		{mysql, "", "CHARSET=gbk", 0, "text in the table's character set or collation"},
		{mysql, "CHARACTER SET gbk", "", 0, "character set gbk"},
		{mysql, "COLLATE utf8mb4_swedish_ci", "", 0, "collation utf8mb4_swedish_ci"},
		{mariadb, "", "CHARSET=utf8mb3", UCA1400, ""},
		{mariadb, "", "CHARSET=latin1", ByteCI, ""},
		{tidb, "", "CHARSET=utf8", BinPad, ""},
		{tidb, "", "CHARSET=latin1", ByteBin, ""},
	} {
		n, err := corpus.ParseStatement("CREATE TABLE t (a VARCHAR(9) " + tc.column + ") " + tc.table)
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(n.(*ast.CreateTableStmt), tc.d)
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s %s: %v, want %s", tc.column, tc.table, err, tc.err)
			}
		case err != nil:
			t.Errorf("%s %s: %v", tc.column, tc.table, err)
		case table.Columns[0].Type.Collation != tc.want:
			t.Errorf("%s %s: %d, want %d", tc.column, tc.table, table.Columns[0].Type.Collation, tc.want)
		}
	}
}

// TestCreatedCollation reads collations as SHOW CREATE TABLE prints them.
func TestCreatedCollation(t *testing.T) {
	d := DialectOf(history.Server{DBMS: history.MariaDB, Version: "11.8.9"})
	for options, want := range map[string]Collation{
		"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci":        UCA1400,
		"ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_unicode_ci":           UCA400,
		"ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=latin1 COLLATE=latin1_bin":   ByteBin,
		"ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci COMMENT='x'": ByteCI,
	} {
		table, _, err := ReadTable("CREATE TABLE `t` (\n  `a` varchar(9) DEFAULT NULL\n) "+options, d)
		if err != nil {
			t.Errorf("%s: %v", options, err)
			continue
		}
		if got := table.Columns[0].Type.Collation; got != want {
			t.Errorf("%s: %d, want %d", options, got, want)
		}
	}
}
