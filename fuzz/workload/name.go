package workload

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Where the name of an anomaly comes from.
const (
	// ByGraph: a cycle in the graph of the run's dependencies.
	ByGraph = "dependency graph"
	// ByOrder: a guess by the order of reads and writes of tables.
	ByOrder = "order of statements"
)

// naming is the field's name for an anomaly, empty where it is not known, where that comes from, how many calls the
// graph's cycle goes through, and which statements meet.
type naming struct {
	name, by  string
	cycle     int
	conflicts []Conflict
}

// name names a reduced anomaly. of are the tables of the invariant that breaks, if one does.
func name(s shown, of []string) naming {
	if n, ok := nameByGraph(s); ok {
		return n
	}
	for _, tables := range [][]string{of, nil} {
		if n := nameByOrder(s, tables); n.name != "" {
			return n
		}
	}
	return naming{}
}

// tablesOf returns the tables that the invariant of a kind reads.
func (s *Stage) tablesOf(k Kind) []string {
	for _, v := range s.invariants {
		if invariantKind(v.Name) == k && v.Query != nil {
			return namesOfTables(v.Query)
		}
	}
	return nil
}

// mostNames is how many phenomena of a run are named.
const mostNames = 2

// nameByGraph names the gravest phenomena of a run by the cycles of its dependencies; cycle and conflicts are those of
// the first. ok is false where rules do not explain the run, or where a condition over several tables leaves open which
// rows it chose.
func nameByGraph(s shown) (n naming, ok bool) {
	o := s.outcome
	v := check(o)
	list, d := oracle.Phenomena(o.judged(), o.History, &v)
	if len(list) == 0 || d.Coarse || v.Outcome == oracle.Violation {
		return naming{}, false
	}
	var names []string
	for i := range list {
		if n := list[i].Name(); !slices.Contains(names, n) && len(names) < mostNames {
			names = append(names, n)
		}
	}
	return naming{strings.Join(names, "; "), ByGraph, len(list[0].Cycle), conflictsOf(s, list[0].Cycle)}, true
}

// nameByOrder guesses the name for a run of two calls without its versions: by which
// tables each call read by plain SELECTs while the other had yet to write them, and
// which rows both wrote. If tables are given, others do not count: what breaks an
// invariant happens in its tables.
func nameByOrder(s shown, tables []string) naming {
	if len(s.in.Calls) != 2 {
		return naming{}
	}
	o := s.outcome
	var a, b access
	a.of(o, 1)
	b.of(o, 2)
	if len(tables) > 0 {
		a.only(tables)
		b.only(tables)
	}
	n := naming{by: ByOrder}
	switch {
	case a.dirty(&b, o) || b.dirty(&a, o):
		n.name = "dirty read (G1)"
	case a.lost(&b) || b.lost(&a):
		n.name = "lost update (P4)"
	case a.overtaken(&b) && b.overtaken(&a):
		if n.name = "write skew (G2)"; a.sameWrites(&b) {
			n.name = "lost update (P4)"
		}
	case len(a.writes) == 0 && a.reads2() || len(b.writes) == 0 && b.reads2():
		n.name = "read skew (G-single)"
	default:
		return naming{}
	}
	n.conflicts = joined(slices.Concat(a.overtakings(&b, s), b.overtakings(&a, s)))
	return n
}

// access is what one session of a run did to tables, and when.
type access struct {
	reads, writes []touch
	end           history.Tick
	committed     bool
}

// touch is a statement and the table that it reads or writes.
type touch struct {
	table, where string
	at           history.Tick // of its answer
	stmt         int          // in the history
	plain        bool         // a SELECT without a lock
}

func (a *access) of(o *Outcome, session int) {
	for i := range o.History.Stmts {
		st := &o.History.Stmts[i]
		if st.Session != session {
			continue
		}
		a.end = st.Return
		if st.Result.Err != nil {
			continue
		}
		switch x := o.Case.Steps[st.Line].Stmt.(type) {
		case *ast.SelectStmt:
			for _, t := range namesOfTables(x) {
				a.reads = append(a.reads, touch{t, condition(x.Where), st.Return, i, x.LockInfo == nil})
			}
		case *ast.UpdateStmt:
			a.wrote(x, condition(x.Where), st, i)
		case *ast.DeleteStmt:
			a.wrote(x, condition(x.Where), st, i)
		case *ast.InsertStmt:
			a.wrote(x, "", st, i)
		case *ast.CommitStmt:
			a.committed = true
		}
	}
}

func (a *access) only(tables []string) {
	elsewhere := func(t touch) bool { return !slices.Contains(tables, t.table) }
	a.reads, a.writes = slices.DeleteFunc(a.reads, elsewhere), slices.DeleteFunc(a.writes, elsewhere)
}

func (a *access) wrote(n ast.Node, where string, st *history.Stmt, i int) {
	if st.Result.Affected == 0 && st.Result.Matched <= 0 {
		return
	}
	if names := namesOfTables(n); len(names) > 0 {
		a.writes = append(a.writes, touch{names[0], where, st.Return, i, false})
	}
}

// overtaken says that a read something by a plain SELECT which b wrote afterwards, or
// had not yet committed.
func (a *access) overtaken(b *access) bool {
	return slices.ContainsFunc(a.reads, func(r touch) bool {
		return slices.ContainsFunc(b.writes, func(w touch) bool { return w.table == r.table && b.end > r.at })
	})
}

// dirty says that a read what b had written and not committed, at a level where that
// can be seen.
func (a *access) dirty(b *access, o *Outcome) bool {
	if o.History.Levels[1].Short() != "RU" {
		return false
	}
	return slices.ContainsFunc(a.reads, func(r touch) bool {
		return r.plain && slices.ContainsFunc(b.writes, func(w touch) bool { return w.table == r.table && w.at < r.at && r.at < b.end })
	})
}

// lost says that a read a row, b wrote and committed it, and a wrote it again.
func (a *access) lost(b *access) bool {
	for _, r := range a.reads {
		for _, w := range a.writes {
			if w.table != r.table || w.at < r.at {
				continue
			}
			for _, x := range b.writes {
				if x.table == w.table && x.where == w.where && x.where != "" && x.at > r.at && x.at < w.at {
					return true
				}
			}
		}
	}
	return false
}

func (a *access) sameWrites(b *access) bool {
	return slices.ContainsFunc(a.writes, func(w touch) bool {
		return slices.ContainsFunc(b.writes, func(x touch) bool { return x.table == w.table && x.where == w.where && x.where != "" })
	})
}

// reads2 says that there were at least two reads, which may have seen two states.
func (a *access) reads2() bool { return len(a.reads) > 1 }

func condition(e ast.ExprNode) string {
	if e == nil {
		return ""
	}
	return strings.ToLower(exprText(e))
}
