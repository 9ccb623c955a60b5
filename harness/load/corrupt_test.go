package load_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

// TestCorrupt: a server that calls a table corrupt has a finding, and the run ends.
// The trigger makes a sound server answer as MariaDB once did after a kill, and as TiDB
// does where it finds an index entry without its row.
func TestCorrupt(t *testing.T) {
	for _, target := range installed(t, mysql97, mariadb11) {
		t.Run(target+", 1877", func(t *testing.T) { testCorrupt(t, target, "1877") })
	}
	for _, target := range installed(t, mariadb11) {
		t.Run(target+", 8133", func(t *testing.T) { testCorrupt(t, target, "8133") })
	}
}

func testCorrupt(t *testing.T, target, code string) {
	b := open(t, target, harness.Options{})
	s := settings(t, target, "append", corpus.RepeatableRead)
	s.Duration = 0
	done := make(chan *load.Report, 1)
	go func() {
		r, err := load.Run(t.Context(), b, s)
		if err != nil {
			t.Errorf("%s: %v", target, err)
		}
		done <- r
	}()
	db := connect(t, b)
	answers := `CREATE TRIGGER %.corrupt BEFORE UPDATE ON %.append_list FOR EACH ROW
SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ` + code + `, MESSAGE_TEXT = 'Table append_list is corrupted'`
	for end := time.Now().Add(30 * time.Second); ; {
		found := databases(t, b)
		if len(found) == 1 {
			if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(answers, "%", found[0])); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatalf("%s: %v", target, err)
			}
		}
	}
	r := <-done
	if len(r.Findings) != 1 || r.Findings[0].Kind != load.KindCorrupt {
		t.Fatalf("%s: no finding of a corrupt table\n%s", target, textOf(t, r))
	}
	text, err := os.ReadFile(strings.TrimSuffix(r.Findings[0].File, ".jsonl") + ".txt")
	if err != nil || !strings.Contains(string(text), "Table append_list is corrupted") {
		t.Errorf("%s: %v\n%s", target, err, text)
	}
	if left := databases(t, b); len(left) > 0 {
		t.Errorf("%s: databases left behind: %v", target, left)
	}
}
