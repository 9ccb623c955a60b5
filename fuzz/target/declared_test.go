package target_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// A server that promises less than was declared breaks what was declared, and one that promises it
// does not: MariaDB's levels are the planted servers.
var declaredCases = []struct {
	name, text string
	// level, what is declared of it, and the kind of violation; "": none.
	want map[string]string
}{
	{"lost update", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx2 */ COMMIT;
`, map[string]string{"RR=SI": "lost-update", "RR=SI-merged": "lost-update", "RR=snapshot": "", "RC=statement": "", "SER=S": "", "RR=S": "not-serializable"}},
	{"two columns of a row", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT);
/* init */ INSERT INTO t VALUES (1, 10, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET c = 22 WHERE a = 1;
/* tx2 */ COMMIT;
`, map[string]string{"RR=SI": "lost-update", "RR=SI-merged": "", "RR=snapshot": ""}},
	{"write skew", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = 0 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 0 WHERE a = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
`, map[string]string{"RR=SI": "", "RR=S": "not-serializable", "RR=snapshot": "", "SER=S": ""}},
	{"a read that is not repeated", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 11;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`, map[string]string{"RC=SI": "wrong-rows", "RC=snapshot": "wrong-rows", "RC=statement": "", "RR=SI": ""}},
	{"a lost update behind a sum", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT SUM(b) FROM t;
/* tx2 */ SELECT SUM(b) FROM t;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx2 */ COMMIT;
`, map[string]string{"RR=SI": "lost-update", "RR=snapshot": ""}},
	{"a count that finds nothing, and so may have read nothing", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ SELECT COUNT(*) FROM t WHERE 1 = 0;
/* tx2 */ INSERT INTO t VALUES (1, 10);
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`, map[string]string{"RR=SI": "", "RR=snapshot": ""}},
	{"an uncommitted row", `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 10);
/* tx2 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
`, map[string]string{"RU=statement": "wrong-rows", "RU=uncommitted": "", "RC=statement": ""}},
}

func TestDeclared(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:10.11") {
		testDeclared(t, name)
	}
}

func testDeclared(t *testing.T, name string) {
	for _, d := range declaredCases {
		for declared, want := range d.want {
			t.Run(d.name+" "+declared, func(t *testing.T) {
				t.Setenv(target.EnvPromise, declared)
				on, err := target.Open(t.Context(), name, target.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer on.Close()
				c, err := corpus.Parse(d.name, []byte(d.text))
				if err != nil {
					t.Fatal(err)
				}
				v := on.Judge(t.Context(), c, target.LevelsFor(c, on.Levels()[0])).Verdict
				switch {
				case v.Oracle != oracle.Promised:
					t.Errorf("judged by %q: %s %s", v.Oracle, v.Outcome, v.Reason)
				case want == "" && v.Outcome != oracle.OK, want != "" && (v.Outcome != oracle.Violation || string(v.Kind) != want):
					t.Errorf("%s %s (expected %s, got %s), want %q", v.Outcome, v.Kind, v.Expected, v.Actual, want)
				}
			})
		}
	}
}

// TestDeclaredIsTold: what is tried before anything is judged says how the server behaves.
func TestDeclaredIsTold(t *testing.T) {
	for _, name := range targettest.Among(t, "mariadb:10.11") {
		t.Setenv(target.EnvPromise, "RR=snapshot,SER=S")
		var told strings.Builder
		on, err := target.Open(t.Context(), name, target.Options{Progress: &told})
		if err != nil {
			t.Fatal(err)
		}
		defer on.Close()
		for _, want := range []string{"RR promises snapshot", "SER promises S", "tx2 fails with error 1213", "is not judged"} {
			if !strings.Contains(told.String(), want) {
				t.Errorf("%q is not told:\n%s", want, told.String())
			}
		}
		if strings.Contains(told.String(), "AUTO_INCREMENT") {
			t.Errorf("MariaDB lets a session choose the next value:\n%s", told.String())
		}
		got := fmt.Sprint(on.Levels(), on.Server().Declared.Conflicts)
		if got != "[REPEATABLE READ SERIALIZABLE] [{1213 Deadlock found when}]" {
			t.Error(got)
		}
	}
}

// TestNothingDeclared: a promise of levels that the server does not have is refused.
func TestNothingDeclared(t *testing.T) {
	for _, name := range targettest.Among(t, "tidb:2025-11") {
		t.Setenv(target.EnvPromise, "SER=S")
		on, err := target.Open(t.Context(), name, target.Options{})
		if err == nil {
			t.Error(on.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "none of the levels of which something is promised (SER=S): it has RC, RR") {
			t.Error(err)
		}
	}
}
