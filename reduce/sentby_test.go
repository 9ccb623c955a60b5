package reduce

import (
	"context"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestProtocolIsReduced: text is kept if the bug shows with it, else the simplest protocol that shows it.
func TestProtocolIsReduced(t *testing.T) {
	for _, x := range []struct {
		from  string
		shows func(protocol.Protocol) bool
		want  string
	}{
		{"mixed 7", func(protocol.Protocol) bool { return true }, "text"},
		{"mixed 7", func(p protocol.Protocol) bool { return !p.IsText() }, "prepare"},
		{"mixed 7", func(p protocol.Protocol) bool { return p.IsMixed() }, "mixed 7"},
		{"execute", func(p protocol.Protocol) bool { return p == protocol.All(protocol.Execute) }, "execute"},
	} {
		c, err := corpus.Parse("case", []byte("-- protocol: "+x.from+"\n\n/* init */ CREATE TABLE t (a INT);\n"+
			"/* tx1 */ SELECT * FROM t;\n/* tx1 */ SELECT 1;\n/* tx2 */ SELECT * FROM t;\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Reduce(t.Context(), c, Options{Try: func(_ context.Context, c *corpus.Case) (oracle.Verdict, error) {
			if !x.shows(c.Protocol()) {
				return oracle.Verdict{}, nil
			}
			return oracle.Verdict{Fingerprint: "f"}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Case.Protocol().String(); got != x.want {
			t.Errorf("%s becomes %s, want %s", x.from, got, x.want)
		}
	}
}
