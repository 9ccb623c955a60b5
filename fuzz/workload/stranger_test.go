package workload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// TestUnusableWorkload: what can test nothing is a mistake of the file and no clean
// result, nor a finding of the server.
func TestUnusableWorkload(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"an invariant that no state keeps", `/* schema */
CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL);
/* rows t 1..3 */
/* transaction take (:id t.id) */
UPDATE t SET n = n - 1 WHERE id = :id;
/* invariant empty */ SELECT id FROM t;
`, "invariant empty does not hold in the beginning"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w, err := workload.Parse("w.workload", []byte(x.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range installed(t, "mariadb:11.8") {
				b := backend(t, target)
				_, err = Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 300, Duration: 5 * time.Second, Seed: 1, Workers: 1, Out: t.TempDir()})
				var mistake *SettingError
				if !errors.As(err, &mistake) || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want a mistake of the file with %q", err, x.want)
				}
			}
		})
	}
}

// TestInvariantsAreChecked: an invariant that the server refuses is told with its place and
// the server's words, before any case runs.
func TestInvariantsAreChecked(t *testing.T) {
	const head = "/* schema */ CREATE TABLE t (id INT PRIMARY KEY, a INT);\n/* transaction x (:k t.id) */ UPDATE t SET a = 1 WHERE id = :k;\n/* invariant fine */ SELECT id FROM t WHERE id < -5;\n"
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
		for text, want := range map[string]string{
			"  /* invariant no-column */ SELECT id FROM t WHERE aa < 0;":            "w.workload:4:3: invariant no-column: the server refuses it with error 1054: Unknown column 'aa'",
			"\n/* invariant no-table */ SELECT u.id FROM t;":                        "w.workload:5:1: invariant no-table: the server refuses it with error 1054: Unknown column 'u.id'",
			"/* invariant no-function */ SELECT id FROM t WHERE FROBNICATE(a) < 0;": "w.workload:4:1: invariant no-function: the server refuses it with error 1305: ",
			"/* invariant other-table */ SELECT id FROM u;":                         "w.workload:4:1: there is no table u in the schema",
		} {
			w, err := workload.Parse("w.workload", []byte(head+text))
			var r *Report
			if err == nil {
				r, err = Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 10, Workers: 2, Out: t.TempDir()})
			}
			var at *corpus.ParseError
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || r != nil {
				t.Errorf("%s\n got %v, %v\nwant %s", text, err, r, want)
			}
		}
	}
}

// TestStatementsAreChecked: a statement whose text the server refuses is told with its place
// before any case runs, wherever in a transaction it is.
func TestStatementsAreChecked(t *testing.T) {
	const head = "/* schema */ CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL);\n/* sample t.a */ 1;\n/* transaction fine (:k t.id) */ UPDATE t SET a = 1 WHERE id = :k;\n"
	for _, target := range installed(t, "mariadb:11.8", "mysql:9.7") {
		b := backend(t, target)
		for text, want := range map[string]string{
			"/* transaction late (:k t.id) */ SELECT a FROM t WHERE id = :k INTO :x;\n/* unless :x > 5: rollback */\n  UPDATE t SET aa = 1;":                                           "w.workload:6:3: transaction late: UPDATE t SET aa = 1: the server refuses it with error 1054: Unknown column 'aa'",
			"/* transaction looped (:k t.id) */ SELECT id FROM t WHERE a > 5 INTO :x;\n/* repeat */\nDELETE FROM t WHERE FROBNICATE(id) = :x;\n/* end */":                              "w.workload:6:1: transaction looped: DELETE FROM t WHERE FROBNICATE(id) = :x: the server refuses it with error 1305: ",
			"/* transaction insert (:k t.id) */ INSERT INTO t VALUES (:k, NULL);\nINSERT INTO t VALUES (:k);":                                                                          "w.workload:5:1: transaction insert: INSERT INTO t VALUES (:k): the server refuses it with error 1136: ",
			"/* transaction doubled (:k t.id) */ INSERT INTO t VALUES (:k, 1);\nINSERT INTO t VALUES (:k, 1); UPDATE t SET a = (SELECT b.a FROM t AS c WHERE c.id = :k) WHERE id = 1;": "w.workload:5:31: transaction doubled: UPDATE t SET a = ",
		} {
			w, err := workload.Parse("w.workload", []byte(head+text))
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 10, Workers: 2, Out: t.TempDir()})
			var at *corpus.ParseError
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || r != nil {
				t.Errorf("%s: %s\n got %v, %v\nwant %s", target, text, err, r, want)
			}
		}
	}
}

// TestLateRefusalKeepsReport: a statement that is refused in the middle of a campaign, since
// nobody could tell beforehand, ends it with its place at once, and with a report of what was
// found until then.
func TestLateRefusalKeepsReport(t *testing.T) {
	text := strings.Replace(string(workload.Print(twoRoads(t, 1))), "/* invariant", "/* transaction list (:n one of ("+strings.Repeat("1, ", 90)+"7)) */ SELECT n FROM stock ORDER BY :n;\n/* invariant", 1)
	w, err := workload.Parse("w.workload", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
		begun := time.Now()
		r, err := Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 1 << 20, Tries: 1 << 20, Explain: time.Hour, Seed: 2, Workers: 2, Out: t.TempDir()})
		var at *corpus.ParseError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), "transaction list: SELECT n FROM stock ORDER BY 7: the server refuses it with error 1054: ") {
			t.Fatalf("%v after %s", err, time.Since(begun))
		}
		if r == nil || len(r.Findings) == 0 || r.Pending != len(r.Findings) || r.Mended != nil {
			t.Errorf("%+v", r)
		}
	}
}
