package hermitage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const wantCase = "-- source: Hermitage, page.md\n-- note: Postgres \"repeatable read\" does not prevent Write Skew (G2-item)\n" +
	"-- anomaly: G2-item\n-- level: REPEATABLE READ\n\n" +
	"/* init */ CREATE TABLE test (id INT PRIMARY KEY, `value` INT);\n" +
	"/* init */ INSERT INTO test (id, `value`) VALUES (1, 10), (2, 20);\n" +
	"/* tx1 */ BEGIN;\n/* tx2 */ BEGIN;\n/* tx1 */ UPDATE test SET `value` = 11 WHERE id = 1; -- BLOCKS\n" +
	"/* tx2 */ COMMIT; -- This unblocks T1\n/* tx1 */ ROLLBACK;\n/* tx1 */ SELECT * FROM test; -- Shows 1 => 10\n"

func TestCases(t *testing.T) {
	read, err := Cases("a/page.md", []byte(page(t)))
	if err != nil || len(read.Cases) != 1 || len(read.Refused) != 2 {
		t.Fatalf("%v, %+v", err, read)
	}
	if got := string(corpus.Print(read.Cases[0].Case, corpus.Text)); got != wantCase || read.Cases[0].Path != "a/page.md#1" {
		t.Errorf("%s:\n%s", read.Cases[0].Path, got)
	}
	got := fmt.Sprintf("%v; %v", read.Refused[0], read.Refused[1])
	if want := "a/page.md#2: LISTEN in a session: listen c; a/page.md#3: a line without a session: select * from test;"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// unread is the page with a statement that nobody reads.
func unread(t *testing.T) string { return strings.Replace(page(t), "listen c", "vacuum full", 1) }

func TestServers(t *testing.T) {
	for title, want := range map[string]string{
		"MySQL":  "a/page.md#2: SQL of a session that is not read",
		"Oracle": "a/page.md#1: the SQL of Oracle",
	} {
		read, err := Cases("a/page.md", []byte(strings.Replace(unread(t), "PostgreSQL", title, 1)))
		if err != nil || len(read.Refused) == 0 || !strings.Contains(fmt.Sprint(read.Refused), want) {
			t.Errorf("%s: %v, %v, want %s", title, err, read, want)
		}
	}
	mysql := strings.Replace(unread(t), "PostgreSQL", "MySQL", 1)
	mysql = strings.ReplaceAll(mysql, "begin; set transaction isolation level", "set session transaction isolation level")
	mysql = strings.ReplaceAll(mysql, "repeatable read; --", "serializable; begin; --")
	read, err := Cases("page.md", []byte(strings.Replace(mysql, "abort", "rollback", 1)))
	if err != nil || len(read.Cases) != 1 {
		t.Fatalf("%v, %v", err, read.Refused)
	}
	want := strings.Replace(wantCase, "REPEATABLE READ", "SERIALIZABLE", 1)
	if got := string(corpus.Print(read.Cases[0].Case, corpus.Text)); got != want {
		t.Errorf("of MySQL:\n%s", got)
	}
}

func TestNoPage(t *testing.T) {
	for text, want := range map[string]string{
		"# Read me": "x.md:1:1: want a page of Hermitage, with the title Testing … transaction isolation levels",
		"Testing X transaction isolation levels\n```sql\nselect 1;\n```\n": "x.md:1:1: no test: want blocks of SQL whose lines end in -- T1",
	} {
		if _, err := Cases("x.md", []byte(text)); err == nil || err.Error() != want || Looks([]byte(text)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if !Looks([]byte(page(t))) {
		t.Error("a page is not known as one")
	}
}
