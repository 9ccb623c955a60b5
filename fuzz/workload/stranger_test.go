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
