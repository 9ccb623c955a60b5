package reduce

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// smaller lists simpler constants, the simplest first. Between them and the
// constant itself they halve the distance, so that a bound such as "at least
// 17" is found in a number of attempts that grows with the logarithm.
func smaller(l corpus.Literal) []ast.ExprNode {
	var out []ast.ExprNode
	switch l.Kind {
	case corpus.KindInt:
		n, ok := parseUint(l.Text)
		if !ok || n > math.MaxInt64 {
			return []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1), corpus.NullLit()}
		}
		for _, k := range smallerInts(n) {
			out = append(out, corpus.IntLit(int64(k)))
		}
		if n > weightNull {
			out = append(out, corpus.NullLit())
		}
	case corpus.KindNull:
		out = []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1)}
	case corpus.KindString:
		out = []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1), corpus.NullLit()}
		for _, s := range smallerStrings(l.Text) {
			out = append(out, corpus.StringLit(s))
		}
	default:
		out = []ast.ExprNode{corpus.IntLit(0), corpus.IntLit(1), corpus.NullLit()}
		if whole, _, ok := strings.Cut(l.Text, "."); ok {
			if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n >= 0 {
				out = append(out, corpus.IntLit(n))
			}
		}
	}
	return out
}

func smallerInts(n uint64) []uint64 {
	out := []uint64{0, 1, 2}
	for gap := n - n/2; gap > 0; gap /= 2 {
		out = append(out, n-gap)
	}
	kept := out[:0]
	for i, k := range out {
		if k < n && !slices.Contains(out[:i], k) {
			kept = append(kept, k)
		}
	}
	return kept
}

func smallerStrings(s string) []string {
	r := []rune(s)
	if len(r) == 0 {
		return nil
	}
	return []string{"", string(r[:len(r)/2]), string(r[1:]), string(r[:len(r)-1]), strings.Repeat("a", len(r))}
}

// constants emits simpler literals, each at one place.
func (e *editor) constants() {
	for _, s := range slots(e.tree) {
		v, ok := (*s.at).(ast.ValueExpr)
		if !ok {
			continue
		}
		for _, c := range smaller(corpus.LiteralOf(v)) {
			if s.place == placeLimit && !isInteger(c) {
				continue
			}
			swap(e, armConstant, s.at, c)
		}
	}
	if n, ok := e.tree.(*ast.CreateTableStmt); ok {
		for _, c := range n.Cols {
			if c.Tp != nil && !isPlainInt(c.Tp) {
				swap(e, armType, &c.Tp, intType())
			}
		}
	}
}

func isInteger(e ast.ExprNode) bool {
	v, ok := e.(ast.ValueExpr)
	return ok && corpus.LiteralOf(v).Kind == corpus.KindInt
}

func intType() *types.FieldType {
	t := types.NewFieldType(mysql.TypeLong)
	t.SetFlen(types.UnspecifiedLength)
	return t
}

// isPlainInt reports whether a type prints as INT and nothing else.
func isPlainInt(t *types.FieldType) bool {
	return t.GetType() == mysql.TypeLong && t.GetFlen() == types.UnspecifiedLength && t.GetFlag() == 0
}

// constantCandidates lists the operations that change equal constants
// everywhere at once, which keeps rows and predicates together, and columns
// that turn to INT together with the strings in them.
func constantCandidates(d *draft) []candidate {
	var out []candidate
	for _, l := range d.literals() {
		for _, c := range smaller(l) {
			to := corpus.LiteralOf(c.(ast.ValueExpr))
			out = append(out, candidate{armConstants, fmt.Sprint(armConstants, l, to), func() *draft {
				return d.exchange(map[corpus.Literal]corpus.Literal{l: to})
			}})
		}
	}
	for _, t := range d.tables().order {
		for _, c := range t.columns {
			out = append(out, candidate{armType, fmt.Sprint(armType, t.name, c.name), func() *draft {
				return d.toInt(t.name, c.name)
			}})
		}
	}
	return out
}

