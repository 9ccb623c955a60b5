package load_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/lying"
)

var readAlone = regexp.MustCompile(`client \d\n  read \d \d\n`)

// TestTornRead: reads that show a part of what was committed meanwhile are found with bystanders beside them, which keep
// nobody from anything; the program of it reads several keys without BEGIN.
func TestTornRead(t *testing.T) {
	const many = 20
	for _, target := range installed(t, mysql97) {
		b := open(t, target, harness.Options{})
		if n := load.BystandersFor(b, load.Settings{Workload: "chain", Clients: 16}); n < 100 {
			t.Errorf("%s has %d bystanders", target, n)
		}
		if n := load.BystandersFor(b, load.Settings{Workload: "append", Clients: 16}); n != 0 {
			t.Errorf("%s has %d bystanders with any workload", target, n)
		}
		s := settings(t, target, "chain", corpus.RepeatableRead)
		s.Clients, s.Bystanders, s.Duration = 12, many, 1500*time.Millisecond
		open := 0
		s.Live = func(*load.Report) {
			var n int
			if err := connect(t, b).QueryRow("SELECT COUNT(*) FROM information_schema.innodb_trx").Scan(&n); err != nil {
				t.Error(err)
			}
			open = max(open, n)
		}
		r := run(t, b, s)
		if open < many {
			t.Errorf("%d transactions are open", open)
		}
		if r.Found() || r.Aborts["1205 lock wait timeout"] > 0 {
			t.Errorf("bystanders are in the way:\n%s", textOf(t, r))
		}
		s.Live = nil
		s.Duration, s.UntilFound = 15*time.Second, true
		s.Programs = time.Millisecond // they are written
		if r = run(t, lying.Through(b, lying.TornRead(10)), s); !r.Found() || r.Seconds > 12 {
			t.Fatalf("not found at once:\n%s", textOf(t, r))
		}
		text, err := os.ReadFile(r.Findings[0].Program)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(text); !strings.Contains(s, "bystanders: 20") || !readAlone.MatchString(s) {
			t.Errorf("%s", s)
		}
		for _, f := range r.Findings {
			again(t, f)
		}
		if left := databases(t, b); len(left) > 0 {
			t.Errorf("databases left behind: %v", left)
		}
	}
}
