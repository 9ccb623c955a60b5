package workload

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

func parse(t testing.TB, text string) *workload.Workload {
	t.Helper()
	w, err := workload.Parse("w.workload", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func examples(t testing.TB) []*workload.Workload {
	t.Helper()
	files, err := filepath.Glob("../../corpus/workloads/*.workload")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	var out []*workload.Workload
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parse(t, string(text)))
	}
	return out
}

func bytesOf(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

func stateText(s *State) string {
	return string(corpus.Print(&corpus.Case{Init: s.Init()}, corpus.Text))
}

// TestDeterministic: the same bytes give the same state, calls and order, and bytes of
// another order leave the rest as it is.
func TestDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range examples(t) {
		for size := 2; size <= 4; size++ {
			sets := Sets(w, size)
			if len(sets) == 0 {
				t.Fatalf("no sets of %d", size)
			}
			for range 30 {
				data := bytesOf(r, 400)
				a, b := Make(w, sets, data), Make(w, sets, slices.Clone(data))
				other := slices.Clone(data)
				for i := int(orderLane); i < len(other); i += int(numLanes) {
					other[i] ^= 0x55
				}
				c := Make(w, sets, other)
				for _, x := range []*Input{b, c} {
					if stateText(a.State) != stateText(x.State) || Numbered(a.Calls) != Numbered(x.Calls) {
						t.Fatalf("not the same:\n%s\n%s\n%s\n%s", stateText(a.State), stateText(x.State), Numbered(a.Calls), Numbered(x.Calls))
					}
				}
				if !slices.Equal(a.Order, b.Order) {
					t.Fatalf("orders %v and %v", a.Order, b.Order)
				}
				for i := range a.Calls {
					if !slices.Contains(a.Order, i+1) {
						t.Fatalf("call %d is not in the order %v", i+1, a.Order)
					}
				}
			}
		}
	}
}

// TestShortInputs: no bytes at all, and few, give whole inputs.
func TestShortInputs(t *testing.T) {
	for _, w := range examples(t) {
		for n := range 20 {
			in := Make(w, Sets(w, 2), bytes.Repeat([]byte{0xff}, n))
			if len(in.Calls) != 2 || len(in.Order) < 6 {
				t.Errorf("%d bytes: %+v", n, in)
			}
		}
	}
}

// TestConstraints: the rows made keep keys, CHECKs and foreign keys.
func TestConstraints(t *testing.T) {
	w := parse(t, `/* schema */
CREATE TABLE p (a INT, b VARCHAR(3) NOT NULL, PRIMARY KEY (a), UNIQUE (b));
CREATE TABLE c (x INT, y INT, v INT NOT NULL CHECK (v > 0), w INT, PRIMARY KEY (x, y), CHECK (w IS NULL OR w <= v), FOREIGN KEY (x) REFERENCES p (a));
/* rows p 1..3 */
/* rows c 4 */
/* transaction t () */ UPDATE p SET b = 'x';`)
	r := rand.New(rand.NewPCG(3, 4))
	rows, empty := 0, 0
	for range 300 {
		s := MakeState(w, bytesOf(r, 300))
		parents := s.values("p", "a")
		var seen []string
		for i := range s.rows[1] {
			row := s.rows[1][i]
			rows++
			key := text(row[0]) + "," + text(row[1])
			if slices.Contains(seen, key) {
				t.Fatalf("key %s twice in\n%s", key, stateText(s))
			}
			seen = append(seen, key)
			found := false
			for _, p := range parents {
				found = found || text(p) == text(row[0])
			}
			if !found {
				t.Fatalf("no parent of %s in\n%s", key, stateText(s))
			}
			if v := text(row[2]); v == "0" || strings.HasPrefix(v, "-") || v == "NULL" {
				t.Fatalf("CHECK broken by %s in\n%s", v, stateText(s))
			}
		}
		if len(s.rows[1]) == 0 {
			empty++
		}
	}
	if rows < 600 || empty > 30 {
		t.Errorf("%d rows in 300 states, %d without any", rows, empty)
	}
}

