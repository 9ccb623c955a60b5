package mutate

import (
	"slices"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestEndSessions: the same seed makes the same case, which can be read back and holds all that it was made
// of in its order; all forms come about; and a session that is gone comes back, or not.
func TestEndSessions(t *testing.T) {
	forms := map[stmt.Kind]int{}
	for seed := range uint64(400) {
		c := Generate(NewSeeded(seed), Options{})
		k, again := EndSessions(c, seed), EndSessions(c, seed)
		if err := k.Validate(); err != nil || !k.Equal(again) {
			t.Fatalf("seed %d: %v\n%s", seed, err, corpus.Print(k, corpus.Text))
		}
		back, err := corpus.Parse("x", corpus.Print(k, corpus.Text))
		if err != nil || !back.Equal(k) {
			t.Fatalf("seed %d: read back: %v", seed, err)
		}
		at := 0
		for _, l := range k.Steps {
			kind := stmt.KindOf(l.Stmt)
			forms[kind]++
			if at < len(c.Steps) && l.Session == c.Steps[at].Session && l.Stmt == c.Steps[at].Stmt {
				at++
			}
		}
		if at != len(c.Steps) {
			t.Fatalf("seed %d: step %d of the case is gone:\n%s", seed, at+1, corpus.Print(k, corpus.Text))
		}
		if !k.EndsSessions() {
			t.Fatalf("seed %d: no session ends", seed)
		}
		if d := draftOf(k); slices.ContainsFunc(d.sessions, func(s session) bool {
			return slices.ContainsFunc(s.stmts, func(n ast.StmtNode) bool { return stmt.KindOf(n).OfSession() })
		}) {
			t.Fatalf("seed %d: a new case is made of the ends of sessions, too", seed)
		}
	}
	for _, k := range []stmt.Kind{stmt.KillQuery, stmt.Kill, stmt.Disconnect, stmt.Connect} {
		if forms[k] < 40 {
			t.Errorf("%s: %d times in 400 cases", k, forms[k])
		}
	}
}
