//go:build !notidb

package target

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	_ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
)

// TestFreshServerIsSentTheSame: the process of a fresh embedded server, on which findings are confirmed, sends the
// statements by the protocol of the case.
func TestFreshServerIsSentTheSame(t *testing.T) {
	fresh := FreshOf(Default)
	server, err := fresh.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		fresh.GiveBack(server)
		if err := fresh.End(); err != nil {
			t.Error(err)
		}
	}()
	c := parseCase(t, "/* init */ CREATE TABLE t (a INT);\n/* init */ INSERT INTO t VALUES (1);\n"+
		"/* tx1 */ SELECT a FROM t;\n/* tx1 */ SELECT a FROM t;\n")
	for _, p := range []protocol.Protocol{protocol.All(protocol.Execute), protocol.All(protocol.Prepare), {}} {
		c.SetProtocol(p)
		r := server.Judge(t.Context(), c, map[int]corpus.Level{1: corpus.RepeatableRead})
		if r.Err != nil || r.History == nil {
			t.Fatalf("%s: %v", p, r.Err)
		}
		want := p.String()
		if p.IsText() {
			want = ""
		}
		for i := range r.History.Stmts {
			if got := r.History.Stmts[i].Sent; got != want {
				t.Errorf("%s: step %d was sent by %q, want %q", p, i+1, got, want)
			}
		}
	}
}
