package workload

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	adya "github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// nameByGraph names the anomaly of a run by the shortest cycle of dependencies between
// its calls. Which versions were read and written the oracle's replay tells, if it
// predicts every answer of the run; false: it does not, or a statement reads more than
// one table. length is how many calls the cycle goes through.
func nameByGraph(o *Outcome) (name string, length int, ok bool) {
	d, err := dependenciesOf(o)
	if err != nil || len(d.edges) == 0 {
		return "", 0, false
	}
	g := graph.Build(len(o.Calls), func(edge func(int32, int32, graph.Kinds)) {
		for _, e := range d.edges {
			edge(e.From, e.To, e.Kind)
		}
	})
	// A cycle with fewer anti-dependencies is worse, so those without are looked for
	// first: first without any, then with those on rows, then with all.
	for _, kinds := range []graph.Kinds{graph.WW, graph.WW | graph.AnyWR, graph.Item | graph.PredicateWR, graph.Data} {
		f := graph.NewFinder(g)
		var best []graph.Edge
		for _, e := range d.edges {
			if e.Kind&kinds == 0 {
				continue
			}
			if back := f.Path(e.To, e.From, kinds); back != nil && (best == nil || len(back)+1 < len(best)) {
				best = append([]graph.Edge{e.Edge}, back...)
			}
		}
		if best != nil {
			return d.nameOf(best), len(best), true
		}
	}
	return "", 0, false
}

// names are what people call the kinds of cycles.
var names = map[adya.Kind]string{
	adya.G0: "dirty write", adya.G1c: "dirty read", adya.GSingleItem: "read skew", adya.GSingle: "phantom read skew",
	adya.G2Item: "write skew", adya.G2: "write skew with a phantom",
}

func (d *dependencies) nameOf(cycle []graph.Edge) string {
	if len(cycle) == 2 && d.lostUpdate(cycle) {
		return "lost update (P4)"
	}
	kind := adya.Classify(cycle)
	if n := names[kind]; n != "" {
		return n + " (" + string(kind) + ")"
	}
	return string(kind)
}

// lostUpdate says that one of two calls read a version of a row which the other
// replaced, and then wrote that row itself.
func (d *dependencies) lostUpdate(cycle []graph.Edge) bool {
	return slices.ContainsFunc(d.edges, func(e dependency) bool {
		return e.Kind == graph.RW && (e.From == cycle[0].From || e.From == cycle[1].From) &&
			slices.Contains(d.wrote[e.row], e.From) && slices.Contains(d.wrote[e.row], e.To)
	})
}

// rowID is a row of a table.
type rowID struct {
	table string
	row   int
}

type dependency struct {
	graph.Edge
	row rowID
}

// dependencies are those between the calls of a run, by their numbers from 0.
type dependencies struct {
	edges []dependency
	// wrote holds who updated or deleted a row, or set it to what it was.
	wrote map[rowID][]int32
}

var errNotDerived = errors.New("the versions of the run are not known")

