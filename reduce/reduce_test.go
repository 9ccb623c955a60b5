package reduce

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// predicate says whether a case shows the bug that a test makes up.
type predicate func(*corpus.Case) bool

// tryFor runs a predicate in place of a server, and fails the test if it is
// asked about anything that is not a case.
func tryFor(t testing.TB, p predicate) func(context.Context, *corpus.Case) (oracle.Verdict, error) {
	return func(_ context.Context, c *corpus.Case) (oracle.Verdict, error) {
		if err := c.Validate(); err != nil {
			t.Fatalf("candidate is no valid case: %v\n%s", err, corpus.Print(c, corpus.Text))
		}
		trees := map[ast.StmtNode]bool{}
		for _, l := range slices.Concat(c.Init, c.Steps) {
			if trees[l.Stmt] {
				t.Fatalf("two lines share a tree:\n%s", corpus.Print(c, corpus.Text))
			}
			trees[l.Stmt] = true
		}
		if p(c) {
			return oracle.Verdict{Outcome: oracle.Violation, Fingerprint: "bug"}, nil
		}
		return oracle.Verdict{Outcome: oracle.OK}, nil
	}
}

func parse(t testing.TB, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkReduce asserts the exact minimum, for each strategy.
func checkReduce(t *testing.T, text string, p predicate, want string) {
	t.Helper()
	for s := EpsilonGreedy; s <= DeltaDebug; s++ {
		r, err := Reduce(context.Background(), parse(t, text), Options{Try: tryFor(t, p), Strategy: s, Seed: 1})
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		if !r.Complete || !r.Minimal {
			t.Errorf("%v: complete %v, minimal %v", s, r.Complete, r.Minimal)
		}
		got := strings.TrimSpace(string(corpus.Print(r.Case, corpus.Text)))
		if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" {
			t.Errorf("%v, %d attempts (-want +got):\n%s", s, r.Attempts, diff)
		}
	}
}

// steps counts the steps that satisfy f.
func steps(c *corpus.Case, f func(session int, sql string) bool) int {
	n := 0
	for _, l := range c.Steps {
		if f(l.Session, corpus.SQL(l.Stmt, corpus.Text)) {
			n++
		}
	}
	return n
}

// overwritten holds for a case in which a transaction updates a table between
// a SELECT and the COMMIT of another one.
func overwritten(c *corpus.Case) bool {
	for i, l := range c.Steps {
		u, ok := l.Stmt.(*ast.UpdateStmt)
		if !ok {
			continue
		}
		table := targets(u)
		for _, s := range c.Sessions() {
			if s != l.Session && readsBefore(c, s, i, table) && endsAfter(c, s, i) && inTransaction(c, l.Session, i) {
				return true
			}
		}
	}
	return false
}

func targets(n ast.Node) string {
	f := &describer{s: &statement{}}
	n.Accept(f)
	return strings.Join(f.s.tables, " ")
}

func readsBefore(c *corpus.Case, session, at int, table string) bool {
	open, read := false, false
	for _, l := range c.Steps[:at] {
		if l.Session != session {
			continue
		}
		switch l.Stmt.(type) {
		case *ast.BeginStmt:
			open, read = true, false
		case *ast.CommitStmt, *ast.RollbackStmt:
			open = false
		case *ast.SelectStmt:
			read = read || open && targets(l.Stmt) == table
		}
	}
	return open && read
}

func endsAfter(c *corpus.Case, session, at int) bool {
	for _, l := range c.Steps[at:] {
		if _, ok := l.Stmt.(*ast.CommitStmt); ok && l.Session == session {
			return true
		}
	}
	return false
}

func inTransaction(c *corpus.Case, session, at int) bool {
	open := false
	for _, l := range c.Steps[:at] {
		if l.Session == session {
			switch l.Stmt.(type) {
			case *ast.BeginStmt:
				open = true
			case *ast.CommitStmt, *ast.RollbackStmt:
				open = false
			}
		}
	}
	return open
}