// literals returns the distinct literals of a draft, heaviest first.
func (d *draft) literals() []corpus.Literal {
	found := map[corpus.Literal]bool{}
	d.statements(func(st *statement) {
		for _, l := range st.values {
			found[l] = true
		}
	})
	return slices.SortedFunc(maps.Keys(found), func(a, b corpus.Literal) int {
		switch x, y := literalWeight(a), literalWeight(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a.Text, b.Text)
	})
}

// exchange replaces literals everywhere but in LIMIT.
func (d *draft) exchange(by map[corpus.Literal]corpus.Literal) *draft {
	return d.transform(func(st *statement) (*statement, bool) {
		if !slices.ContainsFunc(st.values, func(l corpus.Literal) bool { _, ok := by[l]; return ok }) {
			return st, true
		}
		tree := corpus.CloneStmt(st.tree)
		for _, s := range slots(tree) {
			v, ok := (*s.at).(ast.ValueExpr)
			if !ok || s.place == placeLimit || s.place == placePosition {
				continue
			}
			if to, ok := by[corpus.LiteralOf(v)]; ok {
				*s.at = literalNode(to)
			}
		}
		out := d.lib.print(tree)
		return out, out != nil
	})
}

// literalNode makes a literal that a reduction may put in: NULL, a
// non-negative integer or a string.
func literalNode(l corpus.Literal) ast.ExprNode {
	switch l.Kind {
	case corpus.KindInt:
		if n, ok := parseUint(l.Text); ok && n <= math.MaxInt64 {
			return corpus.IntLit(int64(n))
		}
	case corpus.KindString:
		return corpus.StringLit(l.Text)
	}
	return corpus.NullLit()
}

// toInt makes a column INT and its strings numbers in their order.
func (d *draft) toInt(table, column string) *draft {
	texts := map[string]bool{}
	d.statements(func(st *statement) {
		if n, ok := st.tree.(*ast.InsertStmt); ok && insertTarget(n) == table {
			for _, v := range storedIn(n, d.tables().byName[table], column) {
				if l := corpus.LiteralOf(v); l.Kind == corpus.KindString {
					texts[l.Text] = true
				}
			}
		}
	})
	if len(texts) == 0 {
		return nil
	}
	by := map[corpus.Literal]corpus.Literal{}
	for i, text := range slices.Sorted(maps.Keys(texts)) {
		by[corpus.Literal{Kind: corpus.KindString, Text: text}] = corpus.Literal{Kind: corpus.KindInt, Text: strconv.Itoa(i)}
	}
	typed := d.transform(func(st *statement) (*statement, bool) {
		if st.creates == nil || st.creates.name != table {
			return st, true
		}
		tree := corpus.CloneStmt(st.tree).(*ast.CreateTableStmt)
		for _, c := range tree.Cols {
			if c.Name.Name.L == column {
				c.Tp = intType()
			}
		}
		for _, k := range tree.Constraints {
			for _, p := range k.Keys {
				if p.Column != nil && p.Column.Name.L == column {
					p.Length = types.UnspecifiedLength
				}
			}
		}
		out := d.lib.print(tree)
		return out, out != nil
	})
	if typed == nil {
		return nil
	}
	return typed.exchange(by)
}

// storedIn returns the literals that an INSERT puts into a column.
func storedIn(n *ast.InsertStmt, t *table, name string) []ast.ValueExpr {
	at := -1
	for i, c := range n.Columns {
		if c.Name.L == name {
			at = i
		}
	}
	if len(n.Columns) == 0 && t != nil {
		at = slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	}
	var out []ast.ValueExpr
	for _, row := range n.Lists {
		if at >= 0 && at < len(row) {
			if v, ok := row[at].(ast.ValueExpr); ok {
				out = append(out, v)
			}
		}
	}
	return out
}
