package rowlocks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// locked is what a statement has surely locked: rows of a table by their primary keys, in a mode or a stronger one.
type locked struct {
	table string
	keys  []string
	mode  versions.Mode
	// reads says that it is a SELECT.
	reads bool
	// skips says that it leaves out what it cannot lock.
	skips bool
}

// lockedBy returns what a statement that succeeded has locked, as far as its answer tells: a SELECT, or a write with
// RETURNING, of one table that returns the columns of its primary key as they are; an UPDATE or a DELETE that names a
// row by its primary key, and found it.
func (s *setUp) lockedBy(n ast.StmtNode, r *history.Result) locked {
	if r.Err != nil {
		return locked{}
	}
	switch n := n.(type) {
	case *ast.SelectStmt:
		return s.bySelect(n, r)
	case *ast.UpdateStmt, *ast.DeleteStmt:
		return s.byKey(n, r)
	case *stmt.RawStmt:
		return s.byRaw(n, r)
	}
	return locked{}
}

// bySelect is lockedBy of a SELECT. All rows that it returns are locked, behind LIMIT and SKIP LOCKED, too.
func (s *setUp) bySelect(n *ast.SelectStmt, r *history.Result) locked {
	v := stmt.Of(n)
	name := v.Table()
	if name == nil || v.With != nil || v.Lock.Mode == stmt.None || corpus.QueriesWithin(n) {
		return locked{}
	}
	for _, f := range n.Fields.Fields {
		if _, column := f.Expr.(*ast.ColumnNameExpr); f.WildCard == nil && (!column || f.AsName.L != "") {
			return locked{}
		}
	}
	mode := versions.Exclusive
	if v.Lock.Mode == stmt.Share {
		mode = versions.Share
	}
	return locked{
		table: name.Name.L, keys: s.returned(name.Name.L, r), mode: mode, reads: true, skips: v.Lock.Wait == stmt.Skips,
	}
}

// between stands between the columns of a key. No text of PostgreSQL holds it.
const between = "\x00"

// returned are the keys of the rows of an answer whose columns are columns of a table; nil if they do not hold the key.
func (s *setUp) returned(name string, r *history.Result) (keys []string) {
	t := s.tables[name]
	if t == nil || t.primary == nil {
		return nil
	}
	var at []int
	for _, column := range t.primary {
		i := slices.IndexFunc(r.Columns, func(c string) bool { return strings.EqualFold(c, column) })
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	for _, row := range r.Rows {
		var key []string
		for _, i := range at {
			key = append(key, row[i].Text)
		}
		keys = append(keys, strings.Join(key, between))
	}
	return keys
}

// byKey is lockedBy of an UPDATE or a DELETE.
func (s *setUp) byKey(n ast.StmtNode, r *history.Result) locked {
	v := stmt.Of(n)
	name := v.Table()
	if name == nil || v.With != nil || v.Several || v.Limit != nil || r.Affected != 1 || corpus.QueriesWithin(n) {
		return locked{}
	}
	t := s.tables[name.Name.L]
	is, ok := v.Where.(*ast.BinaryOperationExpr)
	if t == nil || !t.number || !ok || is.Op != opcode.EQ {
		return locked{}
	}
	column, ok := is.L.(*ast.ColumnNameExpr)
	value, constant := is.R.(ast.ValueExpr)
	if !ok || !constant || column.Name.Name.L != t.primary[0] {
		return locked{}
	}
	number, ok := value.GetValue().(int64)
	if !ok {
		return locked{}
	}
	mode := versions.NoKeyExclusive
	if v.Kind == stmt.Delete {
		mode = versions.Exclusive
	}
	return locked{table: name.Name.L, keys: []string{strconv.FormatInt(number, 10)}, mode: mode}
}

// byRaw is lockedBy of a raw statement. It knows
//
//	SELECT columns FROM t [WHERE …] FOR … [NOWAIT | SKIP LOCKED]
//	UPDATE t SET … [WHERE …] RETURNING columns
//	DELETE FROM t [WHERE …] RETURNING columns
func (s *setUp) byRaw(n *stmt.RawStmt, r *history.Result) (l locked) {
	words := n.Words()
	if slices.ContainsFunc(words[1:], func(w string) bool { return others[w] }) {
		return l
	}
	switch words[0] {
	case "select":
		from, clause := slices.Index(words, "from"), slices.Index(words, "for")
		if from < 0 || clause < from+2 || !s.columns(words[1:from], words[from+1]) ||
			clause > from+2 && words[from+2] != "where" {
			return l
		}
		mode, behind := rawMode(words[clause+1:])
		switch strings.Join(behind, " ") {
		case "", "nowait":
		case "skip locked":
			l.skips = true
		default:
			return l
		}
		l.table, l.mode, l.reads = words[from+1], mode, true
	case "update":
		set, returning := slices.Index(words, "set"), slices.Index(words, "returning")
		if set != 2 || returning < 0 || slices.Contains(words, "from") || !s.columns(words[returning+1:], words[1]) ||
			stmt.Assigns(words[set:returning], s.tables[words[1]].primary) {
			return l
		}
		l.table, l.mode = words[1], versions.NoKeyExclusive
	case "delete":
		returning := slices.Index(words, "returning")
		if returning < 3 || words[1] != "from" || !s.columns(words[returning+1:], words[2]) ||
			returning > 3 && words[3] != "where" {
			return l
		}
		l.table, l.mode = words[2], versions.Exclusive
	default:
		return l
	}
	l.keys = s.returned(l.table, r)
	return l
}

// others are words of raw statements that are more than the forms of byRaw.
var others = map[string]bool{
	"select": true, "with": true, "join": true, "using": true, "union": true, "intersect": true, "except": true,
	"only": true, "current": true, "limit": true, "offset": true, "fetch": true, "order": true, "extract": true,
	"substring": true, "as": true, "old": true, "new": true,
}

// plainName holds what names without quotes are made of.
const plainName = "abcdefghijklmnopqrstuvwxyz0123456789_"

// columns says that words are * or a list of names, to which no other name is given, and that there is such a table.
func (s *setUp) columns(words []string, table string) bool {
	if s.tables[table] == nil {
		return false
	}
	if slices.Equal(words, []string{"*"}) {
		return true
	}
	for i, w := range words {
		if comma := w == ","; comma != (i%2 == 1) || !comma && strings.Trim(w, plainName) != "" {
			return false
		}
	}
	return len(words)%2 == 1
}
