package innodb

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

func (r *paths) rounds() []mvcc.Round {
	if r.Trying == mvcc.BothRounds {
		return r.Rounds()
	}
	return []mvcc.Round{r.Trying}
}

// toldPlaces returns the places of the waits that a history tells, by statement and
// wait; nil if there is none.
func (r *paths) toldPlaces() [][]*mvcc.Place {
	var out [][]*mvcc.Place
	for i := range r.History.Stmts {
		waits := r.History.Stmts[i].Waits
		for k := range waits {
			at := waits[k].At
			if !mvcc.Legible(at) {
				continue
			}
			p := &mvcc.Place{At: at, Exclusive: strings.Contains(at.Mode, "X")}
			for name, t := range r.Store.Tables {
				if !strings.EqualFold(name, at.Table) {
					continue
				}
				if key, ok := record.Index(at, t.Def, t.Clustered); ok {
					p.Table, p.Key, p.Clustered = t.Def, key, t.Clustered
				}
			}
			if p.Table == nil {
				continue
			}
			if out == nil {
				out = make([][]*mvcc.Place, len(r.History.Stmts))
			}
			if out[i] == nil {
				out[i] = make([]*mvcc.Place, len(waits))
			}
			out[i][k] = p
		}
	}
	return out
}

// is tells whether a spot is the place.
func is(p *mvcc.Place, s *spot) record.Answer {
	switch {
	case s.t.Def != p.Table:
		// Subqueries are not scanned here, and may wait for their own tables.
		return record.Unsure
	case s.key != p.Key && !(s.scan && p.Key == nil), s.scan && p.Exclusive != s.exclusive:
		return record.No
	case p.At.Kind != history.RecordLock:
		if s.gap {
			return record.Yes
		}
		return record.No
	}
	clustered := p.Clustered
	if s.tuple && p.Key != nil {
		clustered = nil
	}
	out := record.No
	for _, row := range s.rows {
		if row != nil {
			out = max(out, record.Match(p.At, p.Table, clustered, p.Key, row))
		}
	}
	if out == record.Yes && p.Clustered == nil && !s.tuple {
		// Rows that are equal in all that is printed cannot be told apart.
		return record.Unsure
	}
	return out
}

// placeTold returns the place of the wait that a statement is to come to, nil where none is
// told, or where all paths are tried.
func (x *running) placeTold() *mvcc.Place {
	if !x.due {
		return nil
	}
	return x.place
}

// expect sets where a statement that goes on is told to wait next. A record of which no
// row is known tells nothing: it may be one that an earlier case has left in the table.
func (x *running) expect(wait int) {
	x.place, x.atUnseen = nil, false
	if x.e.anywhere || wait < 0 || wait >= len(x.e.places[x.i]) {
		return
	}
	p := x.e.places[x.i][wait]
	if p == nil {
		return
	}
	if x.atUnseen = p.At.Kind == history.RecordLock && !x.e.knowsRow(p); !x.atUnseen {
		x.place = p
	}
}

// knowsRow reports whether some version of some row may be the record of a place.
func (e *engine) knowsRow(p *mvcc.Place) bool {
	return e.matchesRow(p, func(a record.Answer) bool { return a != record.No })
}

// matchesRow reports whether the record of a place agrees with some version of some row.
func (e *engine) matchesRow(p *mvcc.Place, agrees func(record.Answer) bool) bool {
	for _, t := range e.Store.Tables {
		if t.Def != p.Table {
			continue
		}
		for _, c := range t.Chains {
			for k := range c.Versions {
				if row := c.Versions[k].Row; row != nil && agrees(record.Match(p.At, p.Table, p.Clustered, p.Key, row)) {
					return true
				}
			}
		}
	}
	return false
}

// waitsHere tells whether a statement that is to wait does so at a spot: Unsure where the
// server did not tell, and where what it told may be the spot or not.
func (x *running) waitsHere(s spot) record.Answer {
	p := x.placeTold()
	if p == nil || s.t == nil {
		return record.Unsure
	}
	return is(p, &s)
}

// byToldIndex lets a statement go by the index in which it is told to wait. It may as well
// have gone by another one, and wait where it changes an entry of this one.
func (x *running) byToldIndex(a *access) {
	p := x.placeTold()
	if p == nil || p.Table != a.t.Def || p.Key == nil || p.Key == a.key || p.At.Kind != history.RecordLock {
		return
	}
	var goes bool
	if scans := p.Exclusive != (x.kind == stmt.SelectForShare); scans {
		goes = x.e.choices.Choose(2) == 0
	} else {
		// A scan asks for another lock: it waits for a key that it would make twice, which
		// tells little of how it came to the row.
		goes = chooseFixed(x.e.choices, 2) == 1
	}
	if goes {
		*a = access{t: a.t, where: a.where, key: p.Key, ranged: true}
	}
}

// atEntryOf is the spot of a scan at an entry; at the end of the index if that is nil. It
// is empty where no place is told, since it is asked for at each entry.
func (x *running) atEntryOf(a *access, n *entry, mode versions.Mode) spot {
	if x.placeTold() == nil {
		return spot{}
	}
	s := spot{t: a.t, key: a.key, scan: true, exclusive: mode == versions.Exclusive}
	switch {
	case n == nil:
		s.gap = true
	case a.key == nil || n.late:
		// The record of the clustered index is every version's.
		for k := range n.c.Versions {
			s.rows = append(s.rows, n.c.Versions[k].Row)
		}
	default:
		s.rows = append(s.rows, n.row)
	}
	return s
}
