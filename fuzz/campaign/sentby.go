package campaign

import (
	"cmp"
	"fmt"
	"hash/fnv"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sentBy returns the i-th case of a worker's n-th input with the protocol of the campaign in its header.
func (s *Settings) sentBy(k *corpus.Case, worker, n, i int) *corpus.Case {
	if s.Protocol.IsText() {
		return k
	}
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%d %d %d %d", s.Seed, worker, n, i)
	sent := *k
	sent.SetProtocol(s.Protocol.Seeded(uint64(h.Sum32()))) // short enough to be read
	return &sent
}

// protocol is how the statements were sent, in a report that was kept before there was a choice, too.
func (r *Report) protocol() string { return cmp.Or(r.Protocol, protocol.Text.String()) }

// warnOfProtocol tells what most findings would be on a server that is known to go wrong. Without metadata locks TiDB
// does not know of which tables a plan is that it keeps, and so not that its transaction has written to them.
// https://github.com/pingcap/tidb/blob/master/pkg/planner/core/plan_cache_utils.go (MDLRelatedTableIDs)
func (s *Settings) warnOfProtocol(server history.Server) {
	keeps := s.Protocol.IsMixed() || s.Protocol == protocol.All(protocol.Execute)
	if keeps && server.DBMS == history.TiDB && server.Settings["tidb_enable_metadata_lock"] == "OFF" {
		s.logf("tidb_enable_metadata_lock is OFF, and so what TiDB keeps prepared does not see what its own transaction " +
			"wrote: most findings will be that. --server-opt tidb_enable_metadata_lock=ON finds others")
	}
}

// Sent counts statements by how they were sent, but for those that were sent as text since that was asked for.
type Sent struct {
	// Prepared were prepared, executed and closed, Executed kept prepared. AsText went as text, since the server cannot
	// prepare them.
	Prepared int `json:"prepared"`
	Executed int `json:"executed"`
	AsText   int `json:"as_text"`
}

func (s *Sent) add(h *history.History) {
	for i := range h.Stmts {
		switch h.Stmts[i].Sent {
		case "prepare":
			s.Prepared++
		case "execute":
			s.Executed++
		case "text":
			s.AsText++
		}
	}
}

func (s *Sent) merge(more Sent) {
	s.Prepared, s.Executed, s.AsText = s.Prepared+more.Prepared, s.Executed+more.Executed, s.AsText+more.AsText
}