// dependenciesOf derives the dependencies of a run by Adya's definitions (Weak
// Consistency, 1999, section 4.4).
func dependenciesOf(o *Outcome) (*dependencies, error) {
	h := o.History
	if len(h.Views) > 0 {
		return nil, errNotDerived
	}
	c := o.judged()
	r := mvcc.New(c, h, rules.For(h.Server), true)
	if diff, err := r.Run(); err != nil {
		return nil, err
	} else if diff != nil {
		return nil, errNotDerived
	}
	rd := &rowReader{solver: solve.New(solve.DialectOf(h.Server)), tables: map[string]*solve.Table{}}
	for _, l := range c.Init {
		if create, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			t, err := solve.NewTable(create, solve.DialectOf(h.Server))
			if err != nil {
				return nil, err
			}
			rd.tables[create.Table.Name.L] = t
		}
	}
	d := &dependencies{wrote: map[rowID][]int32{}}
	committed, begun := map[int]history.Tick{}, map[int]bool{}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		switch c.Steps[st.Line].Stmt.(type) {
		case *ast.CommitStmt:
			committed[st.Session] = st.Return
		case *ast.BeginStmt:
			if begun[st.Session] {
				return nil, errNotDerived // it was tried again, with another view
			}
			begun[st.Session] = true
		}
	}
	last, _ := r.Account(-1)
	for _, row := range last {
		if slices.ContainsFunc(row.Versions, func(v mvcc.RowVersion) bool { return v.Undone }) {
			return nil, errNotDerived // who read them is not known
		}
	}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		if !slices.Contains(o.decided(), st.Session-1) || st.Result.Err != nil {
			continue
		}
		table, where, writes, err := readOf(c.Steps[st.Line].Stmt)
		if err != nil {
			return nil, err
		} else if table == "" {
			continue
		}
		newest := writes || r.Steps[i].View == (mvcc.View{}) || r.Steps[i].View.Uncommitted
		point := viewPoint(c, h, i)
		visible := func(v *mvcc.RowVersion) bool {
			at, done := committed[v.Session]
			switch {
			case v.Stmt < 0:
				return true
			case v.Stmt >= i || h.Stmts[v.Stmt].Return > st.Return:
				return false
			}
			return newest || v.Session == st.Session || done && at <= point
		}
		for k := range last {
			if strings.EqualFold(last[k].Table, table) {
				if err := d.read(rd, st.Session, where, &last[k], visible, writes); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, row := range last {
		for i := 1; i < len(row.Versions); i++ {
			d.edge(row.Versions[i-1].Session, row.Versions[i].Session, graph.WW, rowID{row.Table, row.Row})
		}
	}
	return d, nil
}

// viewPoint returns when the view of a plain SELECT was taken, as the rules for the
// server place it: at the statement itself below REPEATABLE READ.
func viewPoint(c *corpus.Case, h *history.History, i int) history.Tick {
	st := &h.Stmts[i]
	set := rules.For(h.Server).At(h.Levels[st.Session])
	if set[rules.ConsistentRead] != rules.Snapshot {
		return st.Submit
	}
	for j := range h.Stmts[:i] {
		if h.Stmts[j].Session != st.Session {
			continue
		}
		switch kind := mvcc.KindOf(c.Steps[h.Stmts[j].Line].Stmt); {
		case set[rules.SnapshotPoint] == rules.AtBegin, kind == mvcc.BeginSnapshot, kind == mvcc.Select,
			set[rules.SnapshotPoint] == rules.AtFirstStatement && kind.Judgeable():
			return h.Stmts[j].Submit
		}
	}
	return st.Submit
}

func (d *dependencies) edge(from, to int, k graph.Kinds, row rowID) {
	if from > 0 && to > 0 && from != to {
		d.edges = append(d.edges, dependency{graph.Edge{From: int32(from - 1), To: int32(to - 1), Kind: k}, row})
	}
}

// read adds what follows from how a statement met a row.
func (d *dependencies) read(rd *rowReader, session int, where ast.ExprNode, row *mvcc.RowHistory, visible func(*mvcc.RowVersion) bool, writes bool) error {
	id := rowID{row.Table, row.Row}
	seen := -1
	fits := make([]bool, len(row.Versions))
	for i := range row.Versions {
		v := &row.Versions[i]
		var err error
		if fits[i], err = rd.matches(where, row.Table, v); err != nil {
			return err
		}
		if visible(v) {
			seen = i
		}
	}
	matched := seen >= 0 && fits[seen]
	if seen >= 0 {
		switch by := row.Versions[seen].Session; {
		case matched:
			d.edge(by, session, graph.WR, id)
		case seen > 0 && fits[seen-1]: // it would have read the row, had it not been changed
			d.edge(by, session, graph.PredicateWR, id)
		}
		if writes && matched {
			d.wrote[id] = append(d.wrote[id], int32(session-1))
		}
		if row.Versions[seen].Session == session {
			return nil // its own, which others cannot replace before it ends
		}
	}
	for i := seen + 1; i < len(fits) && !writes; i++ { // what comes after a write waits for its lock
		if by := row.Versions[i].Session; matched {
			d.edge(session, by, graph.RW, id)
			return nil
		} else if fits[i] {
			d.edge(session, by, graph.PredicateRW, id)
			return nil
		}
	}
	return nil
}

// readOf tells which rows a statement reads: those of a table that fulfil a condition;
// none if table is empty.
func readOf(stmt ast.StmtNode) (table string, where ast.ExprNode, writes bool, err error) {
	names := namesOfTables(stmt)
	switch x := stmt.(type) {
	case *ast.SelectStmt:
		if len(names) == 0 {
			return "", nil, false, nil
		}
		if where = x.Where; x.Limit != nil {
			return "", nil, false, errNotDerived
		}
	case *ast.UpdateStmt:
		where, writes = x.Where, true
	case *ast.DeleteStmt:
		where, writes = x.Where, true
	case *ast.InsertStmt:
		if len(names) == 1 && !x.IsReplace && len(x.OnDuplicate) == 0 {
			return "", nil, false, nil
		}
		return "", nil, false, errNotDerived
	case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt:
		return "", nil, false, nil
	}
	if len(names) != 1 {
		return "", nil, false, errNotDerived
	}
	return names[0], where, writes, nil
}

// rowReader evaluates conditions on versions of rows.
type rowReader struct {
	solver *solve.Solver
	tables map[string]*solve.Table
}

// matches says that a version is a row that fulfils a condition.
func (rd *rowReader) matches(where ast.ExprNode, table string, v *mvcc.RowVersion) (bool, error) {
	if v.Deleted {
		return false, nil
	}
	t := rd.tables[strings.ToLower(table)]
	if t == nil {
		return false, errNotDerived
	}
	// A version is known as text, whose fields commas divide.
	fields := strings.Split(strings.TrimSuffix(strings.TrimPrefix(v.Row, "("), ")"), ",")
	if len(fields) != len(t.Columns) {
		return false, errNotDerived
	}
	ins := &ast.InsertStmt{Table: &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: &ast.TableName{Name: model.NewCIStr(table)}}}}, Lists: [][]ast.ExprNode{nil}}
	for _, f := range fields {
		var e ast.ExprNode = corpus.StringLit(f)
		if f == "NULL" {
			e = corpus.NullLit()
		}
		ins.Lists[0] = append(ins.Lists[0], e)
	}
	rows, err := rd.solver.Insert(ins, t, noTables{})
	if err != nil || len(rows) != 1 {
		return false, errors.Join(errNotDerived, err)
	}
	truth, _, err := rd.solver.Where(where, t, rows[0], noTables{})
	if err != nil {
		return false, err
	}
	return truth == sqlvalue.True, nil
}
