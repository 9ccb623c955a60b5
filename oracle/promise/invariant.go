package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// sets says that a case sets a variable.
func (j *judge) sets(name string) bool {
	return slices.ContainsFunc(slices.Concat(j.c.Init, j.c.Steps), func(l corpus.Line) bool {
		s, ok := l.Stmt.(*ast.SetStmt)
		return ok && slices.ContainsFunc(s.Variables, func(v *ast.VariableAssignment) bool {
			return strings.EqualFold(v.Name, name)
		})
	})
}

// keysToHold returns the foreign keys that have to hold: none in a case that switches the checks off.
func (j *judge) keysToHold() []foreignKey {
	if j.sets("foreign_key_checks") {
		return nil
	}
	return foreignKeys(j.layout, j.defs)
}

// holds says that tables agree with their indexes, unique keys and checks, whatever the statements answered; else
// the ruling says what does not. It costs a question for each table with rows that no statement has left alone.
func (j *judge) holds(final state) (bool, error) {
	broken := func(kind, expected, actual, reason string) (bool, error) {
		j.ruling.Broken, j.ruling.Kind, j.ruling.Stmt, j.ruling.Promise = true, kind, -1, Promise{}
		j.ruling.Expected, j.ruling.Actual, j.ruling.Reason = expected, actual, reason
		return false, nil
	}
	if why := j.h.Disagreement; why != "" {
		return broken(disagreement, "the same rows by every index and without", why,
			"with all transactions ended, a table and its indexes must hold the same")
	}
	if why := j.duplicate(final); why != "" {
		return broken(DuplicateKey, "no two rows with the same values of a unique key", why,
			"a unique key must hold with all transactions ended")
	}
	why, err := j.unchecked(final)
	if err != nil || why == "" {
		return err == nil, err
	}
	return broken(BrokenCheck, "each row satisfies its table's checks", why,
		"a CHECK must hold of each row that is committed")
}

// duplicate names two rows of a table that have the same whole numbers in a unique key, "" for none.
func (j *judge) duplicate(final state) string {
	if j.sets("unique_checks") {
		return ""
	}
	for i, sh := range j.layout {
		def := j.defs[strings.ToLower(sh.name)]
		if def == nil {
			continue
		}
		for _, names := range stmt.UniqueKeys(def) {
			var key []int
			for _, name := range names {
				at := slices.IndexFunc(sh.columns, func(c string) bool { return strings.EqualFold(c, name) })
				if at < 0 || !wholeNumbers(def, name) {
					key = nil
					break
				}
				key = append(key, at)
			}
			if twice := sharing(final[i], key); twice != "" {
				return sh.name + " " + twice
			}
		}
	}
	return ""
}

// sharing names two rows that have the same values in some columns, none of them NULL; "" for none.
func sharing(c content, columns []int) string {
	if len(columns) == 0 {
		return ""
	}
	seen := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(c)) {
		row := c[k].cells
		if slices.ContainsFunc(columns, func(n int) bool { return row[n].Null }) {
			continue
		}
		values := (&shape{key: columns}).keyOf(row)
		text := history.RowText(row, history.Cell.String)
		if before, there := seen[values]; there {
			return before + " and " + text
		}
		if c[k].n > 1 {
			return text + " and once more"
		}
		seen[values] = text
	}
	return ""
}

// checkErrors are those of a row that a CHECK refuses: MySQL's and MariaDB's.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html#error_er_check_constraint_violated
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-4000-to-4099/e4025
// https://www.postgresql.org/docs/current/errcodes-appendix.html (23514)
var checkErrors = []uint16{3819, 4025, 23514}

// unchecked names rows of a table that the server refuses alone because of a CHECK, "" for none. A row that was
// there at the beginning, or that a statement has left alone, has been checked. What a check says of values may
// depend on sql_mode, and MariaDB's cascades do not ask it.
func (j *judge) unchecked(final state) (string, error) {
	if j.inexact() || j.sets("sql_mode") {
		return "", nil
	}
	var checked []state
	tables := [][]history.Table{j.h.Initial}
	for _, a := range j.kept {
		tables = append(tables, a.After)
	}
	for _, t := range tables {
		if s, ok := j.layout.read(t); ok {
			checked = append(checked, s)
		}
	}
	for i := range j.layout {
		if def := j.defs[strings.ToLower(j.layout[i].name)]; def == nil || !hasChecks(def) || refers(def) {
			continue
		}
		s := j.layout.empty()
		for k, e := range final[i] {
			if !slices.ContainsFunc(checked, func(c state) bool {
				was, there := c[i][k]
				return there && textOf(was.cells) == textOf(e.cells)
			}) {
				s[i][k] = e
			}
		}
		if len(s[i]) == 0 {
			continue
		}
		a, err := j.scratch(&history.Solo{Tables: j.layout.tables(s), IDs: map[int]int64{}})
		j.ruling.Solos++
		switch {
		case err != nil:
			return "", err
		case a.Refused != nil && slices.Contains(checkErrors, a.Refused.Code):
			return j.layout.text(j.layout.difference(j.layout.empty(), s)) + ": " + a.Refused.String(), nil
		}
	}
	return "", nil
}

// refers says that a table has a foreign key.
func refers(def *ast.CreateTableStmt) bool {
	return slices.ContainsFunc(def.Constraints, func(c *ast.Constraint) bool { return c.Tp == ast.ConstraintForeignKey })
}

// hasChecks says that a table has a CHECK.
func hasChecks(def *ast.CreateTableStmt) bool {
	return slices.ContainsFunc(def.Constraints, func(c *ast.Constraint) bool { return c.Tp == ast.ConstraintCheck }) ||
		slices.ContainsFunc(def.Cols, func(c *ast.ColumnDef) bool { return has(def, c.Name.Name.L, ast.ColumnOptionCheck) })
}

// orphan names a row of some tables whose foreign key refers to no row, "" for none.
func (j *judge) orphan(final state) string {
	values := func(row []history.Cell, columns []int) (text string, null bool) {
		for _, c := range columns {
			null = null || row[c].Null
			text += row[c].Text + ","
		}
		return text, null
	}
	for _, f := range j.foreign {
		there := map[string]bool{}
		for _, e := range final[f.parent] {
			text, _ := values(e.cells, f.referred)
			there[text] = true
		}
		for _, k := range slices.Sorted(maps.Keys(final[f.child])) {
			row := final[f.child][k].cells
			if text, null := values(row, f.columns); !null && !there[text] {
				child := history.RowText(row, history.Cell.String)
				return fmt.Sprintf("%s %s refers to no row of %s", j.layout[f.child].name, child, j.layout[f.parent].name)
			}
		}
	}
	return ""
}
