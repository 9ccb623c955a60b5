package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
)

// Differs holds what was read off against the dependencies that a replay of the same
// history derives, and returns what only one of the two has, a line each: of each SELECT
// whose versions answers tell, from whom it read which row; of each overwriting and each order
// of two writers that was read off, whether the replay has it on the table, be it through
// writers between. The row itself cannot be asked for there: to a replay it is what has a key,
// which another row can take, or which a row can leave. Only committed transactions count.
func (r *Reading) Differs(d *mvcc.Dependencies) []string {
	derived := dependenciesOf(d)
	mine, from := map[wr]bool{}, r.readFrom()
	var out []string
	for i := range r.Edges {
		e := &r.Edges[i]
		if !r.Units[e.To].Committed {
			continue
		}
		at := item{e.Table, idOf(e, r)}
		first, to := endOf(r.Units, e.From), endOf(r.Units, e.To)
		switch {
		case e.Kind == graph.WR:
			k := wr{first, e.ToStmt, at}
			mine[k] = true
			if !derived.wr[k] {
				out = append(out, "only in the answers: "+k.String())
			}
		case !r.Units[e.From].Committed:
		case e.Kind == graph.WW && !derived.reaches(at.table, first, to):
			out = append(out, fmt.Sprintf("only in the answers: %s is written by %s and then by %s", at, first, to))
		case e.Kind == graph.RW && !derived.reaches(at.table, first, to) && // the next version is the reader's own
			!slices.ContainsFunc(derived.next[rw{e.FromStmt, at.table}], func(o end) bool { return o == to || derived.reaches(at.table, o, to) }) &&
			!derived.movedTo(at, from[read{e.FromStmt, at}], to):
			out = append(out, fmt.Sprintf("only in the answers: %s overwrites %s, which statement %d read", to, at, e.FromStmt+1))
		}
	}
	for k := range derived.wr {
		if r.tells(k.stmt, k.item.table) && !mine[k] {
			out = append(out, "only in the replay: "+k.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// read is a row that a statement's answer shows.
type read struct {
	stmt int
	item item
}

// readFrom returns who wrote what answers show.
func (r *Reading) readFrom() map[read]end {
	out := map[read]end{}
	for i := range r.Edges {
		if e := &r.Edges[i]; e.Kind == graph.WR {
			out[read{e.ToStmt, item{e.Table, idOf(e, r)}}] = endOf(r.Units, e.From)
		}
	}
	return out
}

// tells says that the answer to a statement tells all versions that it read of a table, which
// are more where a subquery reads, too.
func (r *Reading) tells(stmt int, table string) bool {
	s := &r.u.h.Stmts[stmt]
	n := r.u.c.Steps[s.Line].Stmt
	if s.Result.Err != nil || r.vals.shown(n) != table || columnOf(s.Result.Columns, ID) < 0 || columnOf(s.Result.Columns, Version) < 0 {
		return false
	}
	return !mvcc.HasSubquery(n)
}

// end names a transaction alike in both: its session and the statement that committed it, -1
// of one that did not.
type end struct{ session, stmt int }

func (e end) String() string {
	if e.stmt < 0 {
		return fmt.Sprintf("tx%d (not committed)", e.session)
	}
	return fmt.Sprintf("tx%d (committed in statement %d)", e.session, e.stmt+1)
}

func endOf(units []mvcc.Unit, u int) end {
	if !units[u].Committed {
		return end{units[u].Session, -1}
	}
	return end{units[u].Session, units[u].End}
}

func (i item) String() string { return "row " + i.id + " of " + i.table }

// wr says that a statement read a row that a transaction had written.
type wr struct {
	from end
	stmt int
	item item
}

func (k wr) String() string {
	return fmt.Sprintf("statement %d read %s from %s", k.stmt+1, k.item, k.from)
}

// rw is a table that a statement read.
type rw struct {
	stmt  int
	table string
}

// derived is what a replay says.
type derived struct {
	wr   map[wr]bool
	next map[rw][]end
	ww   map[string]map[end][]end
	rows map[item]map[end][]end // ww by the row that the later one found
}

func dependenciesOf(d *mvcc.Dependencies) *derived {
	out := &derived{map[wr]bool{}, map[rw][]end{}, map[string]map[end][]end{}, map[item]map[end][]end{}}
	for i := range d.Edges {
		e := &d.Edges[i]
		at := item{strings.ToLower(e.Table), idIn(e.Row)}
		from, to := endOf(d.Units, e.From), endOf(d.Units, e.To)
		switch {
		case e.Kind == graph.WR && d.Units[e.To].Committed:
			out.wr[wr{from, e.ToStmt, at}] = true
		case e.Kind == graph.RW:
			k := rw{e.FromStmt, at.table}
			out.next[k] = append(out.next[k], to)
		case e.Kind == graph.WW:
			if out.ww[at.table] == nil {
				out.ww[at.table] = map[end][]end{}
			}
			out.ww[at.table][from] = append(out.ww[at.table][from], to)
			if out.rows[at] == nil {
				out.rows[at] = map[end][]end{}
			}
			out.rows[at][from] = append(out.rows[at][from], to)
		}
	}
	return out
}

// reaches says that rows of a table were written by one transaction and later by the other,
// or by others between the two.
func (d *derived) reaches(table string, from, to end) bool { return reach(d.ww[table], from, to) }

// movedTo says that the replay has the order of two writers of a row, one of which wrote what a
// statement read. It need not have the overwriting, if the former moved the row to another key
// later on: to the replay that is another row, and what was read has no next version.
func (d *derived) movedTo(at item, from, to end) bool { return reach(d.rows[at], from, to) }

func reach(ww map[end][]end, from, to end) bool {
	seen := map[end]bool{}
	var walk func(end) bool
	walk = func(e end) bool {
		if seen[e] {
			return false
		}
		seen[e] = true
		return slices.ContainsFunc(ww[e], func(o end) bool { return o == to || walk(o) })
	}
	return walk(from)
}

// idIn returns the id in a row as the replay prints it: the last but one of its columns.
func idIn(row string) string {
	parts := strings.Split(strings.TrimSuffix(row, ")"), ",")
	if len(parts) < 2 {
		return ""
	}
	return strings.TrimPrefix(parts[len(parts)-2], "(")
}

// idOf returns the id of an edge that was read off.
func idOf(e *mvcc.Dependency, r *Reading) string {
	for at, row := range r.items {
		if row.n == e.Item {
			return at.id
		}
	}
	return ""
}
