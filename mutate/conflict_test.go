package mutate

import (
	"errors"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// rowKinds are the kinds of statements that cases are made of.
var rowKinds = []stmt.Kind{stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate, stmt.Update, stmt.Delete, stmt.Insert}

func TestCombinations(t *testing.T) {
	reads := []stmt.Kind{stmt.Select, stmt.SelectForShare, stmt.SelectForUpdate}
	together := func(a, b stmt.Kind) combining { return combines[[2]stmt.Kind{a, b}] }
	for _, a := range rowKinds {
		for _, b := range rowKinds {
			if together(a, b) != together(b, a) {
				t.Errorf("%s and %s: not symmetric", a, b)
			}
		}
		if together(stmt.Other, a).any {
			t.Errorf("other combines with %s", a)
		}
		if together(stmt.Insert, a).sharedFilter {
			t.Errorf("INSERT shares a filter with %s", a)
		}
	}
	for _, r := range reads {
		for _, w := range []stmt.Kind{stmt.Update, stmt.Delete} {
			if !together(r, w).any || !together(r, w).sharedFilter {
				t.Errorf("%s and %s do not combine", r, w)
			}
		}
		if !together(r, stmt.Insert).any {
			t.Errorf("%s and INSERT do not combine", r)
		}
	}
	if together(stmt.Select, stmt.Select).any || together(stmt.Insert, stmt.Insert).any || together(stmt.SelectForShare, stmt.SelectForUpdate).any {
		t.Error("a pair combines that is not in the table")
	}
	if len(combinations) != 13 {
		t.Errorf("%d rows, the table has 13", len(combinations))
	}
}

// twoStatements returns a draft of two transactions of one statement each.
func twoStatements(t *testing.T, a, b string) (*draft, pair) {
	t.Helper()
	d := draftOf(parse(t, "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"+
		"/* init */ INSERT INTO t VALUES (1, 10), (2, NULL), (3, 30);\n"+
		"/* tx1 */ BEGIN;\n/* tx1 */ "+a+";\n/* tx1 */ COMMIT;\n"+
		"/* tx2 */ BEGIN;\n/* tx2 */ "+b+";\n/* tx2 */ COMMIT;\n"))
	return d, pair{ref{0, 1}, ref{1, 1}}
}

func TestSharedFilters(t *testing.T) {
	for _, tc := range []struct{ a, b, fsf, psf string }{
		{"SELECT * FROM t WHERE a = 1", "UPDATE t SET b = 2 WHERE b > 10",
			"UPDATE t SET b = 2 WHERE a = 1", "UPDATE t SET b = 2 WHERE (a = 1) OR (b > 10)"},
		{"DELETE FROM t WHERE a = 1 AND b", "SELECT * FROM t WHERE a OR b FOR UPDATE",
			"SELECT * FROM t WHERE a = 1 AND b FOR UPDATE", "SELECT * FROM t WHERE (a = 1 AND b) OR (a OR b) FOR UPDATE"},
		{"UPDATE t SET a = 1", "DELETE FROM t WHERE a = 2", "DELETE FROM t", "DELETE FROM t"},
		{"UPDATE t SET a = 1 WHERE b IS NULL", "DELETE FROM t", "DELETE FROM t WHERE b IS NULL", "DELETE FROM t"},
	} {
		for strategy, want := range map[Conflict]string{FSF: tc.fsf, PSF: tc.psf} {
			d, p := twoStatements(t, tc.a, tc.b)
			if strategy == FSF {
				d.shareFilter(p, func(a, _ ast.ExprNode) ast.ExprNode { return a })
			} else {
				d.shareFilter(p, either)
			}
			if got := corpus.SQL(d.stmt(p.b), corpus.Text); got != want {
				t.Errorf("%s of %s | %s:\ngot  %s\nwant %s", strategy, tc.a, tc.b, got, want)
			}
			if got := corpus.SQL(d.stmt(p.a), corpus.Text); got != tc.a {
				t.Errorf("%s changed the first statement to %s", strategy, got)
			}
		}
	}
}

// outcomes is a solver that gives prepared answers.
type outcomes struct {
	truths []sqlvalue.Truth
	err    error
	// inserts is what it was asked about.
	inserts []*ast.InsertStmt
}

func (o *outcomes) Judge(_ *ast.CreateTableStmt, inserts []*ast.InsertStmt, _ ast.ExprNode) ([]sqlvalue.Truth, error) {
	o.inserts = inserts
	return o.truths, o.err
}

func TestContainmentByOutcome(t *testing.T) {
	const ins, sel = "INSERT INTO t VALUES (4, 4)", "SELECT * FROM t WHERE a < b"
	for _, tc := range []struct {
		truths []sqlvalue.Truth
		err    error
		want   map[string]bool
	}{
		{[]sqlvalue.Truth{sqlvalue.True}, nil, map[string]bool{sel: true}},
		{[]sqlvalue.Truth{sqlvalue.False}, nil, map[string]bool{"SELECT * FROM t WHERE NOT (a < b)": true}},
		{[]sqlvalue.Truth{sqlvalue.Unknown}, nil, map[string]bool{"SELECT * FROM t WHERE (a < b) IS NULL": true}},
		{[]sqlvalue.Truth{sqlvalue.False, sqlvalue.Unknown, sqlvalue.False}, nil,
			map[string]bool{"SELECT * FROM t WHERE NOT (a < b)": true, "SELECT * FROM t WHERE (a < b) IS NULL": true}},
		{nil, nil, map[string]bool{sel: true}},
		{nil, errors.New("cannot tell"), map[string]bool{sel: true}},
	} {
		seen := map[string]bool{}
		for seed := range uint64(64) {
			s := &outcomes{truths: tc.truths, err: tc.err}
			d, p := twoStatements(t, ins, sel)
			if seed%2 == 0 {
				p.a, p.b = p.b, p.a
			}
			d.contain(on(NewSeeded(seed), ConflictLane), p, s)
			got := corpus.SQL(d.sessions[1].stmts[1], corpus.Text)
			if !tc.want[got] {
				t.Fatalf("%v: got %s", tc.truths, got)
			}
			seen[got] = true
			if len(s.inserts) != 1 || corpus.SQL(s.inserts[0], corpus.Text) != ins {
				t.Fatalf("%v: asked about the wrong tuples", tc.truths)
			}
		}
		if len(seen) != len(tc.want) {
			t.Errorf("%v: %d outcomes chosen, want %d", tc.truths, len(seen), len(tc.want))
		}
	}
}

// Without an INSERT, the rows of the set-up are the tuples.
func TestContainmentOfSetUpRows(t *testing.T) {
	s := &outcomes{truths: []sqlvalue.Truth{sqlvalue.False}}
	d, p := twoStatements(t, "UPDATE t SET b = 1", "DELETE FROM t WHERE a = 9")
	d.contain(&choices{next: func() byte { return 0 }}, p, s)
	if got := corpus.SQL(d.stmt(p.b), corpus.Text); got != "DELETE FROM t WHERE NOT (a = 9)" {
		t.Errorf("got %s", got)
	}
	if len(s.inserts) != 1 || len(s.inserts[0].Lists) != 3 {
		t.Error("the tuples are not the rows of the set-up")
	}
}

func TestConstructedPairsStandInTheTable(t *testing.T) {
	count := map[Conflict]int{}
	for seed := range uint64(1500) {
		for _, strategy := range []Conflict{None, FSF, PSF, CTC} {
			o := Options{Conflict: strategy}.withDefaults()
			src := NewSeeded(seed)
			d := fresh(src, o)
			p, ok := d.construct(on(src, ConflictLane), o, -1)
			if !ok {
				continue
			}
			count[strategy]++
			ka, ta := KindOf(d.stmt(p.a))
			kb, tb := KindOf(d.stmt(p.b))
			if c := combines[[2]stmt.Kind{ka, kb}]; !c.any || strategy != CTC && !c.sharedFilter || ta != tb || p.a.session == p.b.session {
				t.Fatalf("seed %d: %s on %s %s and %s %s", seed, strategy, ka, ta, kb, tb)
			}
			fa, fb := filter(d.stmt(p.a)), filter(d.stmt(p.b))
			if strategy == FSF && predicate(*fa) != predicate(*fb) {
				t.Fatalf("seed %d: the filters differ: %s | %s", seed, predicate(*fa), predicate(*fb))
			}
		}
	}
	if count[None] != 0 || count[FSF] < 1200 || count[PSF] < 1200 || count[CTC] < 1350 {
		t.Errorf("constructed in 1500: %v", count)
	}
}

func predicate(e ast.ExprNode) string {
	if e == nil {
		return ""
	}
	s, err := corpus.FormatExpr(e, corpus.Text)
	if err != nil {
		return err.Error()
	}
	return s
}
