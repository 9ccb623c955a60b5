package load_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
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
	s.Duration, s.Transactions, s.Epoch = 10*time.Second, 100, 100
	return s
}

// TestInvariants runs the workloads whose invariants need no order of transactions.
func TestInvariants(t *testing.T) {
	servers := map[string]harness.Backend{}
	for _, target := range installed(t, mysql97, postgres18) {
		servers[target] = open(t, target, harness.Options{})
	}
	t.Run("honest", func(t *testing.T) { testHonest(t, servers) })
	t.Run("slips", func(t *testing.T) { testSlips(t, servers) })
	t.Run("settings", func(t *testing.T) { testRefused(t, servers) })
	t.Run("left prepared", func(t *testing.T) { testPreparedLeft(t, servers) })
}

// testHonest: sound servers break no invariant, and each transaction that could have shown that is counted.
func testHonest(t *testing.T, servers map[string]harness.Backend) {
	for target, b := range servers {
		level := map[string]corpus.Level{mysql97: corpus.RepeatableRead, postgres18: corpus.ReadCommitted}[target]
		for _, name := range invariant.Names() {
			r := run(t, b, briefly(t, target, name, level))
			unknown := slices.ContainsFunc(r.Findings, func(f load.Finding) bool {
				return target != mysql97 || name != "parent-child" || !slices.Contains(ofVictims, f.Kind)
			})
			if unknown || r.Problem() != nil {
				t.Errorf("%s %s %s: %v\n%s", target, level, name, r.Problem(), textOf(t, r))
			}
			if r.Checked == "" || len(r.Excluded) == 0 {
				t.Errorf("%s: the report does not tell what was checked:\n%s", name, textOf(t, r))
			}
		}
	}
}

// ofVictims are the kinds of findings that come of a bug of MySQL 9.7, of which docs/load.md tells: it rolls the victim
// of a deadlock back and tells it OK.
var ofVictims = []string{invariant.Lost, invariant.HalfDone, invariant.Kept}

// planted are lies, the level and the workload that shows each, and the kinds of which one must be found.
var planted = []struct {
	lie, workload string
	level         corpus.Level
	kinds         []string
	on            string // empty: all
}{
	{"index-entry-lost", "index", corpus.RepeatableRead, []string{invariant.Disagreement}, mysql97},
	{"index-entry-lost", "index", corpus.ReadCommitted, []string{invariant.Disagreement}, postgres18},
	{"delete-leaves-orphans", "parent-child", corpus.RepeatableRead, []string{invariant.Orphan}, ""},
	{"job-given-twice", "queue", corpus.ReadCommitted, []string{invariant.JobTwice}, ""},
	{"upsert-lost", "counter", corpus.RepeatableRead, []string{invariant.WrongSum, invariant.Lost}, ""},
	{"value-given-twice", "sequence", corpus.RepeatableRead, []string{invariant.ValueTwice}, mysql97},
	{"sequence-value-given-twice", "sequence", corpus.ReadCommitted, []string{invariant.ValueTwice}, postgres18},
	{"audit-row-lost", "trigger", corpus.ReadCommitted, []string{invariant.AuditWrong}, ""},
	{"row-lost-by-ddl", "ddl", corpus.RepeatableRead, []string{invariant.Lost, invariant.Unstable}, ""},
	{"prepared-lost", "xa", corpus.RepeatableRead, []string{invariant.PreparedLost}, ""},
	{"repeatable-read-served-as-read-committed", "index", corpus.RepeatableRead, []string{invariant.Disagreement}, mysql97},
	{"repeatable-read-served-as-read-committed", "trigger", corpus.RepeatableRead, []string{invariant.AuditWrong}, mysql97},
	{"snapshot-renewed-by-each-statement", "parent-child", corpus.RepeatableRead, []string{invariant.Orphan}, postgres18},
	{"snapshot-renewed-by-each-statement", "counter", corpus.RepeatableRead, []string{invariant.WrongSum}, postgres18},
	{"commit-is-lost", "queue", corpus.ReadCommitted, []string{invariant.Lost}, mysql97},
	{"commit-is-lost", "index", corpus.RepeatableRead, []string{invariant.Lost}, postgres18},
	{"rollback-is-kept", "parent-child", corpus.ReadCommitted, []string{invariant.Kept}, postgres18},
}

