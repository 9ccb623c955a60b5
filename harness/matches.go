package harness

import "github.com/txnfuzz/txnfuzz/corpus/stmt"

// matches returns what is sent before a step of a question to see whether a row that it finds has several partners: in
// the middle stands the query, and around it, within a transaction, what saves that from an error of the query. Nothing
// is sent before most steps.
func (x *Scratch) matches(step int, txn bool) []string {
	raw, ok := x.s.steps[step].node.(*stmt.RawStmt)
	if !ok || !x.w.pool.speech.aborts || !raw.Joins() {
		return nil
	}
	query := raw.Matches()
	switch {
	case query == "":
		return nil
	case !txn:
		return []string{query}
	}
	return []string{"SAVEPOINT txnfuzz_matches", query, "ROLLBACK TO SAVEPOINT txnfuzz_matches; RELEASE SAVEPOINT txnfuzz_matches"}
}

// severalMatch reports whether the query of matches says so, or cannot tell.
func severalMatch(r *Reply) bool { return r.Err != nil || len(r.Rows) > 0 }
