package mutate

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// standsFor says whether a statement can be that of an operation.
func standsFor(do pattern.Action, s ast.StmtNode) bool {
	var ok bool
	switch do {
	case pattern.Read:
		_, ok = s.(*ast.SelectStmt)
	case pattern.Commit:
		_, ok = s.(*ast.CommitStmt)
	case pattern.Abort:
		_, ok = s.(*ast.RollbackStmt)
	case pattern.Insert:
		_, ok = s.(*ast.InsertStmt)
	case pattern.Delete:
		_, ok = s.(*ast.DeleteStmt)
	case pattern.Write:
		if _, ok = s.(*ast.DeleteStmt); ok {
			return true
		}
		_, ok = s.(*ast.UpdateStmt)
	default:
		_, ok = s.(*ast.UpdateStmt)
	}
	return ok
}

// holdsWeaving wants the operations of a pattern where a weaving says that they are.
func holdsWeaving(t *testing.T, c *corpus.Case, w *Weaving) {
	t.Helper()
	p := w.Pattern
	sessions := map[int]int{} // by transaction
	for i, op := range p.Ops {
		l := c.Steps[w.Lines[i]]
		if i > 0 && w.Lines[i] <= w.Lines[i-1] {
			t.Errorf("%s: the lines are %v", p.Name(), w.Lines)
		}
		if s, ok := sessions[op.Txn]; ok && s != l.Session {
			t.Errorf("%s: transaction %d is in tx%d and tx%d", p.Name(), op.Txn, s, l.Session)
		}
		sessions[op.Txn] = l.Session
		if !standsFor(op.Do, l.Stmt) {
			t.Errorf("%s: %s is %s", p.Name(), op, corpus.SQL(l.Stmt, corpus.Text))
		}
	}
	if len(sessions) != p.Transactions() {
		t.Errorf("%s: %d sessions", p.Name(), len(sessions))
	}
	for txn, s := range sessions { // one transaction from its first operation to its end
		first := slices.IndexFunc(p.Ops, func(o pattern.Op) bool { return o.Txn == txn })
		for n := w.Lines[first]; n < w.Lines[p.End(txn)]; n++ {
			if l := c.Steps[n]; l.Session == s && (stmt.KindOf(l.Stmt).Begins() || stmt.KindOf(l.Stmt).Ends()) {
				t.Errorf("%s: transaction %d has %s amid it", p.Name(), txn, corpus.SQL(l.Stmt, corpus.Text))
			}
		}
		if !slices.ContainsFunc(c.Steps[:w.Lines[first]], func(l corpus.Line) bool { return l.Session == s && stmt.KindOf(l.Stmt).Begins() }) {
			t.Errorf("%s: transaction %d does not begin", p.Name(), txn)
		}
	}
}

// TestGivenPattern: a case follows the pattern that the options give, of fresh inputs and
// of such that change a stored case, with transactions beside it or none.
func TestGivenPattern(t *testing.T) {
	entries := published(t)
	list := slices.Clone(Patterns(2))
	for i := 0; i < len(Patterns(3)); i += 40 {
		list = append(list, Patterns(3)[i])
	}
	const tries = 12
	made, all := 0, 0
	for i := range list {
		p, once := &list[i], 0
		for k := range tries {
			seed := uint64(i*tries+k) * seedsPerSchema
			in := InputOf(seed, InputLen)
			if n := max(p.Transactions(), 2+k%3); n > 2 {
				in = WideInput(seed, n)
			}
			o := Options{Conflict: Pattern, Pattern: p, Levels: []corpus.Level{corpus.Serializable}, Orders: 1, Tables: 1 + k%2}
			cases, w := FromInputWoven(in, entries, o)
			for _, s := range cases[0].Sessions() {
				if l, _ := cases[0].LevelOf(s); l != corpus.Serializable {
					t.Fatalf("%s: tx%d is at %s", p.Name(), s, l)
				}
			}
			all++
			if w == nil {
				continue
			}
			once, made = once+1, made+1
			if w.Pattern != p || len(w.Lines) != len(p.Ops) {
				t.Fatalf("%s: follows %s at %v", p.Name(), w.Pattern.Name(), w.Lines)
			}
			holdsWeaving(t, cases[0], w)
		}
		if once < tries/2 {
			t.Errorf("%s: %d of %d inputs follow it", p.Name(), once, tries)
		}
	}
	t.Logf("%d of %d inputs follow the pattern", made, all)
	if made < all*9/10 {
		t.Errorf("%d of %d inputs follow the pattern", made, all)
	}
}

// TestChosenPattern: without a given pattern the input chooses, and what is told of that
// leaves the cases as they are.
func TestChosenPattern(t *testing.T) {
	entries := published(t)
	chosen := map[string]bool{}
	for seed := range uint64(400) {
		in := InputOf(seed*seedsPerSchema, InputLen)
		if seed%4 == 3 {
			in = WideInput(seed*seedsPerSchema, 3+int(seed/4%2))
		}
		o := Options{Conflict: Pattern}
		cases, w := FromInputWoven(in, entries, o)
		for i, c := range FromInput(in, entries, o) {
			if !bytes.Equal(corpus.Print(c, corpus.Text), corpus.Print(cases[i], corpus.Text)) {
				t.Fatalf("seed %d: two cases of one input", seed)
			}
		}
		if w != nil {
			holdsWeaving(t, cases[0], w)
			chosen[w.Pattern.Name()] = true
		}
	}
	if len(chosen) < 100 {
		t.Errorf("%d patterns in 400 inputs", len(chosen))
	}
	if _, w := FromInputWoven(InputOf(1, InputLen), nil, Options{Pattern: &shortPatterns[0]}); w != nil {
		t.Error("a case follows a pattern under another strategy")
	}
}
