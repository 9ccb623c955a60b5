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
	}
	d.dropOrphans(gone)
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

// savepoints follows which savepoints a session has set. Outside a transaction
// a savepoint is gone as soon as it is set.
type savepoints struct {
	open bool
	set  []string
}

func (p *savepoints) see(st *statement) {
	switch st.role {
	case roleBegin, roleEnd:
		p.open, p.set = st.role == roleBegin, nil
	case roleSavepoint:
		if p.open {
			p.set = append(p.set, st.savepoint)
		}
	}
}

// dropOrphans marks the savepoints and their uses that a deletion leaves
// without the transaction or the savepoint that they had.
func (d *draft) dropOrphans(gone map[int]bool) {
	before, after := map[int]*savepoints{}, map[int]*savepoints{}
	for i, e := range d.steps {
		if before[e.session] == nil {
			before[e.session], after[e.session] = &savepoints{}, &savepoints{}
		}
		b, a := before[e.session], after[e.session]
		switch {
		case e.st.role == roleSavepoint && b.open && !a.open,
			e.st.role == roleToSavepoint && slices.Contains(b.set, e.st.savepoint) && !slices.Contains(a.set, e.st.savepoint):
			gone[i] = true
		}
		b.see(e.st)
		if !gone[i] {
			a.see(e.st)
		}
	}
}
