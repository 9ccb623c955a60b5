package workload

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDangerous: of SmallBank these are the sets that its authors name, and one that the
// paper calls safe, since amalgamate writes the checking account even where it is 0.
func TestDangerous(t *testing.T) {
	for _, w := range examples(t) {
		for size, want := range map[int]string{2: "", 3: "balance × transact-savings × write-check, balance × amalgamate × write-check"} {
			var got []string
			for _, s := range Sets(w, size) {
				if Dangerous(w, s) {
					got = append(got, Names(s))
				}
			}
			t.Log(filepath.Base(w.File), size, got)
			if w.Transaction("write-check") != nil && strings.Join(got, ", ") != want {
				t.Errorf("sets of %d: %s, want %s", size, strings.Join(got, ", "), want)
			}
		}
	}
}

// TestDangerousByStatement: what makes a dependency that snapshot isolation lets through.
func TestDangerousByStatement(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"SELECT x FROM a WHERE id = :k INTO :v; UPDATE b SET x = :v WHERE id = :k;", "SELECT x FROM b WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", true},
		{"SELECT y FROM a WHERE id = :k INTO :v; UPDATE b SET x = :v WHERE id = :k;", "SELECT x FROM b WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", false},
		{"SELECT * FROM a WHERE id = :k; UPDATE b SET x = 1 WHERE id = :k;", "SELECT x FROM b WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", true},
		{"SELECT x FROM a WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", "SELECT x FROM a WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", false},
		{"SELECT SUM(x) FROM a INTO :v; UPDATE a SET x = :v WHERE id = :k;", "SELECT SUM(x) FROM a INTO :v; UPDATE a SET x = :v WHERE id = :k;", true},
		{"SELECT x FROM a WHERE id = :k INTO :v FOR UPDATE; UPDATE b SET x = :v WHERE id = :k;", "SELECT x FROM b WHERE id = :k INTO :v; UPDATE a SET x = :v WHERE id = :k;", false},
		{"SELECT COUNT(*) FROM a INTO :v; INSERT INTO a VALUES (:v, 1, 1);", "SELECT COUNT(*) FROM a INTO :v; INSERT INTO a VALUES (:v, 1, 1);", true},
		{"SELECT COUNT(*) FROM a INTO :v; UPDATE b SET x = :v;", "SELECT x FROM b WHERE id = :k; UPDATE a SET y = 1;", false},
		{"SELECT p.x FROM a p, b q WHERE p.id = q.id; DELETE FROM b WHERE id = :k;", "SELECT x FROM b; DELETE FROM a WHERE id = :k;", true},
	} {
		w := parse(t, "/* schema */ CREATE TABLE a (id INT PRIMARY KEY, x INT, y INT); CREATE TABLE b (id INT PRIMARY KEY, x INT);\n"+
			"/* transaction one (:k a.id) */ "+x.a+"\n/* transaction two (:k a.id) */ "+x.b)
		if got := Dangerous(w, w.Transactions); got != x.want {
			t.Errorf("%s and %s: %v", x.a, x.b, got)
		}
		back := slices.Clone(w.Transactions)
		slices.Reverse(back)
		if Dangerous(w, back) != x.want {
			t.Errorf("%s and %s: not the same in the other order", x.a, x.b)
		}
	}
}
