package races

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// torn is the shape of the torn snapshot of MariaDB 11.8: tx3 begins before tx1 reads, reads what tx2 has
// committed, copies it, and commits; a SELECT that is held while it opens its view shows the copy alone.
const torn = `-- level: REPEATABLE READ
-- hold: tx1 1 at fn_1+0x0 of 00 hit 1 until tx3 5

/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0), (3, 0);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 1 WHERE k = 1;
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET v = 1 WHERE k = 2;
/* tx1 */ SELECT k, v FROM t ORDER BY k;
/* tx2 */ COMMIT;
/* tx3 */ SELECT v FROM t WHERE k = 1;
/* tx3 */ UPDATE t SET v = 1 WHERE k = 3;
/* tx3 */ COMMIT;
`

func parsed(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTornSnapshot finds the place in whatever build of MariaDB 11.8 is installed, replays it, and finds none in
// MySQL 9.7.
func TestTornSnapshot(t *testing.T) {
	for _, x := range []struct {
		target string
		found  bool
	}{{"mariadb:11.8", true}, {"mysql:9.7", false}} {
		if len(targettest.Among(t, x.target)) == 0 { // which fails where servers are required
			continue
		}
		t.Run(x.target, func(t *testing.T) {
			out := t.TempDir()
			r, err := Run(t.Context(), Settings{Target: x.target, Given: []*corpus.Case{parsed(t, torn)}, Seed: 1, Out: out, Reduce: 0})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", r.line())
			if r.Recorded != 1 || r.Holds < 100 || r.Holds-r.Missed < r.Holds/2 {
				t.Errorf("%d statements recorded, %d holds, %d missed", r.Recorded, r.Holds, r.Missed)
			}
			if !x.found {
				if r.Found() || r.Verdicts[oracle.OK] == 0 {
					t.Errorf("verdicts %v, findings %+v", r.Verdicts, r.Findings)
				}
				return
			}
			// Beside other tests a hold can be too late: 8 of 10 were seen.
			if len(r.Findings) != 1 || r.Findings[0].Kind != promise.Torn || r.Findings[0].Reproduced < 6 {
				t.Fatalf("findings %+v", r.Findings)
			}
			replayed(t, x.target, r.Findings[0].File)
		})
	}
}

// replayed runs a finding on a new instance, again and again.
func replayed(t *testing.T, on, file string) {
	c, err := corpus.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if held, until := c.Held(); held < 0 || until < 0 {
		t.Fatalf("the file holds nothing:\n%s", corpus.Print(c, corpus.Text))
	}
	tg, err := target.Open(t.Context(), on, target.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	const times = 20
	n := 0
	for range times {
		v := tg.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead)).Verdict
		if v.Outcome == oracle.Violation && v.Kind == promise.Torn {
			n++
		}
	}
	if n < times-2 { // the first run on a new instance may go another way
		t.Errorf("it shows in %d of %d runs", n, times)
	}
	moved := c.Clone()
	held, _ := moved.Held()
	at := *moved.Steps[held].Hold
	at.Build = strings.Repeat("0", len(at.Build))
	moved.Steps[held].Hold = &at
	var unheld *harness.UnheldError
	if r := tg.Judge(t.Context(), moved, target.LevelsFor(c, corpus.RepeatableRead)); r.Verdict.Reason != target.ReasonUnheld || !errors.As(r.Err, &unheld) {
		t.Errorf("a place of another build: %+v, %v", r.Verdict, r.Err)
	}
	moved.Steps[held].Hold = &corpus.Hold{Request: "Get", Hit: 1}
	r := tg.Judge(t.Context(), moved, target.LevelsFor(c, corpus.RepeatableRead))
	if !errors.As(r.Err, &unheld) || !strings.Contains(unheld.Reason, "sends no requests to a store") {
		t.Errorf("a request to a store: %+v, %v", r.Verdict, r.Err)
	}
}

// TestMakeCase holds what every case is to have, and that a case is made of its seed and number alone.
func TestMakeCase(t *testing.T) {
	for _, x := range []struct {
		on    history.DBMS
		cases int
		place corpus.Hold
	}{
		{history.MySQL, 500, corpus.Hold{Function: "f", Offset: 1, Build: "00", Hit: 2}},
		{history.TiDB, 200, corpus.Hold{Request: "PessimisticLock", Answered: true, Hit: 2}},
	} {
		t.Run(string(x.on), func(t *testing.T) { makesCases(t, x.on, x.cases, &x.place) })
	}
}

