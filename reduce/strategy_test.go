package reduce

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// bugs are made-up bugs of different shapes, each with a case that shows it
// among much that does not matter.
var bugs = []struct {
	name string
	text string
	show predicate
}{
	{"overwritten", orders, overwritten},
	{"two writers", accounts, func(c *corpus.Case) bool {
		writers := map[int]bool{}
		for i, l := range c.Steps {
			if _, ok := l.Stmt.(*ast.UpdateStmt); ok && inTransaction(c, l.Session, i) {
				writers[l.Session] = true
			}
		}
		return len(writers) == 2 && strings.Contains(string(corpus.Print(c, corpus.Text)), "IS NULL")
	}},
	{"read after rollback", accounts, func(c *corpus.Case) bool {
		back := false
		for _, l := range c.Steps {
			switch l.Stmt.(type) {
			case *ast.RollbackStmt:
				back = back || l.Session == 3
			case *ast.SelectStmt:
				if back && l.Session != 3 && targets(l.Stmt) != "" {
					return true
				}
			}
		}
		return false
	}},
}

const accounts = `
-- level: SERIALIZABLE

/* init */ CREATE TABLE account (id INT PRIMARY KEY AUTO_INCREMENT, owner VARCHAR(12) NOT NULL, balance DECIMAL(12,2) DEFAULT 0, UNIQUE KEY o (owner, id));
/* init */ CREATE TABLE log (at BIGINT, what TEXT);
/* init */ CREATE INDEX whens ON log (at);
/* init */ INSERT INTO account VALUES (1, 'ann', 100), (2, 'bob', 250.50), (3, 'cy', NULL), (4, 'di', 12);
/* init */ INSERT INTO log VALUES (1, 'open'), (2, 'open');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT id, owner, balance FROM account WHERE balance > 50 ORDER BY id;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE account SET balance = balance - 10, owner = 'ann2' WHERE id = 1;
/* tx2 */ SELECT COUNT(*) FROM log WHERE at BETWEEN 1 AND 9 FOR UPDATE;
/* tx3 */ INSERT INTO log (at, what) VALUES (3, 'x'), (4, 'y'), (5, 'z');
/* tx2 */ UPDATE account SET balance = 0 WHERE balance IS NULL OR (id > 2 AND owner <> 'di');
/* tx3 */ DELETE FROM log WHERE at IN (1, 2) OR what LIKE 'op%';
/* tx1 */ COMMIT;
/* tx3 */ SELECT * FROM log, account WHERE log.at = account.id;
/* tx3 */ ROLLBACK;
/* tx2 */ REPLACE INTO account VALUES (4, 'dora', 13);
/* tx2 */ SELECT * FROM account WHERE id >= (SELECT MIN(at) FROM log) LIMIT 10;
/* tx2 */ COMMIT;
/* tx1 */ SELECT 1;
/* tx1 */ DELETE FROM account WHERE id = 3;
`

