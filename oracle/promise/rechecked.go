package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// findsSame says that a statement that waited must do what it does alone on the newest rows. PostgreSQL looks at
// each row that such a statement found in the newest version once more. Here it finds the same ones again: what was
// committed meanwhile is one transaction, which changed rows of a single table of the statement in place, in none of
// the columns by which the statement finds its rows. Rows are told apart by their keys here, so that transaction may
// have given no row another key, nor made or removed one on the way.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func (j *judge) findsSame(e *event, w *world) bool {
	raw := j.inWords(e)
	since := w.ended(e.st.Submit)
	if raw == nil || !e.waited() || e.stretched() || w.newest() != since+1 || len(j.hidden.triggers) > 0 || j.hidden.keys || j.viewed(e) {
		return false
	}
	table := -1
	var columns []string
	for i, changes := range w.wrote[since] {
		if len(changes) == 0 || !slices.ContainsFunc(slices.Concat(raw.Reads, raw.Writes), j.layout[i].is) {
			continue
		}
		if table >= 0 || len(j.layout[i].key) == 0 {
			return false
		}
		table = i
		for key, now := range changes {
			was, had := w.committed[since][i][key]
			if !had || now.n != 1 || was.n != 1 {
				return false
			}
			for c, name := range j.layout[i].columns {
				if differ(was.cells[c], now.cells[c]) {
					columns = append(columns, strings.ToLower(name))
				}
			}
		}
	}
	if table < 0 || slices.ContainsFunc(w.at[since].unit.events, func(o *event) bool { return o.writes() && !j.keepsRows(o, table) }) {
		return false
	}
	if len(raw.Writes) > 1 || len(raw.Writes) == 1 && !j.layout[table].is(raw.Writes[0]) {
		return false
	}
	name := strings.ToLower(j.layout[table].name)
	finds, ok := findingWords(raw, name)
	return ok && !strings.Contains(strings.Join(finds, " "), name+" . *") &&
		!slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(finds, c) })
}

// keepsRows says that a write leaves a table alone, or is an UPDATE of it that sets no column of its primary key.
func (j *judge) keepsRows(e *event, table int) bool {
	if !e.mayName(j, table) || e.st.Result.Err != nil {
		return true
	}
	raw, ok := e.node.(*stmt.RawStmt)
	if !ok {
		return j.outsideKey(e)
	}
	words := raw.Words()
	return words[0] == "update" && !strings.Contains(raw.SQL, `"`) && !j.givesKey(words, table)
}

// inWords is a statement as PostgreSQL is sent it, with the tables that it touches; nil where that is not known.
func (j *judge) inWords(e *event) *stmt.RawStmt {
	if raw, ok := e.node.(*stmt.RawStmt); ok {
		if write := raw.Counted(); write != nil {
			return write
		}
		return raw
	}
	v := stmt.Of(e.node)
	if e.kind != stmt.Update && e.kind != stmt.Delete && !e.kind.LocksRead() || v.Table() == nil || v.Several {
		return nil
	}
	sql, err := corpus.Format(e.node, corpus.PostgreSQL)
	if err != nil {
		return nil
	}
	raw := &stmt.RawStmt{SQL: sql, Lock: v.Lock.Mode}
	for _, sh := range j.layout {
		if corpus.Names(e.node, sh.name) {
			raw.Reads = append(raw.Reads, &ast.TableName{Name: model.NewCIStr(sh.name)})
		}
	}
	if e.writes() {
		raw.Writes = []*ast.TableName{v.Table()}
	}
	return raw
}

// is says that a table has a name.
func (sh *shape) is(n *ast.TableName) bool { return strings.EqualFold(sh.name, n.Name.O) }

// unsureWords make a statement leave rows out, or tell how it finds them in other words than names of columns.
var unsureWords = []string{
	"limit", "fetch", "offset", "skip", "nowait", "natural", "group", "having", "distinct", "over", "current", "only",
}

// findingWords are the words of a MERGE, DELETE, UPDATE or locking SELECT by which it finds rows of a table that it
// names once, and outside of inner queries. ok is false for any other statement.
func findingWords(raw *stmt.RawStmt, table string) (finds []string, ok bool) {
	words := raw.Words()
	if strings.Contains(raw.SQL, `"`) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(unsureWords, w) }) {
		return nil, false
	}
	// top are the places of the words outside of parentheses.
	var top []int
	depth, named := 0, 0
	for i, w := range words {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 {
			top = append(top, i)
		}
		if w == table && !(i+1 < len(words) && words[i+1] == ".") && !(i > 0 && words[i-1] == "of") {
			named++
			if depth > 0 {
				return nil, false
			}
		}
	}
	if named != 1 {
		return nil, false
	}
	// first is where one of some words stands outside of parentheses, behind a place.
	first := func(behind int, of ...string) int {
		if i := slices.IndexFunc(top, func(at int) bool { return at >= behind && slices.Contains(of, words[at]) }); i >= 0 {
			return top[i]
		}
		return len(words)
	}
	switch words[0] {
	case "merge":
		return words[:first(0, "when")], true
	case "delete":
		return words[:first(0, "returning")], true
	case "update":
		where := first(0, "where", "returning")
		return words[where:first(where, "returning")], !slices.Contains(words, "from")
	case "select":
		if strings.Contains(strings.Join(words, " "), "for key share") {
			return nil, false // it does not wait for who changes a row in place, and returns the version from before
		}
		locks := first(0, "for")
		of := first(locks, "of")
		return words[first(0, "from"):first(0, "order", "for")], locks < len(words) && first(locks+1, "for") == len(words) &&
			(of == len(words) || slices.Contains(words[of:], table))
	}
	return nil, false
}

// keepsKeys says that a write only removes rows, or changes them in place and none of their columns in unique keys: no key
// is there twice in the middle of it.
func (j *judge) keepsKeys(before state, did write) bool {
	for i, changes := range did {
		def := j.defs[strings.ToLower(j.layout[i].name)]
		if len(changes) == 0 || def != nil && len(stmt.UniqueKeys(def)) == 0 && !j.hidden.otherKeys {
			continue
		}
		for key, now := range changes {
			was, had := before[i][key]
			switch {
			case now.n <= 0:
				continue
			case def == nil || len(j.layout[i].key) == 0 || !had || now.n != 1 || j.hidden.otherKeys:
				return false
			}
			for c, name := range j.layout[i].columns {
				inKey := slices.ContainsFunc(stmt.UniqueKeys(def), func(k []string) bool { return slices.Contains(k, strings.ToLower(name)) })
				if inKey && differ(was.cells[c], now.cells[c]) {
					return false
				}
			}
		}
	}
	return true
}

// errCardinality is of a MERGE that comes by a row twice.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const errCardinality = 21000

// meetsTwice says that a MERGE has failed since several rows match one of its table. Of an inner query, which may fail
// with the same error, it need not have taken all rows.
func meetsTwice(e *event, alone *history.Result) bool {
	raw, ok := e.node.(*stmt.RawStmt)
	return ok && alone.Err != nil && alone.Err.Code == errCardinality && raw.Words()[0] == "merge" && !slices.Contains(raw.Words(), "select")
}