const orders = `
-- source: made up
-- level: tx3=RC, tx5=RR, tx7=RR
-- observe: tx3.4

/* init */ CREATE TABLE orders (id BIGINT PRIMARY KEY, qty DECIMAL(10,2) NOT NULL DEFAULT 1, note VARCHAR(20), KEY k (qty, note));
/* init */ CREATE TABLE items (name VARCHAR(10), price INT UNSIGNED);
/* init */ INSERT INTO orders VALUES (10, 1.5, 'abc'), (20, 2.5, 'x'), (30, 3, NULL);
/* init */ INSERT INTO items (name, price) VALUES ('nut', 12), ('bolt', 40);
/* tx5 */ BEGIN; -- first
/* tx3 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx3 */ SELECT o.qty, o.note FROM orders AS o WHERE o.id BETWEEN 5 AND 25 ORDER BY o.id DESC LIMIT 3;
/* tx7 */ INSERT INTO items VALUES ('x', 4);
/* tx5 */ UPDATE items SET price = price + 1 WHERE name LIKE 'b%';
/* tx5 */ SAVEPOINT here;
/* tx5 */ UPDATE orders SET qty = qty * 2, note = CONCAT(note, 'z') WHERE (id = 10 OR id > 20) AND NOT (note IS NULL);
/* tx5 */ ROLLBACK TO here;
/* tx3 */ SELECT * FROM items WHERE price > (SELECT MIN(qty) FROM orders) FOR UPDATE;
/* tx7 */ DELETE FROM items WHERE price IN (1, 2, 3);
/* tx5 */ COMMIT;
/* tx3 */ COMMIT;
`

func TestReduceStructure(t *testing.T) {
	checkReduce(t, orders, overwritten, `
-- source: made up
-- level: READ COMMITTED

/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0;
/* tx1 */ COMMIT;
`)
}

