package reduce

import "slices"

// span is one transaction: the indices of its steps. begin and end are -1 where
// the transaction has no such line.
type span struct {
	session    int
	lines      []int
	begin, end int
}

// spans cuts the steps into transactions. Steps outside BEGIN … COMMIT belong
// to none; a BEGIN inside a transaction ends it, as servers have it.
func spans(steps []entry) []span {
	var out []span
	open := map[int]int{}
	for i, e := range steps {
		at, isOpen := open[e.session]
		switch {
		case e.st.role == roleBegin:
			open[e.session] = len(out)
			out = append(out, span{e.session, []int{i}, i, -1})
		case e.st.role == roleEnd && isOpen:
			out[at].lines = append(out[at].lines, i)
			out[at].end = i
			delete(open, e.session)
		case isOpen:
			out[at].lines = append(out[at].lines, i)
		}
	}
	return out
}

// without returns the draft less the marked lines. BEGIN and the statement that
// ends its transaction go together or not at all, and with a SAVEPOINT go the
// statements that need it; nil if nothing is left to delete.
func (d *draft) without(init map[int]bool, steps map[int]bool) *draft {
	gone := make(map[int]bool, len(steps))
	for i := range steps {
		gone[i] = true
	}
	for _, s := range spans(d.steps) {
		if s.end >= 0 && gone[s.begin] != gone[s.end] {
			delete(gone, s.begin)
			delete(gone, s.end)
		}
		d.dropOrphans(s, gone)
	}
	if len(gone)+len(init) == 0 {
		return nil
	}
	keptInit := make([]*statement, 0, len(d.init))
	for i, st := range d.init {
		if !init[i] {
			keptInit = append(keptInit, st)
		}
	}
	kept := make([]entry, 0, len(d.steps))
	for i, e := range d.steps {
		if !gone[i] {
			kept = append(kept, e)
		}
	}
	return d.with(keptInit, kept)
}

// dropOrphans marks the uses of savepoints that a deletion unsets.
func (d *draft) dropOrphans(s span, gone map[int]bool) {
	var before, after []string
	for _, i := range s.lines {
		st := d.steps[i].st
		switch st.role {
		case roleSavepoint:
			before = append(before, st.savepoint)
			if !gone[i] {
				after = append(after, st.savepoint)
			}
		case roleToSavepoint:
			if slices.Contains(before, st.savepoint) && !slices.Contains(after, st.savepoint) {
				gone[i] = true
			}
		}
	}
}
