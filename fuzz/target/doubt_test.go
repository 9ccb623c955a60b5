package target

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// changesAnswers holds settings of servers that no rule speaks of, and a case of
// each in which a server with it answers in another way.
var changesAnswers = []struct{ option, text string }{
	{"auto_increment_increment=5", `
/* init */ CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT);
/* tx1 */ INSERT INTO t (n) VALUES (1), (2), (3);
/* tx2 */ INSERT INTO t VALUES (2, 2);
/* tx1 */ SELECT * FROM t;`},
	{"sql_mode=", `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL, c VARCHAR(2));
/* init */ INSERT INTO t VALUES (1, 1, 'a');
/* tx1 */ INSERT INTO t VALUES (2, 1000, 'abc');
/* tx1 */ SELECT n / 0 FROM t;
/* tx1 */ UPDATE t SET n = NULL;
/* tx1 */ SELECT * FROM t;`},
	{"sql_safe_updates=ON", `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ UPDATE t SET n = 2;
/* tx1 */ DELETE FROM t;
/* tx1 */ SELECT * FROM t;`},
	{"collation_server=utf8mb4_bin", `
/* init */ CREATE TABLE t (s VARCHAR(10) UNIQUE);
/* init */ INSERT INTO t VALUES ('a');
/* tx1 */ SELECT * FROM t WHERE s = 'A';
/* tx1 */ INSERT INTO t VALUES ('A');`},
	{"div_precision_increment=9", `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 3);
/* tx1 */ SELECT 1 / n, AVG(n) FROM t GROUP BY n;`},
	{"sql_mode=STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES", `
/* init */ CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(10));
/* init */ INSERT INTO t VALUES (1, 'a\\b'), (2, 'a\nb');
/* tx1 */ SELECT * FROM t WHERE c = 'a\\b' OR c LIKE 'a\\\\b';
/* tx1 */ UPDATE t SET c = 'x\'y\\' WHERE id = 1;
/* tx1 */ SELECT * FROM t;`},
}

// What a server answers because of a setting that no rule speaks of is no
// violation; one that shows with the vendor's value, too, stays one.
func TestSettingsThatChangeAnswers(t *testing.T) {
	for _, name := range []string{"mysql:9.7", "mariadb:11.8"} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(Installed(t.Context()), name) {
				if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
					t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and %s is not installed", name)
				}
				t.Skip("not installed")
			}
			for _, x := range changesAnswers {
				if name == "mysql:9.7" && strings.HasPrefix(x.option, "sql_safe_updates") {
					continue // MySQL has no such option, only the variable
				}
				target, err := Open(t.Context(), name+","+x.option, Options{})
				if err != nil {
					t.Errorf("%s: %v", x.option, err)
					continue
				}
				c := parseCase(t, strings.TrimSpace(x.text)+"\n")
				doubted := 0
				for _, l := range target.Levels() {
					v := target.Judge(t.Context(), c, LevelsFor(c, l)).Verdict
					if v.Outcome == oracle.Violation {
						t.Errorf("%s at %s: %s: expected %s, got %s", x.option, l.Short(), v.Kind, v.Expected, v.Actual)
					}
					if strings.HasPrefix(v.Reason, judging.ReasonSetting) {
						doubted++
					}
				}
				t.Logf("%s: doubted at %d levels", x.option, doubted)
				lie := oracle.Verdict{Outcome: oracle.Violation, Kind: "wrong-rows", Stmt: -1, Expected: "a", Actual: "b"}
				r := target.Run(t.Context(), c, LevelsFor(c, corpus.ReadCommitted))
				r.Verdict = lie
				if target.Decide(t.Context(), &r); !strings.HasPrefix(r.Verdict.Reason, judging.ReasonSetting) {
					t.Errorf("%s: a violation that does not show at the defaults stays %s %s", x.option, r.Verdict.Outcome, r.Verdict.Reason)
				}
				if err := target.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