func TestReduceConstants(t *testing.T) {
	text := `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (100), (250), (3), (77);
/* tx1 */ SELECT * FROM t WHERE a = 250;
`
	t.Run("same constant in row and predicate", func(t *testing.T) {
		checkReduce(t, text, func(c *corpus.Case) bool {
			d, err := newDraft(newLibrary(), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range d.init {
				for _, step := range d.steps {
					for _, v := range row.values {
						for _, w := range step.st.values {
							if n, ok := parseUint(v.Text); row.creates == nil && v == w && ok && n >= 17 {
								return true
							}
						}
					}
				}
			}
			return false
		}, `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (17);
/* tx1 */ SELECT * FROM t WHERE 17;
`)
	})
	t.Run("strings", func(t *testing.T) {
		checkReduce(t, `
/* init */ CREATE TABLE t (a VARCHAR(30) PRIMARY KEY);
/* init */ INSERT INTO t VALUES ('hello'), ('world');
/* tx1 */ SELECT a FROM t WHERE a = 'hello';
`, func(c *corpus.Case) bool {
			return steps(c, func(_ int, sql string) bool { return strings.Contains(sql, "FROM t WHERE a = ") }) == 1 &&
				strings.Contains(string(corpus.Print(c, corpus.Text)), "INSERT")
		}, `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ SELECT * FROM t WHERE a = 0;
`)
	})
}

func TestReduceOrder(t *testing.T) {
	checkReduce(t, `
/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ UPDATE t SET a = 2;
/* tx1 */ UPDATE t SET a = 3;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`, func(c *corpus.Case) bool {
		last := map[string]int{}
		for i, l := range c.Steps {
			last[fmt.Sprintf("%d %T", l.Session, l.Stmt)] = i + 1
		}
		return len(c.Steps) == 7 && last["2 *ast.CommitStmt"] < last["1 *ast.CommitStmt"] && strings.Contains(string(corpus.Print(c, corpus.Text)), "a = 3")
	}, `
/* init */ CREATE TABLE t (a INT);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0;
/* tx2 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ UPDATE t SET a = 3;
/* tx1 */ COMMIT;
`)
}

// TestReduceKeepsPairs: whatever is kept, no candidate has a COMMIT without its
// BEGIN, and one without a COMMIT only where its session ends.
func TestReduceKeepsPairs(t *testing.T) {
	for keep := range 13 {
		_, err := Reduce(context.Background(), parse(t, orders), Options{Try: tryFor(t, func(c *corpus.Case) bool {
			for _, s := range c.Sessions() {
				depth := 0
				for _, l := range c.Steps {
					if l.Session != s {
						continue
					}
					switch n := l.Stmt.(type) {
					case *ast.BeginStmt:
						depth++
					case *ast.CommitStmt:
						depth--
					case *ast.RollbackStmt:
						if n.SavepointName == "" {
							depth--
						}
					}
					if depth < 0 || depth > 1 {
						t.Fatalf("a BEGIN or COMMIT lost its partner:\n%s", corpus.Print(c, corpus.Text))
					}
				}
			}
			return len(c.Steps) >= keep
		})})
		if err != nil && keep <= 12 {
			t.Fatal(err)
		}
	}
}

// TestReduceSavepoints: a savepoint and what needs it go in one operation.
func TestReduceSavepoints(t *testing.T) {
	checkReduce(t, `
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT a;
/* tx1 */ SELECT 1;
/* tx1 */ ROLLBACK TO a;
/* tx1 */ RELEASE SAVEPOINT a;
/* tx1 */ COMMIT;
`, func(c *corpus.Case) bool {
		uses := steps(c, func(_ int, sql string) bool { return strings.HasPrefix(sql, "R") })
		return uses%2 == 0 && uses == 2*steps(c, func(_ int, sql string) bool { return strings.HasPrefix(sql, "SAVE") }) &&
			steps(c, func(_ int, sql string) bool { return sql == "SELECT 1" }) == 1
	}, `
/* tx1 */ SELECT 1;
`)
}

func TestReduceColumns(t *testing.T) {
	checkReduce(t, `
/* init */ CREATE TABLE t (x INT, id INT PRIMARY KEY, y INT, z INT, KEY k (x, y));
/* init */ INSERT INTO t VALUES (1, 2, 3, 4), (5, 6, 7, 8);
/* init */ INSERT INTO t (id, z, x) VALUES (9, 9, 9);
/* tx1 */ UPDATE t SET x = 1, y = 2 WHERE z = 3;
/* tx1 */ SELECT x, z FROM t;
`, func(c *corpus.Case) bool {
		return len(c.Init) == 3 && steps(c, func(_ int, sql string) bool {
			return strings.Contains(sql, "UPDATE") && strings.Contains(sql, "WHERE z = 3") || strings.Contains(sql, "z FROM t")
		}) == 2
	}, `
/* init */ CREATE TABLE t (z INT);
/* init */ INSERT INTO t VALUES (0);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ UPDATE t SET z = 0 WHERE z = 3;
/* tx1 */ SELECT z FROM t;
`)
}

// TestReduceLeftovers: what no deletion takes away is written in the shortest way
// that a person would choose.
func TestReduceLeftovers(t *testing.T) {
	checkReduce(t, `
/* init */ CREATE TABLE t (a INT, b INT, PRIMARY KEY(b));
/* init */ INSERT INTO t VALUES (0, 4);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2 * (3 - 5) WHERE a = 0;
/* tx1 */ COMMIT;
`, func(c *corpus.Case) bool {
		text := string(corpus.Print(c, corpus.Text))
		return strings.Contains(text, "PRIMARY KEY") && strings.Contains(text, "BEGIN") && strings.Contains(text, "WHERE") &&
			(strings.Contains(text, "2 * (3 - 5)") || strings.Contains(text, "-4"))
	}, `
/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = -4 WHERE 0;
`)
}

var minimum = regexp.MustCompile(`^(SELECT|UPDATE t|UPDATE r).* [a-z] <= \(SELECT (x\.[a-z]+ FROM .* AS x|MIN\([a-z]+\).*)\)$`)

func TestReduceNames(t *testing.T) {
	checkReduce(t, `
/* init */ CREATE TABLE r (wkey INT, c INT);
/* init */ CREATE TABLE g (wkey INT);
/* tx2 */ SELECT r.wkey FROM r WHERE c <= (SELECT MIN(wkey) FROM g);
/* tx1 */ UPDATE r SET wkey = 63 WHERE c <= (SELECT x.wkey FROM g AS x);
/* tx1 */ SELECT a1.wkey FROM (SELECT wkey, c AS d FROM r) AS a1 WHERE a1.d = 1;
`, func(c *corpus.Case) bool {
		return len(c.Init) == 2 && len(c.Init[0].Stmt.(*ast.CreateTableStmt).Cols) == 2 && steps(c, func(_ int, sql string) bool {
			return minimum.MatchString(sql) || strings.Contains(sql, "AS d") && strings.Contains(sql, "a1.d = 1")
		}) == 3
	}, `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ CREATE TABLE t2 (a INT);
/* tx1 */ SELECT * FROM t WHERE b <= (SELECT MIN(a) FROM t2);
/* tx2 */ UPDATE t SET a = 0 WHERE b <= (SELECT x.a FROM t2 AS x);
/* tx2 */ SELECT * FROM (SELECT b AS d FROM t) AS a1 WHERE a1.d = 1;
`)
}

func TestNotReproduced(t *testing.T) {
	c := parse(t, orders)
	r, err := Reduce(context.Background(), c, Options{Try: tryFor(t, func(*corpus.Case) bool { return false }), Repeats: 3})
	if !errors.Is(err, ErrNotReproduced) {
		t.Fatalf("error %v", err)
	}
	if r.Runs != 3 || r.Complete || !r.Case.Equal(c) {
		t.Errorf("runs %d, complete %v, case equal %v", r.Runs, r.Complete, r.Case.Equal(c))
	}
}

// TestReduceVersions: the line that asks for versions of rows stays only where the bug does not show without it.
func TestReduceVersions(t *testing.T) {
	for _, needed := range []bool{false, true} {
		c := parse(t, orders)
		c.SetVersions(true)
		r, err := Reduce(context.Background(), c, Options{Try: tryFor(t, func(c *corpus.Case) bool {
			return c.TellsVersions() || !needed
		})})
		if err != nil {
			t.Fatal(err)
		}
		if r.Case.TellsVersions() != needed || !c.TellsVersions() {
			t.Errorf("needed %v: reduced %v, original %v", needed, r.Case.TellsVersions(), c.TellsVersions())
		}
	}
}

// TestOnlyTheSameBug: a smaller case that shows another bug is not taken.
func TestOnlyTheSameBug(t *testing.T) {
	r, err := Reduce(context.Background(), parse(t, orders), Options{
		Want: oracle.Verdict{Fingerprint: "big"},
		Try: func(_ context.Context, c *corpus.Case) (oracle.Verdict, error) {
			if len(c.Steps) >= 5 {
				return oracle.Verdict{Fingerprint: "big"}, nil
			}
			return oracle.Verdict{Fingerprint: "small"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Case.Steps) != 5 || r.Fingerprint != "big" {
		t.Errorf("%d steps, fingerprint %q", len(r.Case.Steps), r.Fingerprint)
	}
}

func TestServerDies(t *testing.T) {
	died := errors.New("connection lost")
	runs := 0
	r, err := Reduce(context.Background(), parse(t, orders), Options{
		Try: func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
			if runs++; runs > 20 {
				return oracle.Verdict{}, died
			}
			return tryFor(t, overwritten)(ctx, c)
		},
	})
	if !errors.Is(err, died) {
		t.Fatalf("error %v", err)
	}
	if r.Complete || r.Minimal || !overwritten(r.Case) || r.After.Compare(r.Before) >= 0 {
		t.Errorf("complete %v, minimal %v, still shows the bug %v, size %+v", r.Complete, r.Minimal, overwritten(r.Case), r.After)
	}
}

// TestRejected: a candidate that the server cannot run does not end anything.
func TestRejected(t *testing.T) {
	rejected := 0
	r, err := Reduce(context.Background(), parse(t, orders), Options{
		Try: func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
			if len(c.Init) < 3 {
				rejected++
				return oracle.Verdict{}, fmt.Errorf("init line 1: %w", ErrRejected)
			}
			return tryFor(t, overwritten)(ctx, c)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if rejected == 0 || !r.Complete || len(r.Case.Init) != 3 {
		t.Errorf("rejected %d, complete %v, init lines %d", rejected, r.Complete, len(r.Case.Init))
	}
}

func TestBudgetAndDeadline(t *testing.T) {
	c := parse(t, orders)
	r, err := Reduce(context.Background(), c, Options{Try: tryFor(t, overwritten), Budget: 7})
	if err != nil || r.Attempts != 7 || r.Complete || r.Minimal || !overwritten(r.Case) {
		t.Errorf("budget: error %v, attempts %d, complete %v", err, r.Attempts, r.Complete)
	}
	ctx, cancel := context.WithCancel(context.Background())
	runs := 0
	r, err = Reduce(ctx, c, Options{Try: func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
		if runs++; runs == 12 {
			cancel()
			return oracle.Verdict{}, ctx.Err()
		}
		return tryFor(t, overwritten)(ctx, c)
	}})
	if err != nil || runs != 12 || r.Complete || !overwritten(r.Case) || r.After.Compare(r.Before) >= 0 {
		t.Errorf("deadline: error %v, runs %d, complete %v", err, runs, r.Complete)
	}
}

// TestRepeats: a bug that shows in one run of four is kept through reduction.
func TestRepeats(t *testing.T) {
	runs := 0
	r, err := Reduce(context.Background(), parse(t, orders), Options{Repeats: 4, Try: func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
		if runs++; runs%4 != 0 {
			return oracle.Verdict{}, nil
		}
		return tryFor(t, overwritten)(ctx, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Minimal || !r.Complete || r.After.Statements != 6 || r.Runs <= r.Attempts {
		t.Errorf("minimal %v, complete %v, statements %d, runs %d of %d attempts", r.Minimal, r.Complete, r.After.Statements, r.Runs, r.Attempts)
	}
}

func TestDeterministicAndCached(t *testing.T) {
	for s := EpsilonGreedy; s <= DeltaDebug; s++ {
		var first []string
		for round := range 3 {
			var asked []string
			seen := map[string]bool{}
			_, err := Reduce(context.Background(), parse(t, orders), Options{Strategy: s, Seed: 42, Try: func(ctx context.Context, c *corpus.Case) (oracle.Verdict, error) {
				text := string(corpus.Print(c, corpus.Text))
				if seen[text] {
					t.Errorf("%v: asked twice:\n%s", s, text)
				}
				seen[text] = true
				asked = append(asked, text)
				return tryFor(t, overwritten)(ctx, c)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first = asked
			} else if diff := cmp.Diff(first, asked); diff != "" {
				t.Fatalf("%v: the same options asked for other candidates:\n%s", s, diff)
			}
		}
	}
}

func TestInputUntouched(t *testing.T) {
	c := parse(t, orders)
	before := string(corpus.Print(c, corpus.Text))
	if _, err := Reduce(context.Background(), c, Options{Try: tryFor(t, overwritten)}); err != nil {
		t.Fatal(err)
	}
	if after := string(corpus.Print(c, corpus.Text)); after != before {
		t.Errorf("the case given was changed:\n%s", cmp.Diff(before, after))
	}
}

func TestProgress(t *testing.T) {
	var steps []Step
	r, err := Reduce(context.Background(), parse(t, orders), Options{Try: tryFor(t, overwritten), Progress: func(s Step) { steps = append(steps, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Trace, steps); diff != "" || len(steps) != r.Attempts {
		t.Errorf("%d steps of %d attempts\n%s", len(steps), r.Attempts, diff)
	}
	useful := 0
	for i, s := range steps {
		if i > 0 && s.Kept {
			useful++
		}
		if i > 0 && s.Kept == (s.Size.Compare(steps[i-1].Size) >= 0) {
			t.Errorf("step %d: kept %v, size %+v after %+v", i, s.Kept, s.Size, steps[i-1].Size)
		}
	}
	sum := 0
	for _, l := range r.PerLayer {
		sum += l.Attempts
	}
	if useful != r.Useful || sum != r.Attempts-1 {
		t.Errorf("useful %d of %d, per layer %d of %d", useful, r.Useful, sum, r.Attempts-1)
	}
}
