package load_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/harness/lying/pglying"
)

// briefly are settings for a run of a fraction of a second.
func briefly(t testing.TB, target, workload string, level corpus.Level) load.Settings {
	s := settings(t, target, workload, level)
	s.Duration, s.Transactions, s.Epoch = 10*time.Second, 150, 60
	return s
}

// TestHonestInvariants: sound servers break no invariant, and each transaction that could have shown that is counted.
func TestHonestInvariants(t *testing.T) {
	for _, target := range installed(t, mysql97, postgres18) {
		b := open(t, target, harness.Options{})
		for _, name := range invariant.Names() {
			for _, level := range []corpus.Level{corpus.RepeatableRead, corpus.ReadCommitted} {
				r := run(t, b, briefly(t, target, name, level))
				if r.Found() || r.Problem() != nil {
					t.Errorf("%s %s %s: %v\n%s", target, level, name, r.Problem(), textOf(t, r))
				}
				if r.Checked == "" || len(r.Excluded) == 0 {
					t.Errorf("%s: the report does not tell what was checked:\n%s", name, textOf(t, r))
				}
			}
		}
	}
}

// planted are lies, the level and the workload that shows each, and the kinds of which one must be found.
var planted = []struct {
	lie, workload string
	level         corpus.Level
	kinds         []string
}{
	{"index-entry-lost", "index", corpus.RepeatableRead, []string{invariant.Disagreement}},
	{"index-entry-lost", "index", corpus.ReadCommitted, []string{invariant.Disagreement}},
	{"delete-leaves-orphans", "parent-child", corpus.RepeatableRead, []string{invariant.Orphan}},
	{"job-given-twice", "queue", corpus.ReadCommitted, []string{invariant.JobTwice}},
	{"upsert-lost", "counter", corpus.RepeatableRead, []string{invariant.WrongSum, invariant.Lost}},
	{"value-given-twice", "sequence", corpus.RepeatableRead, []string{invariant.ValueTwice}},
	{"sequence-value-given-twice", "sequence", corpus.ReadCommitted, []string{invariant.ValueTwice}},
	{"audit-row-lost", "trigger", corpus.ReadCommitted, []string{invariant.AuditWrong}},
	{"row-lost-by-ddl", "ddl", corpus.RepeatableRead, []string{invariant.Lost, invariant.Unstable}},
	{"prepared-lost", "xa", corpus.RepeatableRead, []string{invariant.PreparedLost}},
	{"repeatable-read-served-as-read-committed", "index", corpus.RepeatableRead, []string{invariant.Disagreement}},
	{"repeatable-read-served-as-read-committed", "trigger", corpus.RepeatableRead, []string{invariant.AuditWrong}},
	{"snapshot-renewed-by-each-statement", "parent-child", corpus.RepeatableRead, []string{invariant.Orphan}},
	{"snapshot-renewed-by-each-statement", "counter", corpus.RepeatableRead, []string{invariant.WrongSum}},
	{"commit-is-lost", "queue", corpus.ReadCommitted, []string{invariant.Lost}},
	{"commit-is-lost", "index", corpus.RepeatableRead, []string{invariant.Lost}},
	{"rollback-is-kept", "parent-child", corpus.ReadCommitted, []string{invariant.Kept}},
}

// TestSlips: what a server does wrong now and then is found, and the file of the finding tells which transactions touched
// the rows.
func TestSlips(t *testing.T) {
	const every = 4
	for _, target := range installed(t, mysql97, postgres18) {
		b := open(t, target, harness.Options{})
		for _, c := range planted {
			liar := liarOf(t, target, b, c.lie, every)
			if liar == nil {
				continue
			}
			t.Run(strings.Join([]string{c.lie, c.workload, c.level.Short(), target}, "/"), func(t *testing.T) {
				s := briefly(t, target, c.workload, c.level)
				for n := 0; ; n++ {
					r := run(t, liar, s)
					at := slices.IndexFunc(r.Findings, func(f load.Finding) bool { return slices.Contains(c.kinds, f.Kind) })
					if at >= 0 {
						tells(t, r.Findings[at])
						return
					}
					if n == 4 {
						t.Fatalf("none of %v was found:\n%s", c.kinds, textOf(t, r))
					}
					s.Transactions *= 3
				}
			})
		}
	}
}

// liarOf returns a server that tells a lie; nil: it is no lie of that server's.
func liarOf(t *testing.T, target string, b harness.Backend, lie string, every int64) harness.Backend {
	t.Helper()
	if target == postgres18 {
		for _, l := range slices.Concat(pglying.Slips(every), pglying.Lies) {
			if l.Name == lie {
				liar, err := pglying.Through(b, l)
				if err != nil {
					t.Fatal(err)
				}
				return liar
			}
		}
		return nil
	}
	for _, l := range slices.Concat(lying.Slips(every), lying.Lies) {
		if l.Name == lie {
			return lying.Through(b, l)
		}
	}
	return nil
}

// tells checks the files of a finding.
func tells(t *testing.T, f load.Finding) {
	t.Helper()
	b, err := os.ReadFile(f.File)
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Kind, Again string
		Says        []string
		Touched     []invariant.Logged
	}
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	if saved.Kind != f.Kind || len(saved.Says) < 2 || !strings.HasPrefix(saved.Again, "txnfuzz load --target ") {
		t.Errorf("%s: %+v", f.File, saved)
	}
	if len(saved.Touched) == 0 || saved.Touched[0].Outcome == "" || len(saved.Touched[0].Statements) == 0 {
		t.Errorf("%s does not tell who touched the rows", f.File)
	}
	text, err := os.ReadFile(strings.TrimSuffix(f.File, ".json") + ".txt")
	if err != nil || !strings.Contains(string(text), saved.Says[0]) || !strings.Contains(string(text), saved.Again) {
		t.Errorf("the text of %s: %v\n%s", f.File, err, text)
	}
}

// TestInvariantSettings: what a workload without a history does not take is refused.
func TestInvariantSettings(t *testing.T) {
	for _, target := range installed(t, postgres18) {
		b := open(t, target+",max_prepared_transactions=0", harness.Options{})
		for want, change := range map[string]func(*load.Settings){
			"--model":                   func(s *load.Settings) { s.Models = append(s.Models, "serializable") },
			"--reads":                   func(s *load.Settings) { s.Reads = load.ShareReads },
			"--out":                     func(s *load.Settings) { s.History = &strings.Builder{} },
			"max_prepared_transactions": func(s *load.Settings) { s.Workload = "xa" },
		} {
			s := briefly(t, target, "queue", corpus.ReadCommitted)
			change(&s)
			if _, err := load.Run(t.Context(), b, s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}
