package reduce

import "slices"

// informed lists deletions that the verdict suggests: what runs behind the
// statement that differs can seldom have changed it, nor can what only reads.
// They delete most at the first attempt where they succeed; a guess at the wrong
// statement costs an attempt.
//
// at is the index of the statement in the order in which statements were sent,
// which is that of the steps save for sessions that waited.
func informed(d *draft, at int) []candidate {
	if at < 0 || at >= len(d.steps) {
		return nil
	}
	reads := map[int]bool{}
	for i, e := range d.steps {
		if i != at && e.st.deletion == armDeleteSelect {
			reads[i] = true
		}
	}
	var out []candidate
	add := func(a arm, gone map[int]bool) {
		if len(gone) > 1 {
			out = append(out, candidate{a, a.String() + d.text(), func() *draft { return d.without(nil, gone) }})
		}
	}
	behind := setOf(count(at+1, len(d.steps)))
	add(armBehind, behind)
	add(armReads, reads)
	return out
}

// candidates lists the operations of a layer on the best case.
func (r *reducer) candidates(l layer) []candidate {
	all := candidates(r.best, l)
	if l != layerStatements {
		return all
	}
	if r.closing {
		// Runs of lines, like the parts that delta debugging deletes, are a
		// means of the search; minimal speaks of lines, transactions and tables.
		return slices.DeleteFunc(all, func(c candidate) bool { return c.arm == armRun })
	}
	return slices.Concat(r.foreseen(), informed(r.best, r.verdict.Stmt), all)
}
