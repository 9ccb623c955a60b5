package postgres

import (
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// foundOfAll tells which rows of its table a statement finds that goes to the first or the last one, by the place in
// which that lies: in the order in which they were made, as long as it sees only those that the set-up has made.
func (w *world) foundOfAll(run *running, rows []solve.Row, chains []*versions.Chain) ([]bool, error) {
	for _, c := range chains {
		if run.view.Version(c).Txn != nil {
			return nil, &mvcc.Loss{Slug: "unsupported: the first place of a table that was written before"}
		}
	}
	a, err := w.ask(run, run.node, rows)
	if err != nil {
		return nil, err
	}
	after, err := w.after(run, a)
	if err != nil {
		return nil, err
	}
	left := map[string]int{}
	for _, row := range after {
		left[versions.ShowRow(row)]++
	}
	found, n := make([]bool, len(rows)), 0
	for i, row := range rows {
		if text := versions.ShowRow(row); left[text] > 0 {
			left[text]--
			continue
		}
		found[i], n = true, n+1
	}
	if a.Result.Err != nil || int64(n) != a.Result.Affected {
		return nil, &mvcc.Loss{Slug: "unsupported: the first place of a table, in a statement that does not change its row"}
	}
	return found, nil
}
