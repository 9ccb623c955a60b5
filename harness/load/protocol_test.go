package load_test

import (
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// TestProtocols: the workloads are sound however their statements are sent, and the server is sent what is told.
func TestProtocols(t *testing.T) {
	for _, target := range []string{"mariadb:11.8", postgres18} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			b := open(t, target, harness.Options{})
			for i, w := range []string{"append", "mixed", "predicate", "counter", "index", "parent-child"} {
				p := []protocol.Protocol{protocol.All(protocol.Execute), protocol.Mixed(3), protocol.All(protocol.Prepare)}[i%3]
				s := settings(t, target, w, corpus.ReadCommitted)
				s.Duration, s.Protocol = time.Second/2, p
				r := run(t, b, s)
				if r.Found() || r.Problem() != nil {
					t.Errorf("%s %s: %v\n%s", w, p, r.Problem(), textOf(t, r))
				}
				prepares := p.IsMixed() || p == protocol.All(protocol.Prepare)
				executes := p.IsMixed() || p == protocol.All(protocol.Execute)
				if r.Sent == nil || (r.Sent.Prepared > 0) != prepares || (r.Sent.Executed > 0) != executes || r.Protocol != p.Name() ||
					!strings.Contains(textOf(t, r), "sent by protocol "+p.Name()+": ") {
					t.Errorf("%s %s: told %s, sent %+v", w, p, r.Protocol, r.Sent)
				}
			}
		})
	}
}

// TestAdapterSendsItself: what is told operations sends them in its own way.
func TestAdapterSendsItself(t *testing.T) {
	s := load.Settings{
		Workload: "append", Protocol: protocol.All(protocol.Prepare), Level: corpus.RepeatableRead,
		Models: []model.Model{model.Serializable}, Reads: load.AutoReads,
	}
	_, err := load.Run(t.Context(), load.NewAdapter("true", s.Level), s)
	if err == nil || !strings.Contains(err.Error(), "--protocol") {
		t.Errorf("%v, want that --protocol is refused", err)
	}
}
