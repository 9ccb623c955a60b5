package plainsql

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func (x *running) update(s *ast.UpdateStmt, v *stmt.View) (history.Result, error) {
	if x.t.fixed || v.Order != nil {
		return history.Result{}, errBeyond
	}
	rows, hits, err := x.found()
	if err != nil {
		return history.Result{}, err
	}
	set, err := x.assigned(s.List)
	if err != nil {
		return history.Result{}, err
	}
	after := slices.Clone(x.on.Rows)
	moved := 0 // rows whose keys change
	for _, i := range hits {
		own := slices.Clone(after[i])
		for k, a := range s.List {
			v, err := rows[i].value(a.Expr)
			if err != nil {
				return history.Result{}, err
			}
			if own[set[k]], err = x.t.columns[set[k]].write(v); err != nil {
				return history.Result{}, err
			}
		}
		if x.keys(own, after[i]) {
			moved++
		}
		after[i] = own
	}
	switch {
	case moved > 1: // in which order rows are met decides
		return history.Result{}, errBeyond
	case moved == 0:
		x.on.Rows = after
		return told(len(hits)), nil
	}
	return x.holding(after, len(hits))
}

// assigned returns the indexes of the columns that are given values, of their own kinds.
func (x *running) assigned(list []*ast.Assignment) ([]int, error) {
	blank := x.blank()
	set := make([]int, len(list))
	for i, a := range list {
		set[i] = x.named(a.Column)
		if set[i] < 0 || slices.Contains(set[:i], set[i]) {
			return nil, errBeyond
		}
		if _, err := blank.value(a.Expr); err != nil {
			return nil, err
		}
		if is, err := blank.kindOf(a.Expr); err != nil || is != opaque && is != x.t.columns[set[i]].kind {
			return nil, errBeyond
		}
		if v, written := literal(a.Expr); written { // one that does not fit is an error with no row, too
			if _, err := x.t.columns[set[i]].write(v); err != nil {
				return nil, err
			}
		}
	}
	return set, nil
}

func (x *running) delete(v *stmt.View) (history.Result, error) {
	if x.t.fixed || v.Order != nil {
		return history.Result{}, errBeyond
	}
	_, hits, err := x.found()
	if err != nil {
		return history.Result{}, err
	}
	var left [][]history.Cell
	for i, r := range x.on.Rows {
		if !slices.Contains(hits, i) {
			left = append(left, r)
		}
	}
	x.on.Rows = left
	return told(len(hits)), nil
}

func (x *running) insert(s *ast.InsertStmt) (history.Result, error) {
	if x.t.fixed || s.IsReplace || s.Select != nil || s.Setlist || len(s.OnDuplicate)+len(s.PartitionNames) > 0 {
		return history.Result{}, errBeyond
	}
	into := make([]int, 0, len(x.t.columns))
	for _, n := range s.Columns {
		k := x.named(n)
		if k < 0 || slices.Contains(into, k) {
			return history.Result{}, errBeyond
		}
		into = append(into, k)
	}
	if len(s.Columns) == 0 {
		for k := range x.t.columns {
			into = append(into, k)
		}
	}
	after := slices.Clip(x.on.Rows)
	for _, list := range s.Lists {
		if len(list) != len(into) || len(list) == 0 {
			return history.Result{}, errBeyond
		}
		own := make([]history.Cell, len(x.t.columns))
		for k := range x.t.columns {
			c := &x.t.columns[k]
			var v value
			if i := slices.Index(into, k); i >= 0 {
				written, ok := literal(list[i])
				if !ok {
					return history.Result{}, errBeyond
				}
				v = written
			} else if c.fallback != nil {
				v = *c.fallback
			} else {
				return history.Result{}, errBeyond
			}
			var err error
			if own[k], err = c.write(v); err != nil {
				return history.Result{}, err
			}
		}
		after = append(after, own)
	}
	return x.holding(after, len(s.Lists))
}

// keys says that two rows differ in a column of a unique key.
func (x *running) keys(a, b []history.Cell) bool {
	return slices.ContainsFunc(x.t.unique, func(key []int) bool {
		return slices.ContainsFunc(key, func(k int) bool { return a[k] != b[k] })
	})
}

// holding makes rows those of the table, unless two have the same unique key, in which nothing is NULL. What texts are
// the same for a key is the collation's affair if they differ in case only.
func (x *running) holding(rows [][]history.Cell, affected int) (history.Result, error) {
	for _, key := range x.t.unique {
		met := map[string]string{}
		for _, r := range rows {
			var b strings.Builder
			null := false
			for _, k := range key {
				null = null || r[k].Null
				b.WriteString(r[k].Text + "\x00")
			}
			if null {
				continue
			}
			own, folded := b.String(), strings.ToLower(b.String())
			switch before, ok := met[folded]; {
			case !ok:
				met[folded] = own
			case before != own:
				return history.Result{}, errBeyond
			default:
				return history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{
					Code: history.NumberOf(uniqueViolation), State: uniqueViolation, Message: "duplicate key value",
				}}, nil
			}
		}
	}
	x.on.Rows = rows
	return told(affected), nil
}

// uniqueViolation is the SQLSTATE of a row whose key another one has.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const uniqueViolation = "23505"
