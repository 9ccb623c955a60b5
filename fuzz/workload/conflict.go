package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Meeting says how the statements of two transactions meet.
type Meeting string

// The ways in which they meet.
const (
	// Stale: the statement read what another transaction then changed.
	Stale Meeting = "stale read"
	// Dirty: it saw what another transaction had done and might not keep.
	Dirty Meeting = "dirty read"
	// Over: it wrote over what another transaction had written.
	Over Meeting = "overwritten"
)

// Conflict is a statement of a transaction that meets what others do to the same table.
type Conflict struct {
	Meeting Meeting `json:"meeting"`
	Actor
	Table string `json:"table"`
	// By are the statements of the others.
	By []Actor `json:"by"`
}

// Actor is a statement of a transaction.
type Actor struct {
	Transaction string `json:"transaction"`
	// Line is that of the workload's file, 0 for a transaction in Go.
	Line      int    `json:"line,omitempty"`
	Statement string `json:"statement"`
}

// same reports whether two conflicts have one cause: other transactions may do different things, as long as they meet
// the same statement.
func (c *Conflict) same(of *Conflict) bool { return c.key() == of.key() }

func (c *Conflict) key() string {
	at := strconv.Itoa(c.Line)
	if c.Line == 0 {
		at = c.Statement
	}
	return strings.Join([]string{string(c.Meeting), c.Transaction, at, c.Table}, "\x00")
}

// actor is the statement at an index of a run's history.
func actor(s shown, stmt int) Actor {
	st := &s.outcome.History.Stmts[stmt]
	n := st.Session - 1
	out := Actor{Statement: oneLine(corpus.SQL(s.outcome.Case.Steps[st.Line].Stmt, corpus.Text))}
	if n < 0 || n >= len(s.in.Calls) {
		return out
	}
	t := s.in.Calls[n].Transaction
	out.Transaction = t.Name
	sent := 0
	for i := range stmt {
		if s.outcome.History.Stmts[i].Session == st.Session {
			sent++
		}
	}
	if steps := s.outcome.Calls[n].steps; sent < len(steps) {
		workload.Walk(t.Body, func(node *workload.Node) {
			if node.Place == steps[sent].at {
				out.Line, out.Statement = node.Place.Line, oneLine(node.String())
			}
		})
	}
	return out
}

// conflictsOf returns the conflicts that a cycle of dependencies shows: what was read too early if there is any, else
// what was seen too early, else what was written over.
func conflictsOf(s shown, cycle []mvcc.Dependency) []Conflict {
	for _, look := range []struct {
		meeting Meeting
		kinds   graph.Kinds
	}{{Stale, graph.AnyRW}, {Dirty, graph.AnyWR}, {Over, graph.WW}} {
		var out []Conflict
		for _, e := range cycle {
			if e.Kind&look.kinds == 0 || e.FromStmt < 0 || e.ToStmt < 0 {
				continue
			}
			mine, other := e.ToStmt, e.FromStmt // of WR and WW edges the later statement is the one that suffers
			if look.meeting == Stale {
				mine, other = e.FromStmt, e.ToStmt
			}
			out = append(out, Conflict{look.meeting, actor(s, mine), strings.ToLower(e.Table), []Actor{actor(s, other)}})
		}
		if len(out) > 0 {
			return joined(out)
		}
	}
	return nil
}

// overtakings are the plain reads of a that b overtook, as conflicts.
func (a *access) overtakings(b *access, s shown) []Conflict {
	var out []Conflict
	for _, r := range a.reads {
		for _, w := range b.writes {
			if !r.plain || w.table != r.table || b.end <= r.at {
				continue
			}
			meeting := Stale
			if w.at < r.at && s.outcome.History.Levels[1] == corpus.ReadUncommitted {
				meeting = Dirty
			}
			out = append(out, Conflict{meeting, actor(s, r.stmt), r.table, []Actor{actor(s, w.stmt)}})
		}
	}
	return out
}

// joined makes one of the conflicts that have one cause, in the order of the file.
func joined(list []Conflict) []Conflict {
	var out []Conflict
	for _, c := range list {
		i := slices.IndexFunc(out, func(o Conflict) bool { return o.same(&c) })
		if i < 0 {
			c.By = slices.Clone(c.By)
			out = append(out, c)
			continue
		}
		for _, by := range c.By {
			if !slices.Contains(out[i].By, by) {
				out[i].By = append(out[i].By, by)
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].By, Actor.compare)
	}
	slices.SortFunc(out, func(a, b Conflict) int { return cmp.Or(a.compare(b.Actor), strings.Compare(a.key(), b.key())) })
	return out
}

func (a Actor) compare(b Actor) int {
	return cmp.Or(a.Line-b.Line, strings.Compare(a.Transaction, b.Transaction), strings.Compare(a.Statement, b.Statement))
}
