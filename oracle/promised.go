package oracle

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Forbidden looks for something in the dependencies of a history that the server
// promises not to show, each transaction at its own level: a second judge beside the
// rules, which asks what anomalies are there and not how the server works.
//
// What it asks for is what load checks (docs/load.md). Each transaction is cut into
// pieces, and each piece must appear to happen at one moment: one piece for each snapshot
// that plain SELECTs read, at READ COMMITTED one for each SELECT, and one for all writes
// and locking reads. So no cycle of dependencies may lead through pieces. With snapshot
// isolation the reads of a transaction come before its writes (Cerone and Gotsman,
// "Analysing Snapshot Isolation", 2016, theorem 4.1), and at SERIALIZABLE there is one
// piece. Of READ UNCOMMITTED plain reads count for nothing. Where no gap is locked, other
// rows may come into the choice of a statement that locks.
//
// It returns the phenomenon, nil if there is none, and the dependencies without versions
// that change nothing, nil if no rules explain the history. Where some condition could not
// be evaluated row by row (Coarse), nothing is claimed, nor by dependencies between
// statements that overlap, or on what one of these wrote. It costs what Phenomena costs.
func Forbidden(c *corpus.Case, h *history.History, v *Verdict) (*Phenomenon, *mvcc.Dependencies) {
	if v.Outcome == Unknown {
		return nil, nil
	}
	c, h = read(c, h, v)
	if own, err := resolved(c, h); err == nil {
		c = own
	}
	r := explaining(c, h, v)
	if r == nil {
		return nil, nil
	}
	d := r.EffectiveDependencies()
	if d.Coarse {
		return nil, d
	}
	sure := *d
	sure.Edges = slices.DeleteFunc(slices.Clone(d.Edges), func(e mvcc.Dependency) bool {
		return overlap(h, e.FromStmt, e.ToStmt) || e.Own >= 0 && overlap(h, e.Own, e.ToStmt)
	})
	return forbidden(&sure, h.Server, readsApart(c, h)), d
}

// overlap says that two statements ran at the same time, as one of them waited. Which came
// first at a row is then the replay's guess, one of several that may fit.
func overlap(h *history.History, a, b int) bool {
	x, y := &h.Stmts[a], &h.Stmts[b]
	return x.Submit < y.Return && y.Submit < x.Return
}

// readsApart tells, by statement, those whose reads need not go together with others:
// they may end before they have looked at every row; or they are INSERTs, whose queries lock
// nothing at READ COMMITTED, and on TiDB read the newest rows without a lock.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func readsApart(c *corpus.Case, h *history.History) []bool {
	out := make([]bool, len(h.Stmts))
	for i := range h.Stmts {
		v := stmt.Of(c.Steps[h.Stmts[i].Line].Stmt)
		out[i] = v.Limit != nil || v.Kind == stmt.Insert
	}
	return out
}

// forbidden looks for it in a graph. What the statements read that apart tells is left out.
func forbidden(d *mvcc.Dependencies, server history.Server, apart []bool) *Phenomenon {
	p := &pieces{d: d, server: server, of: map[piece]int32{}}
	var edges []graph.Edge
	var from []mvcc.Dependency
	for _, e := range d.Edges {
		if !d.Units[e.To].Committed {
			continue
		}
		if e.Aborted || e.Intermediate {
			if !e.Plain || d.Units[e.To].Level != corpus.ReadUncommitted {
				kind := model.G1b
				if e.Aborted {
					kind = model.G1a
				}
				return &Phenomenon{kind, []mvcc.Dependency{e}}
			}
			continue
		}
		if _, stmt, reads := readerOf(&e); !d.Units[e.From].Committed || !p.promised(&e) || reads && apart[stmt] {
			continue
		}
		edges = append(edges, graph.Edge{From: p.leaves(&e), To: p.enters(&e), Kind: e.Kind})
		from = append(from, e)
	}
	for u := range d.Units { // its snapshot comes before its writes
		if p.snapshotIsolation(u) {
			edges = append(edges, graph.Edge{From: p.node(piece{u, snapshot}), To: p.node(piece{u, rest}), Kind: graph.Session})
		}
	}
	g := graph.Build(len(p.of), func(edge func(from, to int32, k graph.Kinds)) {
		for _, e := range edges {
			edge(e.From, e.To, e.Kind)
		}
	})
	find := graph.NewFinder(g)
	var best []mvcc.Dependency
	for i, e := range edges[:len(from)] {
		back := find.Path(e.To, e.From, graph.Data|graph.Session)
		if back == nil || e.From == e.To {
			continue
		}
		cycle := []mvcc.Dependency{from[i]}
		for _, b := range back {
			for k, o := range edges[:len(from)] {
				if o == b {
					cycle = append(cycle, from[k])
					break
				}
			}
		}
		if best == nil || len(cycle) < len(best) {
			best = cycle
		}
	}
	if best == nil {
		return nil
	}
	return &Phenomenon{kindOf(best), best}
}

