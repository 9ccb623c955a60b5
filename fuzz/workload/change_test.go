package workload

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// wants skips a test for want of a program, or fails it where the environment says that everything is there.
func wants(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set: %v", err)
		}
		t.Skip(err)
	}
}

// TestDiffApplies: patch and git take the diff of a mended workload, and what they make of the file is the mended
// workload, in the words of its author.
func TestDiffApplies(t *testing.T) {
	const text = "-- A shop.\n/* schema */\nCREATE TABLE stock (id INT PRIMARY KEY, n INT);\n\n/* transaction sell (:id stock.id) */\n" +
		"select  n  from stock where id = :id into :n -- how many\n  ;\n/* unless :n >= 1: rollback */\nUPDATE stock SET n = :n - 1 WHERE id = :id;\n\n" +
		"/* transaction count () */\nSELECT COUNT(*) FROM stock;"
	for _, x := range []struct{ name, file, text string }{
		{"a line at the end that does not end", "shop.workload", text},
		{"a file in a folder", "a/shop.workload", text + "\n"},
		{"a name with blanks", "my own shop.workload", text + "\n\n"},
		{"ends of lines as Windows has them", "shop.workload", strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"},
	} {
		for _, tool := range []string{"patch -p0 --binary", "git apply -p0"} {
			t.Run(x.name+", "+tool, func(t *testing.T) {
				args := strings.Fields(tool)
				wants(t, args[0])
				dir := t.TempDir()
				path := filepath.Join(dir, x.file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
					t.Fatal(err)
				}
				w, err := workload.Parse(x.file, []byte(x.text))
				if err != nil {
					t.Fatal(err)
				}
				var reads []read
				for _, txn := range w.Transactions {
					reads = append(reads, plainReads(txn)...)
				}
				if len(reads) != 2 {
					t.Fatalf("%d reads", len(reads))
				}
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader((&Report{w: w}).diff(reads))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s\n%s", err, out, (&Report{w: w}).diff(reads))
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				again, err := workload.Parse(x.file, got)
				if err != nil {
					t.Fatal(err)
				}
				want := *w
				want.Transactions = nil
				for _, txn := range w.Transactions {
					want.Transactions = append(want.Transactions, locking(txn, reads))
				}
				if string(workload.Print(again)) != string(workload.Print(&want)) {
					t.Errorf("%s\nis not\n%s", workload.Print(again), workload.Print(&want))
				}
				if !strings.Contains(string(got), "select  n  from stock where id = :id into :n FOR UPDATE -- how many") {
					t.Errorf("%s", got)
				}
			})
		}
	}
}

// TestShownPath: patch refuses paths that leave the folder.
func TestShownPath(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a/b.workload": "a/b.workload", "./b.workload": "b.workload", "../b.workload": "b.workload",
		filepath.Join(dir, "a", "b.workload"): "a/b.workload", "/elsewhere/b.workload": "b.workload",
	} {
		if got := shownPath(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
