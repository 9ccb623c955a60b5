package campaign

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// showsPattern reports whether a run of a case that follows a pattern shows it at a level:
// its operations took effect in the pattern's order, each transaction ended as the pattern
// says, and every edge is one of the run's dependencies, between the same two statements.
// A run with the edges in another order, after a wait, shows another pattern; and a write
// that leaves a row as it was makes no edge, since nobody can tell it from none.
func showsPattern(r *target.Trial, w *mutate.Weaving, level corpus.Level) bool {
	if r.History == nil || r.Verdict.Outcome != oracle.OK && r.Verdict.Outcome != oracle.Known {
		return false
	}
	at, ok := operationsIn(r.History, w)
	if !ok {
		return false
	}
	_, d := oracle.Forbidden(r.Case, r.History, &r.Verdict)
	if d == nil || d.Coarse {
		return false
	}
	s := &sight{p: w.Pattern, at: at, d: d, level: level}
	return !slices.ContainsFunc(w.Pattern.Edges(), func(e pattern.Edge) bool { return !s.arose(e) })
}

// operationsIn returns the statement of each operation; false: one failed, is missing, or came
// back behind the next one's begin.
func operationsIn(h *history.History, w *mutate.Weaving) ([]int, bool) {
	byLine := map[int]int{}
	for i := range h.Stmts {
		byLine[h.Stmts[i].Line] = i
	}
	at := make([]int, len(w.Lines))
	last := history.Tick(0)
	for op, line := range w.Lines {
		i, ok := byLine[line]
		if !ok {
			return nil, false
		}
		s := &h.Stmts[i]
		if s.Result.Err != nil || s.Return == 0 || s.Submit <= last {
			return nil, false
		}
		at[op], last = i, s.Return
	}
	return at, true
}

// sight is a run that is held against a pattern.
type sight struct {
	p     *pattern.Pattern
	at    []int // the statement of each operation
	d     *oracle.Dependencies
	level corpus.Level
}

var graphKinds = map[pattern.EdgeKind]graph.Kinds{pattern.WW: graph.WW, pattern.WR: graph.AnyWR, pattern.RW: graph.AnyRW}

// arose says that an edge is among the dependencies.
func (s *sight) arose(e pattern.Edge) bool {
	return slices.ContainsFunc(s.d.Edges, func(d oracle.Dependency) bool {
		return d.Kind&graphKinds[e.Kind] != 0 && d.FromStmt == s.at[e.From] && d.ToStmt == s.at[e.To] && s.ends(&d, e)
	}) || e.Kind == pattern.RW && s.replaced(e)
}

// replaced says that the writer of an edge is the one that wrote what was read, and wrote
// it again. The graph has one version of each transaction, the last, and tells of such
// a read that it met another.
func (s *sight) replaced(e pattern.Edge) bool {
	return slices.ContainsFunc(s.p.Edges(), func(first pattern.Edge) bool {
		return first.Kind == pattern.WR && first.To == e.From && s.p.Ops[first.From].Txn == s.p.Ops[e.To].Txn &&
			slices.ContainsFunc(s.d.Edges, func(d oracle.Dependency) bool {
				return d.Intermediate && d.FromStmt == s.at[first.From] && d.ToStmt == s.at[first.To] && s.ends(&d, first)
			})
	})
}

// ends says that the transactions of a dependency ended as those of the pattern's edge, at
// the level.
func (s *sight) ends(d *oracle.Dependency, e pattern.Edge) bool {
	from, to := &s.d.Units[d.From], &s.d.Units[d.To]
	commits := s.commits(e.From)
	return from.Level == s.level && to.Level == s.level &&
		from.Committed == commits && to.Committed == s.commits(e.To) && (commits || d.Aborted)
}

func (s *sight) commits(op int) bool {
	return s.p.Ops[s.p.End(s.p.Ops[op].Txn)].Do == pattern.Commit
}
