package reduce

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// names maps what a draft calls things to what they should be called: tables
// t, t2, t3 in the order they are made, columns a, b, c in each table, sessions
// 1, 2, 3 as they appear.
type names struct {
	tables   map[string]string
	columns  map[origin]string
	sessions map[int]int
	// wrong counts entries that change something.
	wrong int
}

func canonicalNames(d *draft) names {
	out := names{map[string]string{}, map[origin]string{}, map[int]int{}, 0}
	for i, t := range d.tables().order {
		out.tables[t.name] = numbered("t", i)
		if out.tables[t.name] != t.name {
			out.wrong++
		}
		for k, c := range t.columns {
			name := numbered(string(rune('a'+k%26)), k/26)
			out.columns[origin{t.name, c.name}] = name
			if name != c.name {
				out.wrong++
			}
		}
	}
	for i, s := range d.sessions() {
		out.sessions[s] = i + 1
		if s != i+1 {
			out.wrong++
		}
	}
	return out
}

// numbered returns t, t2, t3 and so on.
func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + strconv.Itoa(i+1)
}

// nameCandidates lists the whole canonical renaming, then each name on its own.
func nameCandidates(d *draft) []candidate {
	want := canonicalNames(d)
	if want.wrong == 0 {
		return nil
	}
	var out []candidate
	add := func(id string, n names) {
		out = append(out, candidate{armRename, armRename.String() + " " + id, func() *draft { return d.rename(n) }})
	}
	add("all", want)
	add("tables", names{tables: want.tables})
	add("columns", names{columns: want.columns})
	add("sessions", names{sessions: want.sessions})
	for _, t := range d.tables().order {
		if to := want.tables[t.name]; to != t.name {
			add(t.name, names{tables: exchanged(t.name, to)})
		}
		all := map[origin]string{}
		for _, c := range t.columns {
			o := origin{t.name, c.name}
			to := want.columns[o]
			all[o] = to
			if to != c.name {
				add(t.name+"."+c.name, names{columns: map[origin]string{o: to, {t.name, to}: c.name}})
			}
		}
		add(t.name+".*", names{columns: all})
	}
	for _, s := range d.sessions() {
		if to := want.sessions[s]; to != s {
			add(fmt.Sprint(s), names{sessions: exchanged(s, to)})
		}
	}
	return out
}

// exchanged maps two names to each other, so that no two things get one name.
func exchanged[T comparable](a, b T) map[T]T { return map[T]T{a: b, b: a} }

// rename applies what is in n; things that it does not hold keep their names.
func (d *draft) rename(n names) *draft {
	out := d
	if len(n.tables)+len(n.columns) > 0 {
		sc := d.tables()
		out = d.transform(func(st *statement) (*statement, bool) {
			if len(st.tables) == 0 {
				return st, true
			}
			if stmt.KindOf(st.tree) == stmt.Raw {
				return nil, false // its text keeps the names
			}
			tree := corpus.CloneStmt(st.tree)
			n.applyTo(tree, sc)
			renamed := d.lib.print(tree)
			return renamed, renamed != nil
		})
	}
	if out == nil || len(n.sessions) == 0 {
		return out
	}
	steps := make([]entry, len(out.steps))
	for i, e := range out.steps {
		var ok bool
		if steps[i], ok = d.renumbered(e, n.sessions); !ok {
			return nil
		}
	}
	next := &draft{lib: d.lib, init: out.init, steps: steps}
	if out.levels != nil {
		next.levels = map[int]corpus.Level{}
		for s, l := range out.levels {
			if to, ok := n.sessions[s]; ok {
				s = to
			}
			next.levels[s] = l
		}
	}
	return next.finish()
}

// applyTo renames in a tree of its own. All names are looked up before one is
// changed, since the lookup goes by name.
func (n names) applyTo(tree ast.StmtNode, sc *schema) {
	var changes []func()
	set := func(at *model.CIStr, to string) { changes = append(changes, func() { *at = model.NewCIStr(to) }) }
	b := &binder{schema: sc}
	b.table = func(t *ast.TableName) {
		if to, ok := n.tables[t.Name.L]; ok {
			set(&t.Name, to)
		}
	}
	qualifier := func(at *model.CIStr) {
		if at.L == "" {
			return
		}
		if to, ok := n.tables[b.sourceTable(at.L)]; ok {
			set(at, to)
		}
	}
	b.column = func(c *ast.ColumnName, o origin, _ string) {
		if to, ok := n.columns[o]; ok {
			set(&c.Name, to)
		}
		qualifier(&c.Table)
	}
	b.wildcard = func(w *ast.WildCardField, _ string) { qualifier(&w.Table) }
	bind(tree, b)
	for _, f := range changes {
		f()
	}
}

// renumberCandidates lists the replacement of all integers by small ones that
// keep their order, counted from 0 and from 1.
func renumberCandidates(d *draft) []candidate {
	var ints []uint64
	for _, l := range d.literals() {
		if n, ok := parseUint(l.Text); ok && l.Kind == corpus.KindInt {
			ints = append(ints, n)
		}
	}
	slices.Sort(ints)
	ints = slices.Compact(ints)
	var out []candidate
	for first := range uint64(2) {
		by := map[corpus.Literal]corpus.Literal{}
		for i, n := range ints {
			to := first + uint64(i)
			if to != n {
				by[intLiteral(n)] = intLiteral(to)
			}
		}
		if len(by) == 0 {
			continue
		}
		var id strings.Builder
		for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b corpus.Literal) int { return strings.Compare(a.Text, b.Text) }) {
			fmt.Fprintf(&id, " %s>%s", k.Text, by[k].Text)
		}
		out = append(out, candidate{armRenumber, armRenumber.String() + id.String(), func() *draft { return d.exchange(by) }})
	}
	return out
}

func intLiteral(n uint64) corpus.Literal {
	return corpus.Literal{Kind: corpus.KindInt, Text: strconv.FormatUint(n, 10)}
}

// aliases emits the statement without the qualifiers of columns, and tables
// under their own name instead of an alias.
func (e *editor) aliases() {
	f := &qualified{}
	e.tree.Accept(f)
	old := make([]model.CIStr, len(f.names))
	for i, n := range f.names {
		old[i] = *n
		*n = model.CIStr{}
	}
	e.emit(armAlias)
	for i, n := range f.names {
		*n = old[i]
	}
	for _, t := range f.sources {
		name := t.Source.(*ast.TableName).Name
		alias := t.AsName
		t.AsName = model.CIStr{}
		for i, n := range f.names {
			if old[i].L == alias.L {
				*n = name
			}
		}
		e.emit(armAlias)
		t.AsName = alias
		for i, n := range f.names {
			*n = old[i]
		}
	}
}

// qualified collects the qualifiers of columns and the tables with an alias.
type qualified struct {
	names   []*model.CIStr
	sources []*ast.TableSource
}

func (q *qualified) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.ColumnName:
		if n.Table.L != "" {
			q.names = append(q.names, &n.Table)
		}
	case *ast.WildCardField:
		if n.Table.L != "" {
			q.names = append(q.names, &n.Table)
		}
	case *ast.TableSource:
		if _, ok := n.Source.(*ast.TableName); ok && n.AsName.L != "" {
			q.sources = append(q.sources, n)
		}
	}
	return n, false
}

func (q *qualified) Leave(n ast.Node) (ast.Node, bool) { return n, true }
