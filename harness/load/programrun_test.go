package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// lostUpdates is a program that MySQL's REPEATABLE READ shows about every second time.
const lostUpdates = `target: mysql:9.7
level: RR
workload: append
model: snapshot-isolation
shows: lost-update
rate: 1 in 4.0 executions (25 of 100 in 1.0 s)

client
  begin
  read 1
  append 1
  commit
client
  begin
  read 1
  append 1
  commit
`

func program(t testing.TB, text string) (*load.Program, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x"+load.ProgramExtension)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := load.ReadProgram(file)
	if err != nil {
		t.Fatal(err)
	}
	return p, file
}

// TestPrograms: programs are made and repeated. One server serves all, since it takes seconds to start.
func TestPrograms(t *testing.T) {
	for _, target := range installed(t, mysql97) {
		b := open(t, target, harness.Options{})
		t.Run("repeat", func(t *testing.T) { testReplayProgram(t, target, b) })
		t.Run("rare lie", func(t *testing.T) {
			tenfold(t, target, lying.Through(b, lying.SerializableRarely(10)), 3*time.Second, 5*time.Second)
		})
		if left := databases(t, b); len(left) > 0 {
			t.Errorf("databases left behind: %v", left)
		}
	}
}

// testReplayProgram: a program shows its anomaly where the server allows that, and where it does not it is run as often
// as the rate asks for.
func testReplayProgram(t *testing.T, target string, b harness.Backend) {
	for level, shows := range map[string]bool{"RR": true, "SER": false} {
		p, file := program(t, strings.Replace(lostUpdates, "level: RR", "level: "+level, 1))
		s := settings(t, target, "", corpus.ReadCommitted)
		s.Duration = 0
		r, err := load.ReplayProgram(t.Context(), b, s, p, file)
		if err != nil {
			t.Fatal(err)
		}
		if r.Found() != shows || r.Problem() != nil {
			t.Errorf("%s: %+v, %v", level, r, r.Problem())
		}
		if !shows && (r.Now.Of != r.Needed || r.Needed != 19) { // ln 100 times 4
			t.Errorf("%d executions, needed %d", r.Now.Of, r.Needed)
		}
		if !shows {
			continue
		}
		file = r.History
		text, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		src, err := kv.ReadJSONLines(file, text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := kv.Load(file, src)
		if err != nil {
			t.Fatal(err)
		}
		checked, err := infer.Check(h, infer.Options{Models: []model.Model{model.SnapshotIsolation}})
		if err != nil || checked.Verdicts[model.SnapshotIsolation] != infer.Fails || h.Len() != 3 {
			t.Errorf("%s holds %s: %v, %v", file, h.Describe(), checked, err)
		}
	}
}

// tenfold: of a lie that few transactions are told, and that few races show, a program is made that shows it ten times
// as often a transaction as the load did. On a busy machine the load itself may show it often.
func tenfold(t testing.TB, target string, b harness.Backend, duration, programs time.Duration) {
	var report *load.Report
	for n := range 5 {
		s := settings(t, target, "append", corpus.Serializable)
		s.Clients, s.Duration, s.Seed, s.Programs = 16, duration, uint64(n), programs
		if report = run(t, b, s); report.Found() && showsTenfold(t, report) {
			return
		}
	}
	tellPrograms(t, report)
}

// BenchmarkProgramOfRareLie measures how much more often than a load its program shows a lie that one of 40
// transactions
// is told, and that then needs a race.
func BenchmarkProgramOfRareLie(b *testing.B) {
	for _, target := range installed(b, mysql97) {
		server := open(b, target, harness.Options{})
		for b.Loop() {
			tenfold(b, target, lying.Through(server, lying.SerializableRarely(40)), 30*time.Second, 60*time.Second)
		}
	}
}