func makesCases(t *testing.T, on history.DBMS, cases int, place *corpus.Hold) {
	made := 0
	for n := range cases {
		r, err := makeCase(on, 3, n, corpus.Levels)
		if err != nil {
			t.Fatal(err)
		}
		again, err := makeCase(on, 3, n, corpus.Levels)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil || again == nil {
			if r != again {
				t.Fatalf("case %d is made once", n)
			}
			continue
		}
		made++
		if !r.c.Equal(again.c) || r.held != again.held || r.until != again.until {
			t.Fatalf("case %d is made in two ways", n)
		}
		if r.c.Steps[r.held].Session != heldSession || r.until <= r.held || r.c.Steps[r.until].Session == heldSession {
			t.Fatalf("case %d: step %d is held until %d", n, r.held, r.until)
		}
		late := r.late()
		if got, want := bySession(late), bySession(r.c); got != want {
			t.Fatalf("case %d, late:\n%s\nwant\n%s", n, got, want)
		}
		for _, c := range r.between() {
			if got, want := bySession(c), bySession(r.c); got != want {
				t.Fatalf("case %d, between:\n%s\nwant\n%s", n, got, want)
			}
		}
		back, err := corpus.Parse("again", corpus.Print(r.at(place), corpus.Text))
		if err != nil {
			t.Fatal(err)
		}
		if held, until := back.Held(); held != r.held || until != r.until || *back.Steps[held].Hold != *place {
			t.Fatalf("case %d: read back, step %d is held until %d, want %d and %d", n, held, until, r.held, r.until)
		}
	}
	if made < cases*3/4 {
		t.Errorf("only %d cases in which something happens", made)
	}
}

// bySession is what each session sends, in order.
func bySession(c *corpus.Case) string {
	var b strings.Builder
	for _, s := range c.Sessions() {
		for _, l := range c.Steps {
			if l.Session == s {
				b.WriteString(corpus.SQL(l.Stmt, corpus.Text) + "; ")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestHeldOf tries each statement of a case that names none, at each level.
func TestHeldOf(t *testing.T) {
	bare := parsed(t, strings.ReplaceAll(strings.SplitAfter(torn, "tx3 5\n")[1], "\n\n", ""))
	rs := heldOf(bare, []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead})
	var steps []int
	for _, r := range rs {
		steps = append(steps, r.held)
	}
	if want := []int{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}; !slices.Equal(steps, want) {
		t.Errorf("held: %v, want %v", steps, want)
	}
	if rs := heldOf(parsed(t, torn), corpus.Levels); len(rs) != 1 || rs[0].held != 4 || rs[0].until != 8 || rs[0].level != corpus.RepeatableRead {
		t.Errorf("%d ways, the first %+v", len(rs), *rs[0])
	}
}

// TestState goes on with a search, and refuses the file of another one.
func TestState(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:11.8") {
		t.Run(name, func(t *testing.T) { goOn(t, name) })
	}
}

func goOn(t *testing.T, name string) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := Settings{Target: name, Cases: 2, Seed: 9, Out: t.TempDir(), State: file}
	first, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Cases, s.Seed = 3, 77 // the seed of the file counts
	second, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if first.NextCase != 2 || second.NextCase != 3 || second.Seed != 9 || second.Hours <= first.Hours {
		t.Errorf("first %+v\nsecond %+v", first, second)
	}
	var stateError *StateError
	s.Target = "mysql:9.7"
	if _, err := Run(t.Context(), s); !errors.As(err, &stateError) {
		t.Errorf("the state of another target: %v", err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), s); !errors.As(err, &stateError) {
		t.Errorf("half a state: %v", err)
	}
}

// TestNotOurs refuses to trace what it has not started.
func TestNotOurs(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:11.8") {
		t.Run(name, func(t *testing.T) { traceByDSN(t, name) })
	}
}

func traceByDSN(t *testing.T, name string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tried := false
	err := target.Serve(ctx, name, 0, nil, func(dsn string) error {
		defer cancel()
		tried = true
		var unheld *harness.UnheldError
		if _, err := Run(t.Context(), Settings{Target: dsn, Cases: 1, Out: t.TempDir()}); !errors.As(err, &unheld) {
			t.Errorf("a server by DSN: %v", err)
		}
		return nil
	})
	if err != nil || !tried {
		t.Error(tried, err)
	}
}
