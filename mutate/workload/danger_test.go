package workload

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// TestDangerous: of SmallBank these are the sets that its authors name, and one that the
// paper calls safe, since amalgamate writes the checking account even where it is 0.
func TestDangerous(t *testing.T) {
	for _, w := range examples(t) {
		for size, want := range map[int]string{2: "", 3: "balance × transact-savings × write-check, balance × amalgamate × write-check"} {
			var got []string
			for _, s := range Sets(w, size) {
				if Dangerous(w, s, true) {
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
		if got := Dangerous(w, w.Transactions, true); got != x.want {
			t.Errorf("%s and %s: %v", x.a, x.b, got)
		}
		back := slices.Clone(w.Transactions)
		slices.Reverse(back)
		if Dangerous(w, back, true) != x.want {
			t.Errorf("%s and %s: not the same in the other order", x.a, x.b)
		}
	}
}

// TestDangerousWithoutFirstWriter: where the second writer of a row is not refused, a
// transaction that reads a row and then changes it may be overtaken, too, unless its read
// locks the row. MySQL has shown the anomaly of the first three.
func TestDangerousWithoutFirstWriter(t *testing.T) {
	for _, w := range examples(t) {
		if w.Transaction("write-check") == nil {
			continue
		}
		for _, x := range []struct {
			set             []string
			without, locked bool
		}{
			{[]string{"balance", "deposit-checking", "write-check"}, true, false},
			{[]string{"balance", "deposit-checking", "deposit-checking"}, false, false},
		} {
			var set, locked []*workload.Transaction
			for _, name := range x.set {
				set = append(set, w.Transaction(name))
				locked = append(locked, lockAll(t, w.Transaction(name)))
			}
			if got := Dangerous(w, set, false); got != x.without {
				t.Errorf("%s: %v", Names(set), got)
			}
			if got := Dangerous(w, locked, false); got != x.locked {
				t.Errorf("%s with every read FOR UPDATE: %v", Names(set), got)
			}
		}
	}
}

func lockAll(t *testing.T, of *workload.Transaction) *workload.Transaction {
	t.Helper()
	out := *of
	out.Body = slices.Clone(of.Body)
	for i := range out.Body {
		if s, ok := out.Body[i].Stmt.(*ast.SelectStmt); ok && s.From != nil {
			locked := *s
			locked.LockInfo = &ast.SelectLockInfo{LockType: ast.SelectLockForUpdate}
			out.Body[i].Stmt = &locked
		}
	}
	return &out
}
