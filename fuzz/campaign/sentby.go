package campaign

import (
	"fmt"
	"hash/fnv"

	"github.com/txnfuzz/txnfuzz/corpus"
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
