package workload

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// library has reads of all forms: of one row and of more, of several tables, with names that languages reserve.
const library = `/* schema */
CREATE TABLE book (id INT PRIMARY KEY, title VARCHAR(20) NOT NULL, price DECIMAL(5,2), weight DOUBLE NOT NULL, size BIGINT UNSIGNED NOT NULL);
CREATE TABLE loan (book INT NOT NULL, reader INT NOT NULL, PRIMARY KEY (book, reader));
/* transaction lend-out (:from book.id, :class INT, :n INT) */
SELECT title, price, weight, size FROM book WHERE id = :from INTO :import, :from2, :err, :n;
SELECT * FROM loan WHERE book = :from AND (reader = :class) INTO :range, :n;
SELECT reader FROM loan WHERE book = :from;
SELECT COUNT(*) FROM loan WHERE book = :from AND reader <> ':x 100%' INTO :many;
SELECT l.reader, b.title FROM loan AS l, book AS b WHERE l.book = b.id AND b.id = :from ORDER BY l.reader;
SELECT * FROM loan;
/* transaction return () */
SELECT title FROM book WHERE id = 1;`

func librarySnippets(t *testing.T, dbms history.DBMS, lock bool, stronger string) map[string]string {
	t.Helper()
	w, err := workload.Parse("library.workload", []byte(library))
	if err != nil {
		t.Fatal(err)
	}
	var reads []read
	for _, txn := range w.Transactions {
		if lock {
			reads = append(reads, plainReads(txn)...)
		}
	}
	out := map[string]string{}
	for _, s := range snippets(w, dbms, reads, stronger, []string{"lend-out", "return"}) {
		out[s.Framework] = s.Code
		if want := map[bool]int{true: 2, false: 1}[lock && stronger != ""]; len(s.Docs) != want {
			t.Errorf("%s names %d pages, want %d", s.Framework, len(s.Docs), want)
		}
	}
	return out
}

// eachLibrary calls f for the snippets of all that may be proposed.
func eachLibrary(t *testing.T, framework string, f func(t *testing.T, code string)) {
	for _, x := range []struct {
		name     string
		dbms     history.DBMS
		lock     bool
		stronger string
	}{
		{"locks on MySQL", history.MySQL, true, ""},
		{"locks or a level on PostgreSQL", history.PostgreSQL, true, "SER"},
		{"a level on PostgreSQL", history.PostgreSQL, false, "RR"},
		{"a level on MySQL", history.MySQL, false, "RC"},
	} {
		t.Run(x.name, func(t *testing.T) { f(t, librarySnippets(t, x.dbms, x.lock, x.stronger)[framework]) })
	}
	if got := librarySnippets(t, history.MySQL, false, ""); len(got) != 0 {
		t.Errorf("nothing is proposed, and %v", got)
	}
}

// TestGoSnippetsCompile: they need the standard library only, are formatted, and go vet has nothing to say.
func TestGoSnippetsCompile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module snippets\n\ngo 1.22\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	eachLibrary(t, "go", func(t *testing.T, code string) {
		n++
		file := "package p" + string(rune('a'+n)) + "\n\nimport (\n\t\"context\"\n\t\"database/sql\"\n)\n\n" + code
		formatted, err := format.Source([]byte(file))
		if err != nil || string(formatted) != file {
			t.Errorf("not as gofmt has it: %v\n%s\nwant\n%s", err, file, formatted)
		}
		sub := filepath.Join(dir, "p"+string(rune('a'+n)))
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "p.go"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	vet := exec.Command("go", "vet", "./...")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := vet.CombinedOutput(); err != nil || n != 4 {
		t.Errorf("%d files: %v\n%s", n, err, out)
	}
}

// TestPythonSnippetsCompile asks Python whether it takes their syntax; Django itself is not run.
func TestPythonSnippetsCompile(t *testing.T) {
	wants(t, "python3")
	eachLibrary(t, "django", func(t *testing.T, code string) {
		file := filepath.Join(t.TempDir(), "snippet.py")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("python3", "-m", "py_compile", file).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, out, code)
		}
	})
}

// TestSnippets: what each framework calls a lock of one row, a lock of what a condition finds, and a level.
func TestSnippets(t *testing.T) {
	got := librarySnippets(t, history.PostgreSQL, true, "SER")
	for framework, want := range map[string][]string{
		"spring": {"@Lock(LockModeType.PESSIMISTIC_WRITE)\n@Query(\"select e from Book e where e.id = :from_\")\nOptional<Book> lockBook(@Param(\"from_\") Integer from_);",
			"List<Loan> lockLoan(", `.createNativeQuery("SELECT COUNT(1) FROM loan WHERE book = :from AND reader != ':x 100%' FOR UPDATE")`,
			`.setParameter("from", from_)`, "public void lendOut(Integer from_, Integer class_)", "@Transactional(isolation = Isolation.SERIALIZABLE)"},
		"django": {"def lend_out(from_, class_):\n    with transaction.atomic():", "row = Book.objects.select_for_update().get(id=from_)", "row = Loan.objects.select_for_update().get(book=from_, reader=class_)",
			"rows = list(Loan.objects.select_for_update().filter(book=from_))", `"SELECT COUNT(1) FROM loan WHERE book = %s AND reader != ':x 100%%' FOR UPDATE"`, "def return_():",
			`{"isolation_level": IsolationLevel.SERIALIZABLE}`},
		"rails": {"def lend_out(from, class_)\n  ActiveRecord::Base.transaction do", "row = Book.lock.find_by!(id: from)", "rows = Loan.lock.where(book: from).to_a",
			`sanitize_sql_array(["SELECT COUNT(1) FROM loan WHERE book = ? AND reader != ':x 100%' FOR UPDATE", from])`, "      \"SELECT * FROM loan FOR UPDATE\"\n", "transaction(isolation: :serializable) do"},
		"go": {"func lendOut(ctx context.Context, db *sql.DB, from, class any) error {", `"SELECT title, price, weight, size FROM book WHERE id = $1 FOR UPDATE", from).Scan(&import_, &from2, &err_, &n)`,
			"var from2 sql.Null[string]", "var n uint64", "&sql.TxOptions{Isolation: sql.LevelSerializable}"},
	} {
		for _, x := range want {
			if !strings.Contains(got[framework], x) {
				t.Errorf("%s has no\n%s\n%s", framework, x, got[framework])
			}
		}
	}
	mysql := librarySnippets(t, history.MySQL, false, "RR")
	if !strings.Contains(mysql["django"], `{"isolation_level": "repeatable read"}`) || !strings.Contains(mysql["go"], "sql.LevelRepeatableRead") || !strings.Contains(mysql["rails"], "isolation: :repeatable_read") {
		t.Errorf("%v", mysql)
	}
}
