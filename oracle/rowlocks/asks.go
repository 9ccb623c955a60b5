package rowlocks

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// asks holds the strongest mode in which a statement can ask for a row, by the name of its table in small letters. A
// table of which it asks for no row has none.
type asks map[string]versions.Mode

// anyTable stands for all tables.
const anyTable = ""

func (a asks) add(name string, mode versions.Mode) {
	if had, ok := a[name]; !ok || had < mode {
		a[name] = mode
	}
}

// conflicts reports whether two statements can ask for a row in modes that conflict.
func (a asks) conflicts(b asks) bool {
	for x, mode := range a {
		for y, other := range b {
			if (x == y || x == anyTable || y == anyTable) && mode.Conflicts(other) {
				return true
			}
		}
	}
	return false
}

// asksOf returns what a statement can ask for; ok is false if it may lock something else than rows, or ends or begins
// something that is not known here.
func (s *setUp) asksOf(n ast.StmtNode) (a asks, ok bool) {
	a = asks{}
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		if mode, locks := clauses(n); locks {
			s.addAll(a, named(n), mode)
		}
	case *ast.UpdateStmt:
		mode := versions.Exclusive
		if s.leavesKeys(n) {
			mode = versions.NoKeyExclusive
		}
		s.write(a, named(n), mode)
	case *ast.DeleteStmt, *ast.InsertStmt:
		s.write(a, named(n), versions.Exclusive)
	case *stmt.RawStmt:
		return a, s.raw(a, n)
	default:
		return a, asksForNothing(n)
	}
	return a, true
}

// asksForNothing says that a statement begins, ends or divides a transaction, or is about something beside the rows.
func asksForNothing(n ast.StmtNode) bool {
	switch kind := stmt.KindOf(n); kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.RollbackTo, stmt.BeginSnapshot, stmt.Savepoint, stmt.ReleaseSavepoint, stmt.SetLevel, stmt.SetModes:
		return true
	default:
		return kind.OfPrepared() || kind.BesideRows()
	}
}

// write adds what a write asks for: the check of a foreign key locks rows of other tables, and a cascade writes them.
func (s *setUp) write(a asks, tables []string, mode versions.Mode) {
	if s.refers {
		tables, mode = []string{anyTable}, versions.Exclusive
	}
	s.addAll(a, tables, mode)
}

func (s *setUp) addAll(a asks, tables []string, mode versions.Mode) {
	for _, t := range tables {
		a.add(t, mode)
	}
}

// named returns the tables that a statement names.
func named(n ast.Node) (names []string) {
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		if t, ok := n.(*ast.TableName); ok {
			names = append(names, t.Name.L)
		}
		return false, false
	})
	return names
}

// clauses returns the strongest mode of the locking clauses of a query and of all within it.
func clauses(n ast.Node) (mode versions.Mode, locks bool) {
	corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		q, ok := n.(*ast.SelectStmt)
		if !ok {
			return false, false
		}
		switch stmt.LockOf(q).Mode {
		case stmt.Share:
			mode, locks = max(mode, versions.Share), true
		case stmt.Exclusive:
			mode, locks = versions.Exclusive, true
		}
		return false, false
	})
	return mode, locks
}

// leavesKeys says that an UPDATE of one table changes no column of a unique key: an UPDATE that does takes the mode of
// FOR UPDATE, any other that of FOR NO KEY UPDATE.
func (s *setUp) leavesKeys(n *ast.UpdateStmt) bool {
	name := stmt.SoleTable(n.TableRefs)
	if name == nil || n.With != nil || n.IgnoreErr {
		return false
	}
	t := s.tables[name.Name.L]
	_, locks := clauses(n)
	return t != nil && t.plain && !locks && !slices.ContainsFunc(n.List, func(a *ast.Assignment) bool {
		return slices.Contains(t.unique, a.Column.Name.L)
	})
}

// raw adds what a raw statement asks for.
func (s *setUp) raw(a asks, n *stmt.RawStmt) (ok bool) {
	words := n.Words()
	if !begins[words[0]] || slices.Contains(words, ";") || slices.Contains(words, "explain") {
		return false
	}
	var tables []string
	for _, t := range slices.Concat(n.Reads, n.Writes) {
		tables = append(tables, t.Name.L)
	}
	for _, w := range words {
		if s.tables[w] != nil {
			tables = append(tables, w)
		}
	}
	for i, w := range words {
		called := i+1 < len(words) && words[i+1] == "(" && strings.Trim(w, "=<>+-*/%(,|&!") != ""
		if called && !calls[w] && !slices.Contains(tables, w) {
			return false
		}
	}
	mode, locks := rawClauses(words)
	switch {
	case !reads(n):
		s.write(a, tables, versions.Exclusive)
	case locks:
		s.addAll(a, tables, mode)
	}
	return true
}

// reads says that a raw statement is a query, with a locking clause or without.
func reads(n *stmt.RawStmt) bool { return len(n.Writes) == 0 && n.Words()[0] == "select" }

// begins holds the first words of raw statements that lock rows and nothing else.
var begins = map[string]bool{
	"select": true, "insert": true, "update": true, "delete": true, "merge": true, "with": true,
}

// calls may stand before a parenthesis: what they do depends on values alone. A function may run any SQL.
var calls = map[string]bool{
	"abs": true, "all": true, "and": true, "any": true, "as": true, "avg": true, "between": true, "by": true,
	"case": true, "ceil": true, "coalesce": true, "conflict": true, "count": true, "distinct": true, "else": true,
	"exists": true, "extract": true, "floor": true, "from": true, "greatest": true, "having": true, "in": true,
	"insert": true, "is": true, "least": true, "length": true, "like": true, "lower": true, "max": true, "min": true,
	"mod": true, "not": true, "nullif": true, "on": true, "or": true, "power": true, "returning": true, "row": true,
	"select": true, "set": true, "sign": true, "some": true, "substr": true, "sum": true, "then": true, "union": true,
	"upper": true, "using": true, "values": true, "when": true, "where": true,
}

// rawClauses is clauses of the words of a statement. What it does not know counts as FOR UPDATE.
func rawClauses(words []string) (mode versions.Mode, locks bool) {
	for i, w := range words {
		if w == "for" {
			m, _ := rawMode(words[i+1:])
			mode, locks = max(mode, m), true
		}
	}
	return mode, locks
}

// rawMode is the mode that the words behind FOR name, and the words behind these.
func rawMode(words []string) (versions.Mode, []string) {
	for _, m := range []struct {
		clause []string
		mode   versions.Mode
	}{
		{[]string{"no", "key", "update"}, versions.NoKeyExclusive},
		{[]string{"key", "share"}, versions.KeyShare},
		{[]string{"share"}, versions.Share},
		{[]string{"update"}, versions.Exclusive},
	} {
		if n := len(m.clause); len(words) >= n && slices.Equal(words[:n], m.clause) {
			return m.mode, words[n:]
		}
	}
	return versions.Exclusive, nil
}