// testSlips: what a server does wrong now and then is found, and the file of the finding tells which transactions touched
// the rows.
func testSlips(t *testing.T, servers map[string]harness.Backend) {
	const every = 4
	for target, b := range servers {
		for _, c := range planted {
			if c.on != "" && c.on != target {
				continue
			}
			liar := liarOf(t, target, b, c.lie, every)
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

// liarOf returns a server that tells a lie.
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
	}
	for _, l := range slices.Concat(lying.Slips(every), lying.Lies) {
		if l.Name == lie {
			return lying.Through(b, l)
		}
	}
	t.Fatalf("no lie of %s is named %s", target, lie)
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

// testRefused: what a workload without a history does not take is refused.
func testRefused(t *testing.T, servers map[string]harness.Backend) {
	for target, b := range servers {
		for want, change := range map[string]func(*load.Settings){
			"--model": func(s *load.Settings) { s.Models = append(s.Models, "serializable") },
			"--reads": func(s *load.Settings) { s.Reads = load.ShareReads },
			"--out":   func(s *load.Settings) { s.History = &strings.Builder{} },
		} {
			s := briefly(t, target, "queue", corpus.ReadCommitted)
			change(&s)
			if _, err := load.Run(t.Context(), b, s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}

// testPreparedLeft: what a run that is gone has prepared is rolled back. What a run that lives or anybody else has
// prepared stays.
func testPreparedLeft(t *testing.T, servers map[string]harness.Backend) {
	const (
		dead    = "txnfuzz_1_0123abcd_load_7"
		alive   = "txnfuzz_2_0123abcd_load_7"
		foreign = "txnfuzz_of_somebody_else"
	)
	lock := fnv.New64a()
	lock.Write([]byte("txnfuzz_2_0123abcd_load"))
	for _, c := range []struct {
		target  string
		first   []string
		prepare []string // of $name and $n
		list    string
		end     string
	}{
		{mysql97, []string{"DO GET_LOCK('txnfuzz_2_0123abcd_load', 0)", "CREATE DATABASE kept"},
			[]string{"XA START '$name'", "INSERT INTO kept.t VALUES ($n)", "XA END '$name'", "XA PREPARE '$name'"},
			"XA RECOVER", "XA ROLLBACK '$name'"},
		{postgres18, []string{fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", int64(lock.Sum64())), "CREATE SCHEMA kept"},
			[]string{"BEGIN", "INSERT INTO kept.t VALUES ($n)", "PREPARE TRANSACTION '$name'"},
			"SELECT gid FROM pg_prepared_xacts", "ROLLBACK PREPARED '$name'"},
	} {
		b := servers[c.target]
		if b == nil {
			continue
		}
		ask := asker(t, b)
		for _, q := range append(c.first, "CREATE TABLE kept.t (a INT PRIMARY KEY)") {
			ask(q)
		}
		names := []string{dead, alive, foreign}
		for i, name := range names {
			for _, q := range c.prepare {
				ask(strings.NewReplacer("$name", name, "$n", strconv.Itoa(i)).Replace(q))
			}
		}
		r := run(t, b, briefly(t, c.target, "xa", corpus.ReadCommitted))
		if r.Found() || r.Problem() != nil {
			t.Errorf("%s: %v\n%s", c.target, r.Problem(), textOf(t, r))
		}
		left := ask(c.list)
		slices.Sort(left)
		if !slices.Equal(left, []string{alive, foreign}) {
			t.Errorf("%s: %v are left prepared", c.target, left)
		}
		for _, name := range left {
			ask(strings.ReplaceAll(c.end, "$name", name))
		}
	}
}

// asker returns what sends statements on one connection and returns the last column of the answer.
func asker(t *testing.T, b harness.Backend) func(sql string) []string {
	t.Helper()
	if db, ok := b.(harness.Database); ok {
		s, err := db.Open(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return func(sql string) (out []string) {
			r, err := s.Execute(sql)
			if err != nil || r.Err != nil {
				t.Fatal(sql, err, r.Err)
			}
			for _, row := range r.Rows {
				out = append(out, row[len(row)-1].Text)
			}
			return out
		}
	}
	c, err := connect(t, b).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return func(sql string) (out []string) {
		if sql != "XA RECOVER" {
			if _, err := c.ExecContext(t.Context(), sql); err != nil {
				t.Fatal(sql, err)
			}
			return nil
		}
		rows, err := c.QueryContext(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var format, gtrid, bqual int
			var name string
			if err := rows.Scan(&format, &gtrid, &bqual, &name); err != nil {
				t.Fatal(err)
			}
			out = append(out, name)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
}
