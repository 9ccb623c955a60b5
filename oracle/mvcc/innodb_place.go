package mvcc

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// A server that is asked whether a statement waits also tells where: in which index,
// before or at which record. Then the place of the wait is no choice: a path on which
// the statement stops elsewhere is not the one that it took.
//
// A promise speaks of answers, not of the places of waits: where a server waits elsewhere
// than the rules have it, and answers right, nothing is wrong. So paths are looked for in
// two rounds, first those that keep to the places told, and only if none of them fits,
// all. What fits only then is no violation, but nothing vouches for it either.

// Round says which paths a replay on InnoDB tries.
type Round uint8

const (
	// BothRounds tries AsTold, and Anywhere if nothing fits.
	BothRounds Round = iota
	// AsTold keeps to the places of waiting that the server told.
	AsTold
	// Anywhere lets statements wait wherever the rules admit it.
	Anywhere
)

// In makes the replay try the paths of one round only.
func (r *Replay) In(round Round) *Replay {
	r.round = round
	return r
}

// Rounds returns the rounds that differ for a history.
func (r *Replay) Rounds() []Round {
	if r.h.Server.DBMS == history.TiDB || !slices.ContainsFunc(r.h.Stmts, func(s history.Stmt) bool {
		return slices.ContainsFunc(s.Waits, func(w history.Wait) bool { return legible(w.At) })
	}) {
		return []Round{Anywhere}
	}
	return []Round{AsTold, Anywhere}
}

// legible tells whether a place says where a statement waits. A server does not print a
// record whose page is latched.
func legible(at *history.Place) bool {
	return at != nil && (at.Kind != history.RecordLock || len(at.Fields) > 0)
}

// Elsewhere reports whether the path that the replay has found keeps to no places of
// waiting, although the server told some: with them none fits.
func (r *Replay) Elsewhere() bool { return r.places != nil && r.anywhere }

func (r *Replay) rounds() []Round {
	if r.round == BothRounds {
		return r.Rounds()
	}
	return []Round{r.round}
}

// place is where a server told that a statement waits.
type place struct {
	at *history.Place
	// table is nil if the case has none of that name; key is nil for the clustered index.
	table     *solve.Table
	key       *solve.Key
	clustered *solve.Key
	// exclusive tells a lock of mode X from one of mode S.
	exclusive bool
}

// toldPlaces returns the places of the waits that a history tells, by statement and
// wait; nil if there is none, and of TiDB, whose replay looks for none.
func (r *Replay) toldPlaces() [][]*place {
	if r.h.Server.DBMS == history.TiDB {
		return nil
	}
	var out [][]*place
	for i := range r.h.Stmts {
		waits := r.h.Stmts[i].Waits
		for k := range waits {
			at := waits[k].At
			if !legible(at) {
				continue
			}
			p := &place{at: at, exclusive: strings.Contains(at.Mode, "X")}
			for name, t := range r.store.Tables {
				if !strings.EqualFold(name, at.Table) {
					continue
				}
				if key, ok := record.Index(at, t.Def, t.Clustered); ok {
					p.table, p.key, p.clustered = t.Def, key, t.Clustered
				}
			}
			if p.table == nil {
				continue
			}
			if out == nil {
				out = make([][]*place, len(r.h.Stmts))
			}
			if out[i] == nil {
				out[i] = make([]*place, len(waits))
			}
			out[i][k] = p
		}
	}
	return out
}

// spot is a place on the way of a statement where it may wait.
type spot struct {
	t *Table
	// key is the index, nil for the clustered one.
	key *solve.Key
	// rows are the versions of a row of which the entry may be.
	rows []solve.Row
	// tuple says that the entry is that of another row with the same values in the index.
	tuple bool
	// gap says that an entry goes in, for which the gap must be free.
	gap bool
	// scan says that a scan is at the entry: one of a secondary index then locks the record
	// in the clustered one, too. exclusive is the lock that it asks for.
	scan, exclusive bool
}

// is tells whether a spot is the place.
func (p *place) is(s *spot) record.Answer {
	switch {
	case s.t.Def != p.table:
		// Subqueries are not scanned here, and may wait for their own tables.
		return record.Unsure
	case s.key != p.key && !(s.scan && p.key == nil), s.scan && p.exclusive != s.exclusive:
		return record.No
	case p.at.Kind != history.RecordLock:
		if s.gap {
			return record.Yes
		}
		return record.No
	}
	clustered := p.clustered
	if s.tuple && p.key != nil {
		clustered = nil
	}
	out := record.No
	for _, row := range s.rows {
		if row != nil {
			out = max(out, record.Match(p.at, p.table, clustered, p.key, row))
		}
	}
	if out == record.Yes && p.clustered == nil && !s.tuple {
		// Rows that are equal in all that is printed cannot be told apart.
		return record.Unsure
	}
	return out
}

// told returns the place of the wait that a statement is to come to, nil where none is
// told, or where all paths are tried.
func (x *running) told() *place {
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
	if x.atUnseen = p.at.Kind == history.RecordLock && !x.e.knowsRow(p); !x.atUnseen {
		x.place = p
	}
}

// knowsRow reports whether some version of some row may be the record of a place.
func (e *engine) knowsRow(p *place) bool {
	return e.matchesRow(p, func(a record.Answer) bool { return a != record.No })
}

// matchesRow reports whether the record of a place agrees with some version of some row.
func (e *engine) matchesRow(p *place, agrees func(record.Answer) bool) bool {
	for _, t := range e.store.Tables {
		if t.Def != p.table {
			continue
		}
		for _, c := range t.Chains {
			for k := range c.Versions {
				if row := c.Versions[k].Row; row != nil && agrees(record.Match(p.at, p.table, p.clustered, p.key, row)) {
					return true
				}
			}
		}
	}
	return false
}

// toldHere tells whether a statement that is to wait does so at a spot: Unsure where the
// server did not tell, and where what it told may be the spot or not.
func (x *running) toldHere(s spot) record.Answer {
	p := x.told()
	if p == nil || s.t == nil {
		return record.Unsure
	}
	return p.is(&s)
}

// byToldIndex lets a statement go by the index in which it is told to wait. It may as well
// have gone by another one, and wait where it changes an entry of this one.
func (x *running) byToldIndex(a *access) {
	p := x.told()
	if p == nil || p.table != a.t.Def || p.key == nil || p.key == a.key || p.at.Kind != history.RecordLock {
		return
	}
	var goes bool
	if scans := p.exclusive != (x.kind == stmt.SelectForShare); scans {
		goes = x.e.choices.choose(2) == 0
	} else {
		// A scan asks for another lock: it waits for a key that it would make twice, which
		// tells little of how it came to the row.
		goes = x.e.choices.keep(2) == 1
	}
	if goes {
		*a = access{t: a.t, where: a.where, key: p.key, ranged: true}
	}
}

// atEntryOf is the spot of a scan at an entry; at the end of the index if that is nil. It
// is empty where no place is told, since it is asked for at each entry.
func (x *running) atEntryOf(a *access, n *entry, exclusive bool) spot {
	if x.told() == nil {
		return spot{}
	}
	s := spot{t: a.t, key: a.key, scan: true, exclusive: exclusive}
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