// TestStrategies: all strategies end at a 1-minimal case. What they may differ
// in, the number of attempts, is logged.
func TestStrategies(t *testing.T) {
	for _, b := range bugs {
		for s := EpsilonGreedy; s <= DeltaDebug; s++ {
			attempts, useful, characters, before := 0, 0, 0, 0
			const seeds = 5
			for seed := range uint64(seeds) {
				r, err := Reduce(context.Background(), parse(t, b.text), Options{Try: tryFor(t, b.show), Strategy: s, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Minimal || !b.show(r.Case) {
					t.Errorf("%s, %v, seed %d: minimal %v, shows the bug %v", b.name, s, seed, r.Minimal, b.show(r.Case))
				}
				attempts += r.Attempts
				useful += r.Useful
				characters += r.CharactersAfter
				before += r.CharactersBefore
			}
			t.Logf("%-20s %-18s %6.1f attempts, %2.0f %% useful, %2.0f %% of the characters left",
				b.name, s, float64(attempts)/seeds, 100*float64(useful)/float64(attempts), 100*float64(characters)/float64(before))
		}
	}
}

// TestExperiencePays: what was learnt from other reductions of the same kind
// lowers the attempts of the next ones.
func TestExperiencePays(t *testing.T) {
	total := func(e *Experience) int {
		n := 0
		for seed := range uint64(10) {
			for _, b := range bugs {
				r, err := Reduce(context.Background(), parse(t, b.text), Options{Try: tryFor(t, b.show), Seed: seed, Experience: e.copy()})
				if err != nil {
					t.Fatal(err)
				}
				n += r.Attempts
			}
		}
		return n
	}
	learnt := &Experience{}
	for seed := range uint64(5) {
		for _, b := range bugs {
			if _, err := Reduce(context.Background(), parse(t, b.text), Options{Try: tryFor(t, b.show), Seed: 100 + seed, Experience: learnt}); err != nil {
				t.Fatal(err)
			}
		}
	}
	without, with := total(nil), total(learnt)
	t.Logf("attempts without experience %d, with %d", without, with)
	if with > without {
		t.Errorf("experience costs attempts: %d instead of %d", with, without)
	}
}

func TestMeans(t *testing.T) {
	var m Means
	for _, profit := range []float64{1, 0, 0, 1, 1} {
		m.update(profit)
	}
	if m.Count != 5 || math.Abs(m.Mean-0.6) > 1e-12 {
		t.Errorf("count %d, mean %v after profits 1 0 0 1 1", m.Count, m.Mean)
	}
}

func TestBandit(t *testing.T) {
	from := []arm{armSession, armRun, armDeleteSelect, armDeleteUpdate}
	profit := map[arm]bool{armDeleteSelect: true}
	draws := func(s Strategy) map[arm]int {
		b := newBandit(s, 7, nil)
		n := map[arm]int{}
		for range 2000 {
			a := b.pick(from, func(arm) float64 { return 1 })
			n[a]++
			b.learn(a, profit[a])
		}
		return n
	}
	greedy := draws(EpsilonGreedy)
	if greedy[armDeleteSelect] < 1800 {
		t.Errorf("epsilon-greedy took the only arm that pays in %d of 2000", greedy[armDeleteSelect])
	}
	for _, a := range from {
		if greedy[a] == 0 {
			t.Errorf("epsilon-greedy never tried %v", a)
		}
	}
	if table := draws(ProbabilityTable); table[armDeleteSelect] < 1200 {
		t.Errorf("the probability table drew the only arm that pays in %d of 2000", table[armDeleteSelect])
	}
	for a, n := range draws(Random) {
		if n < 400 || n > 600 {
			t.Errorf("random drew %v in %d of 2000", a, n)
		}
	}
	b := newBandit(EpsilonGreedy, 0, nil)
	if b.epsilon() != epsilonFirst {
		t.Errorf("epsilon starts at %v", b.epsilon())
	}
	if b.attempts = 1000; b.epsilon() > epsilonLast+1e-6 {
		t.Errorf("epsilon ends at %v", b.epsilon())
	}
}

func TestParseStrategy(t *testing.T) {
	for s := EpsilonGreedy; s <= DeltaDebug; s++ {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("greedy"); err == nil {
		t.Error("an unknown name is read")
	}
}

func TestExperienceFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mariadb.json")
	e, err := LoadExperience(file)
	if err != nil || len(e.Arms) != 0 {
		t.Fatalf("no file: %v, %v", e, err)
	}
	r, err := Reduce(context.Background(), parse(t, orders), Options{Try: tryFor(t, overwritten), Experience: e})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := LoadExperience(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.Arms, again.Arms); diff != "" {
		t.Errorf("read back (-saved +read):\n%s", diff)
	}
	n := 0
	for _, m := range again.Arms {
		n += m.Count
	}
	if n != r.Attempts-1 {
		t.Errorf("%d attempts saved of %d", n, r.Attempts-1)
	}
	left, err := filepath.Glob(file + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
	for _, text := range []string{"{", `{"arms": {"run": {"count": -1, "mean": 0}}}`, `{"arms": {"run": {"count": 1, "mean": 7}}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadExperience(file); err == nil || !strings.Contains(err.Error(), "mariadb.json") {
			t.Errorf("%s: error %v", text, err)
		}
	}
	if err := e.Save(filepath.Join(file, "none")); err == nil {
		t.Error("saved into a file as if it were a folder")
	}
}

// BenchmarkReduce measures the reducer without a server: the predicate costs
// a few microseconds.
func BenchmarkReduce(b *testing.B) {
	c := parse(b, accounts)
	attempts := 0
	for i := 0; b.Loop(); i++ {
		r, err := Reduce(context.Background(), c, Options{Try: tryFor(b, bugs[1].show), Seed: uint64(i)})
		if err != nil {
			b.Fatal(err)
		}
		attempts += r.Attempts
	}
	b.ReportMetric(float64(attempts)/float64(b.N), "attempts/op")
	b.ReportMetric(float64(attempts)/b.Elapsed().Seconds(), "attempts/s")
}
