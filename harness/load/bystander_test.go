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
		liar := lying.Through(b, lying.TornRead(10))
		s := settings(t, target, "chain", corpus.RepeatableRead)
		s.Clients, s.Duration, s.UntilFound, s.Bystanders = 12, 15*time.Second, true, many
		s.Programs = time.Millisecond // they are written
		open := 0
		s.Live = func(*load.Report) {
			var n int
			if err := connect(t, b).QueryRow("SELECT COUNT(*) FROM information_schema.innodb_trx").Scan(&n); err != nil {
				t.Error(err)
			}
			open = max(open, n)
		}
		r := run(t, liar, s)
		if !r.Found() || r.Seconds > 12 {
			t.Fatalf("not found at once:\n%s", textOf(t, r))
		}
		if r.Seconds > 1.5 && open < many {
			t.Errorf("%d transactions are open", open)
		}
		if n := r.Aborts["1205 lock wait timeout"]; n > 0 {
			t.Errorf("%d waited in vain: %v", n, r.Aborts)
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
