package reduce

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// span is one transaction: the indices of its steps. begin and end are -1 where
// the transaction has no such line. cut says that its session was killed or disconnected in it.
type span struct {
	session    int
	lines      []int
	begin, end int
	cut        bool
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
			out = append(out, span{session: e.session, lines: []int{i}, begin: i, end: -1})
		case e.st.role == roleEnd && isOpen:
			out[at].lines = append(out[at].lines, i)
			out[at].end = i
			delete(open, e.session)
		case isOpen:
			out[at].lines = append(out[at].lines, i)
		}
		if at, isOpen := open[e.ended()]; isOpen {
			out[at].cut = true
			delete(open, e.ended())
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

// isLast reports whether a transaction that ends is the last that its session
// does.
func (d *draft) isLast(s span) bool {
	return s.end >= 0 && !slices.ContainsFunc(d.steps[s.end+1:], func(e entry) bool { return e.session == s.session })
}

// lone returns the drafts in which the only statement of a transaction is one by
// itself, sent somewhere between its place and that of the COMMIT, which is when
// others saw it.
func (d *draft) lone(s span) []*draft {
	pair := ends(s)
	if len(s.lines) != len(pair)+1 {
		return nil
	}
	at := s.lines[1]
	last := len(d.steps)
	if s.end >= 0 {
		last = s.end
	}
	var out []*draft
	for to := at + 2; to <= last; to++ {
		moved := make([]entry, 0, len(d.steps))
		for i, e := range d.steps {
			if i == to {
				moved = append(moved, d.steps[at])
			}
			if i != at && i != s.begin && i != s.end {
				moved = append(moved, e)
			}
		}
		if to == len(d.steps) {
			moved = append(moved, d.steps[at])
		}
		out = append(out, d.with(d.init, moved))
	}
	return out
}

// waitsForGood reports whether something that a session does could wait for a
// transaction that does not end: servers and harness take seconds to see that.
func (d *draft) waitsForGood() bool {
	for _, s := range spans(d.steps) {
		if s.end >= 0 || s.cut {
			continue
		}
		locked := false
		for _, e := range d.steps[s.begin:] {
			switch {
			case !d.locks(e):
			case e.session == s.session:
				locked = true
			case locked:
				return true
			}
		}
	}
	return false
}

// locks reports whether a step may take locks that last.
func (d *draft) locks(e entry) bool {
	switch e.st.deletion {
	case armDeleteSelect:
		l, ok := d.levels[e.session]
		return !ok || l == corpus.Serializable
	case armDeleteLockingRead, armDeleteInsert, armDeleteUpdate, armDeleteDelete:
		return true
	}
	return e.st.role == roleOther && e.st.about == nil
}

// openEnd returns the draft without the line that ends a transaction: the session
// ends in it, and it is rolled back.
func (d *draft) openEnd(s span) *draft {
	return d.with(d.init, slices.Delete(slices.Clone(d.steps), s.end, s.end+1))
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
