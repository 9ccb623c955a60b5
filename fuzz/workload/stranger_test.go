package workload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
)

// TestUnusableWorkload: what can test nothing is a mistake of the file and no clean
// result, nor a finding of the server.
func TestUnusableWorkload(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"a column that there is not", `/* schema */
CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL);
/* transaction take (:id t.id) */
UPDATE t SET nn = nn - 1 WHERE id = :id;
/* invariant positive */ SELECT id FROM t WHERE n < -1000000;
`, "transaction take: "},
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
				b, err := harness.Open(t.Context(), target, harness.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
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
		b, err := harness.Open(t.Context(), target, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
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
