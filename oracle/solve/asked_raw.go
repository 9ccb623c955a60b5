package solve

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// AskedEffect is what a statement does, as the server tells that ran it alone.
type AskedEffect struct {
	Result *history.Result
	// Rows are those of the result, all as texts.
	Rows [][]sqlvalue.Value
	// After holds the rows of each table behind it.
	After [][]Row
}

// AskedRaw has the server run a statement that the parser does not read on the rows of all
// tables that it names. The error is a refusal where it cannot be asked or has not answered.
func (s *Solver) AskedRaw(n *stmt.RawStmt, on []Found) (*AskedEffect, error) {
	refusal := unsupported("a statement that the parser does not read")
	if !s.asks(refusal, n) || s.d.mayStampAny(n, on) {
		return nil, refusal
	}
	q := history.Question{}
	for _, f := range on {
		q.Tables = append(q.Tables, contents(f.Table, f.Rows))
	}
	var err error
	if q.SQL, err = corpus.Format(n, corpus.Text); err != nil {
		return nil, refusal
	}
	a := s.asking.ask(q)
	if a == nil || len(a.After) != len(on) {
		return nil, refusal
	}
	effect := &AskedEffect{Result: &a.Result, Rows: textsAsRows(a.Result.Rows), After: make([][]Row, len(on))}
	for i, f := range on {
		for _, cells := range a.After[i].Rows {
			row, err := f.Table.ParseRow(cells)
			if err != nil {
				return nil, refusal
			}
			effect.After[i] = append(effect.After[i], row)
		}
	}
	return effect, nil
}
