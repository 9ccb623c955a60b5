package workload

import (
	"slices"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// idSchema has values that the server draws in columns of every sort.
const idSchema = `/* schema */
CREATE TABLE bought (id INT PRIMARY KEY AUTO_INCREMENT, who INT NOT NULL);
CREATE TABLE bill (no INT PRIMARY KEY AUTO_INCREMENT, amount INT NOT NULL);
CREATE TABLE links (k INT PRIMARY KEY, b INT, n INT);
INSERT INTO bought VALUES (7, 7); INSERT INTO links VALUES (1, 7, 0), (2, NULL, 0);
`

func parsed(t *testing.T, text string) *workload.Workload {
	t.Helper()
	w, err := workload.Parse("w.workload", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestCarriers follows drawn values through variables into other columns.
func TestCarriers(t *testing.T) {
	w := parsed(t, idSchema+`/* transaction x (:p INT) */
INSERT INTO bought (who) VALUES (:p);
UPDATE links SET b = :last_id WHERE k = 1;
SELECT MAX(no) FROM bill INTO :n;
UPDATE links SET n = :p, n = :n WHERE k = 1;
SELECT b AS other FROM links WHERE k = 2 INTO :o;
INSERT INTO bill (amount) VALUES (:o);`)
	of := carriersOf(w)
	for k, want := range map[column][]string{
		{"bought", "id"}: {"bought"}, {"bill", "no"}: {"bill"}, {"links", "b"}: {"bought"}, {"links", "n"}: {"bill"}, {"bill", "amount"}: {"bought"},
		{"bought", "who"}: nil, {"links", "k"}: nil,
	} {
		if !slices.Equal(of[k], want) {
			t.Errorf("%v holds values of %v, want %v", k, of[k], want)
		}
	}
}

// TestDrawnValues: which values a run drew makes no anomaly, and what is one stays one.
func TestDrawnValues(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		pool := open(t, target)
		for _, x := range []struct {
			what, body string
			order      []int
			kind       Kind // none if empty
		}{
			// tx1 draws the first id of the one table and the second of the other: no serial
			// order does.
			{"ids cross", "INSERT INTO bought (who) VALUES (:k); UPDATE links SET b = :last_id WHERE k = :k; INSERT INTO bill (amount) VALUES (:k); UPDATE links SET n = :last_id WHERE k = :k; SELECT b, n AS alias FROM links WHERE k = :k;",
				[]int{1, 1, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1}, ""},
			{"ids are read", "INSERT INTO bought (who) VALUES (:k); SELECT id, who FROM bought WHERE id = :last_id INTO :i, :w; INSERT INTO bill (amount) VALUES (:k); UPDATE links SET b = :i, n = :last_id WHERE k = :k;",
				[]int{1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1}, ""},
			// Both take over what was there and count it: one update is lost.
			{"a lost update among ids", "INSERT INTO bought (who) VALUES (:k); SELECT amount FROM bill WHERE no = 99 INTO :x; SELECT n FROM links WHERE k = 2 INTO :x; UPDATE links SET n = :x + 1, b = :last_id WHERE k = 2;",
				[]int{1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1}, StateKind},
			// The older order of the two overwrites the newer one's id.
			{"an id of the wrong order", "SELECT b FROM links WHERE k = 2 INTO :seen; INSERT INTO bought (who) VALUES (:k); UPDATE links SET b = :last_id WHERE k = 2;",
				[]int{1, 1, 2, 2, 2, 2, 2, 1, 1, 1}, AnswersKind},
		} {
			t.Run(x.what, func(t *testing.T) {
				w := parsed(t, idSchema+"/* transaction x (:k links.k) */ "+x.body)
				stage := NewStage(w, pool)
				in := &mutate.Input{State: mutate.MakeState(w, nil), Order: x.order}
				for k := range 2 {
					in.Calls = append(in.Calls, mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"k": corpus.IntLit(int64(k + 1))}})
				}
				o, err := stage.Run(t.Context(), in, corpus.ReadCommitted)
				if err != nil || len(o.decided()) != 2 {
					t.Fatal(err, o.Calls)
				}
				a, err := stage.serials(in, corpus.ReadCommitted).judge(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case a == nil && x.kind != "":
					t.Errorf("nothing, want %s\n%s\n%s", x.kind, schedule(o), o.final)
				case a != nil && a.kind != x.kind:
					t.Errorf("%s: %s\n%s", a.kind, a.detail, schedule(o))
				}
			})
		}
	}
}