// piece is a part of a transaction: a statement that has a snapshot of its own, or one of
// the constants below.
type piece struct{ unit, part int }

const (
	rest     = -1 // writes and locking reads
	snapshot = -2 // plain SELECTs, if they read one snapshot
)

// pieces numbers the pieces of transactions as nodes of a graph.
type pieces struct {
	d      *mvcc.Dependencies
	server history.Server
	of     map[piece]int32
}

func (p *pieces) node(x piece) int32 {
	n, ok := p.of[x]
	if !ok {
		n = int32(len(p.of))
		p.of[x] = n
	}
	return n
}

// reader is the piece that reads, in a statement.
func (p *pieces) reader(unit, stmt int, plain bool) piece {
	switch {
	case p.snapshotIsolation(unit):
		return piece{unit, snapshot}
	case !plain || p.d.Units[unit].Level == corpus.Serializable:
		return piece{unit, rest}
	case p.d.Units[unit].Level == corpus.RepeatableRead:
		return piece{unit, snapshot}
	}
	return piece{unit, stmt}
}

func (p *pieces) snapshotIsolation(unit int) bool {
	return p.server.DBMS == history.MariaDB && p.server.Settings["innodb_snapshot_isolation"] == "ON" && p.d.Units[unit].Level == corpus.RepeatableRead
}

// enters and leaves are the pieces that an edge leads to and comes from.
func (p *pieces) enters(e *mvcc.Dependency) int32 {
	switch {
	case e.Kind&graph.AnyRW != 0:
		return p.node(piece{e.To, rest})
	case e.Kind&graph.AnyWR != 0:
		return p.node(p.reader(e.To, e.ToStmt, e.Plain))
	case p.snapshotIsolation(e.To):
		return p.node(piece{e.To, snapshot})
	}
	return p.node(piece{e.To, rest})
}

func (p *pieces) leaves(e *mvcc.Dependency) int32 {
	if e.Kind&graph.AnyRW != 0 {
		return p.node(p.reader(e.From, e.FromStmt, e.Plain))
	}
	return p.node(piece{e.From, rest})
}

// readerOf returns the transaction and the statement that read, if the edge is of a read.
func readerOf(e *mvcc.Dependency) (unit, stmt int, ok bool) {
	switch {
	case e.Kind&graph.AnyRW != 0:
		return e.From, e.FromStmt, true
	case e.Kind&graph.AnyWR != 0:
		return e.To, e.ToStmt, true
	}
	return 0, 0, false
}

// promised says that an edge may be part of no cycle of pieces.
func (p *pieces) promised(e *mvcc.Dependency) bool {
	unit, _, reads := readerOf(e)
	if !reads {
		return true
	}
	level := p.d.Units[unit].Level
	switch {
	case e.Plain:
		return level != corpus.ReadUncommitted
	case e.Fresh && p.snapshotIsolation(unit):
		return false
	case e.KeyOnly && (e.Kind&graph.AnyRW != 0 || p.snapshotIsolation(unit)):
		// Rows that an INSERT takes back when a later one fails take their locks with
		// them, and no manual says that a duplicate must be one of the snapshot.
		return false
	case e.Kind&graph.PredicateRW != 0: // only a lock of the gap keeps others out
		return p.server.DBMS != history.TiDB && level >= corpus.RepeatableRead
	}
	return true
}
