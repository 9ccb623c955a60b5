package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCorpusImport(t *testing.T) {
	dir := t.TempDir()
	blocks := "CREATE TABLE t(a INT)\n\nBEGIN\nCOMMIT\n\nBEGIN\nUPDATE t SET a = 1\nCOMMIT\n\n1-2-2-1-2\nEND\n"
	from := filepath.Join(dir, "from")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "mysql1.txt"), []byte(blocks), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	got := txnfuzz(t, "corpus", "import", from, "--out", out)
	file := filepath.Join(out, "mysql-1.sql")
	if got.code != 0 || !strings.Contains(got.stdout, "mysql1.txt: written to "+file) || !strings.Contains(got.stdout, "TestCorpus -update") {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	again := txnfuzz(t, "corpus", "import", from, "--out", out)
	if again.code != 0 || !strings.Contains(again.stdout, "mysql1.txt: is in "+file) || strings.Contains(again.stdout, "-update") {
		t.Errorf("again, status %d: %s%s", again.code, again.stdout, again.stderr)
	}
	stats := txnfuzz(t, "corpus", "stats", out)
	inOrder(t, stats.stdout, "1 case, 2 sessions, 5 statements in them\n", "by name:  mysql 1\n", file+" records no verdict\n")
	if err := os.WriteFile(filepath.Join(from, "bad.txt"), []byte(blocks[:60]+"\n\n1-2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := txnfuzz(t, "corpus", "import", from, "--out", out)
	if bad.code != 2 || !strings.Contains(bad.stderr, "bad.txt:") {
		t.Errorf("malformed, status %d: %s", bad.code, bad.stderr)
	}
}

const (
	specText = "setup { CREATE TABLE t (a int); }\nsession s1 step r { SELECT a FROM t; } step l { LOCK TABLE t; }\n" +
		"session s2 step w { INSERT INTO t VALUES (1); }\npermutation r w\npermutation w r\npermutation l w\n"
	pageText = "Testing MySQL transaction isolation levels\n\nSetup:\n```sql\ncreate table t (a int);\n```\nMySQL prevents (G0):\n" +
		"```sql\nset session transaction isolation level serializable; begin; -- T1\nselect * from t; -- T1\ncommit; -- T1\n```\n"
	testText = "create table t (a int);\nbegin;\n--source include/x.inc\nconnection default;\ncommit;\ndrop table t;\n" +
		"create table t (a int);\nconnection c;\nxa begin 'x';\nconnection default;\ninsert into t values (1);\ndrop table t;\n"
	sourceText = "connect (c,localhost,root,,);\ninsert into t values (1);\n"
)

// A test file reads others from the folders above.
func TestCorpusImportMysqltest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t/a.test": testText, "t/bad.test": sourceText + "select 'a", "t/tcl.test": "set x [y]\n",
		"include/x.inc": sourceText,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	got := txnfuzz(t, "corpus", "import", filepath.Join(dir, "t"), "--out", out)
	if got.code != 0 {
		t.Fatalf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	inOrder(t, got.stdout, "a.test#1: written to "+filepath.Join(out, "a-1.sql"), "\n1 case read; 2 not imported",
		"1  XA ", "a.test#2: xa begin 'x'\n", "1  a file that is not read  bad.test: ", "bad.test:3:8: ' is never closed")
	bad := txnfuzz(t, "corpus", "import", filepath.Join(dir, "t", "bad.test"), "--out", out)
	if bad.code != 2 || !strings.Contains(bad.stderr, "bad.test:3:8: ' is never closed") {
		t.Errorf("status %d: %s", bad.code, bad.stderr)
	}
}

// A folder may hold files of several tools, cases, and pages that are none of these.
func TestCorpusImportForeign(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.spec": specText, "b.md": pageText, "README.md": "# x\n", "c.sql": "/* tx1 */ SELECT 1;\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	got := txnfuzz(t, "corpus", "import", dir, "--out", out)
	if got.code != 0 {
		t.Fatalf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	inOrder(t, got.stdout, "c.sql: written to", "a.spec#1: written to "+filepath.Join(out, "a-1.sql"), "a.spec#2: written to", "b.md#1: written to",
		"\n4 cases read; 1 not imported, since a case cannot express them:\n", "1  LOCK TABLE in a session  a.spec#3: LOCK TABLE t\n", "-update")
	again := txnfuzz(t, "corpus", "import", filepath.Join(dir, "a.spec"), "--out", out)
	if again.code != 0 || strings.Contains(again.stdout, "written") || !strings.Contains(again.stdout, "2 cases read; 1 not imported") {
		t.Errorf("again, status %d: %s%s", again.code, again.stdout, again.stderr)
	}
	verified := txnfuzz(t, "corpus", "stats", out)
	inOrder(t, verified.stdout, "4 cases, ")
	for name, text := range map[string]string{"bad.spec": "session a", "bad.md": "# no page"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if bad := txnfuzz(t, "corpus", "import", file, "--out", out); bad.code != 2 || !strings.Contains(bad.stderr, name+":1:") {
			t.Errorf("%s: status %d: %s", name, bad.code, bad.stderr)
		}
	}
	if bad := txnfuzz(t, "corpus", "import", filepath.Join(dir, "none.spec"), "--out", out); bad.code != 2 {
		t.Errorf("no such file: status %d: %s", bad.code, bad.stderr)
	}
}

func TestCorpusStats(t *testing.T) {
	got := txnfuzz(t, "corpus", "stats")
	if got.code != 0 {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	inOrder(t, got.stdout, " cases, ", "by kind:", "UPDATE ", "recorded on", "embedded", "mariadb 11.8", "mysql 9.7")
}

// A header line that nothing reads is told of, with its place, and no more.
func TestHeaderWarnings(t *testing.T) {
	good := "-- level: RC\n-- x-owner: Ann\n/* tx1 */ SELECT 1;\n"
	for text, want := range map[string]string{
		good:                    "",
		"-- levl: RR\n" + good:  `:1:1: unknown header key "levl" (did you mean "level"?)`,
		good + "-- level: RR\n": `:4:1: "level" stands behind a statement`,
		"-- verdict (mysql:9.7, RC): ok\n" + good:  ":1:1: this records no verdict",
		"-- As the report says: it is so\n" + good: "",
	} {
		file := writeFile(t, "case.sql", text)
		if want != "" {
			want = "txnfuzz: warning: " + file + want
		}
		for _, args := range [][]string{{"corpus", "stats", file}, {"report", file, "--html", "-"}, {"report", filepath.Dir(file), "--html", "-"}} {
			got := txnfuzz(t, args...)
			if got.code != 0 || !strings.HasPrefix(got.stderr, want) || (want == "") != (got.stderr == "") || strings.Count(got.stderr, "\n") > 1 {
				t.Errorf("%s, status %d: %q, want %q", args[0], got.code, got.stderr, want)
			}
		}
	}
}

func TestCorpusSeed(t *testing.T) {
	out := t.TempDir()
	got := txnfuzz(t, "corpus", "seed", "corpus/known/mysql-104833.sql", "--out", out)
	if got.code != 0 || got.stdout != filepath.Join(out, "mysql-104833")+"\n" {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	text, err := os.ReadFile(filepath.Join(out, "mysql-104833"))
	if err != nil || !strings.HasPrefix(string(text), "go test fuzz v1\n[]byte(\"") {
		t.Errorf("%q, %v", text, err)
	}
	strange := writeFile(t, "strange.sql", "/* tx1 */ SELECT 1;\n")
	if got := txnfuzz(t, "corpus", "seed", strange, "--out", out); got.code != 2 || !strings.Contains(got.stderr, "is none of the ") {
		t.Errorf("a case that is not stored, status %d: %s", got.code, got.stderr)
	}
}