// TestCategories: samples, existing, missing and colliding values all come.
func TestCategories(t *testing.T) {
	w := parse(t, `/* schema */ CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(5));
/* sample t.n */ 7 weight 3, NULL;
/* transaction a (:id t.id, :k INT 3..9, :e one of ('x', 'y')) */ UPDATE t SET n = :k, s = :e WHERE id = :id;
/* transaction b (:q INT) */ DELETE FROM t WHERE id = :q;`)
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for range 1000 {
		in := Make(w, Sets(w, 2), bytesOf(r, 200))
		for _, e := range in.State.values("t", "n") {
			seen["n="+text(e)]++
		}
		there := map[string]bool{}
		for _, e := range in.State.values("t", "id") {
			there[text(e)] = true
		}
		var ids []string
		for _, c := range in.Calls {
			name := map[string]string{"a": "id", "b": "q"}[c.Transaction.Name]
			id := text(c.Args[name])
			ids = append(ids, id)
			seen[map[bool]string{true: "existing", false: "missing"}[there[id]]]++
			if c.Transaction.Name == "a" {
				seen["k="+text(c.Args["k"])]++
				seen["e="+text(c.Args["e"])]++
			}
		}
		if ids[0] == ids[1] {
			seen["colliding"]++
		}
	}
	for _, want := range []string{"n=7", "n=NULL", "existing", "missing", "k=3", "k=9", "k=6", "e='x'", "e='y'", "colliding"} {
		if seen[want] < 50 {
			t.Errorf("%s: %d times of 1000; %v", want, seen[want], seen)
		}
	}
	for k := range seen {
		if strings.HasPrefix(k, "n=") && k != "n=7" && k != "n=NULL" {
			t.Errorf("%s is no sample", k)
		}
	}
}

// TestSets: transactions that cannot meet are not run against each other.
func TestSets(t *testing.T) {
	w := parse(t, `/* schema */ CREATE TABLE a (x INT); CREATE TABLE b (x INT);
/* transaction ra () */ SELECT x FROM a;
/* transaction wa () */ UPDATE a SET x = 1;
/* transaction wb () */ UPDATE b SET x = 1;`)
	var got []string
	for _, s := range Sets(w, 2) {
		got = append(got, Names(s))
	}
	if want := "ra × wa, wa × wa, wb × wb"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(Sets(w, 3)); n != 4 {
		t.Errorf("%d sets of three, want ra×ra×wa, ra×wa×wa, wa×wa×wa and wb×wb×wb", n)
	}
}

// TestWithout drops rows across tables.
func TestWithout(t *testing.T) {
	w := parse(t, "/* schema */ CREATE TABLE a (x INT PRIMARY KEY); CREATE TABLE b (x INT PRIMARY KEY);\n/* rows a 3 */ /* rows b 2 */ /* transaction t () */ DELETE FROM a;")
	s := MakeState(w, nil)
	for _, x := range []struct{ from, n, a, b int }{{0, 1, 2, 2}, {2, 2, 2, 1}, {4, 1, 3, 1}, {0, 5, 0, 0}, {3, 0, 3, 2}, {4, 9, 3, 1}} {
		got := s.Without(x.from, x.n)
		if len(got.rows[0]) != x.a || len(got.rows[1]) != x.b || s.Rows() != 5 {
			t.Errorf("%+v: %d and %d rows of %d", x, len(got.rows[0]), len(got.rows[1]), s.Rows())
		}
	}
}

// TestDomainsHold: a value that another call has, so that they meet, is one that the
// parameter may have.
func TestDomainsHold(t *testing.T) {
	w := parse(t, `/* schema */ CREATE TABLE t (who CHAR(1) NOT NULL, k INT NOT NULL);
/* transaction a (:k one of (1)) */
INSERT INTO t VALUES ('a', :k);
/* transaction b (:k one of (2, 'x')) */
INSERT INTO t VALUES ('b', :k);
/* transaction c (:k INT -20..20) */
INSERT INTO t VALUES ('c', :k);
/* transaction d (:k INT 30..40) */
INSERT INTO t VALUES ('d', :k);`)
	want := map[string]func(string) bool{
		"a": func(s string) bool { return s == "1" },
		"b": func(s string) bool { return s == "2" || s == "'x'" },
		"c": func(s string) bool { n, err := strconv.Atoi(s); return err == nil && -20 <= n && n <= 20 },
		"d": func(s string) bool { n, err := strconv.Atoi(s); return err == nil && 30 <= n && n <= 40 },
	}
	r := rand.New(rand.NewPCG(5, 6))
	met := 0
	for range 2000 {
		in := Make(w, Sets(w, 3), bytesOf(r, 256))
		seen := map[string]bool{}
		for i := range in.Calls {
			name, v := in.Calls[i].Transaction.Name, text(in.Calls[i].Args["k"])
			if !want[name](v) {
				t.Fatalf("%s is called as %s", name, in.Calls[i].String())
			}
			if seen[v] {
				met++
			}
			seen[v] = true
		}
	}
	if met == 0 {
		t.Error("no two calls met")
	}
}
