package reduce

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/foresight"
	"pgregory.net/rapid"
)

// A random case has one or two tables, up to three sessions, and every clause
// that the reducer knows an operation for.
var (
	drawType       = rapid.SampledFrom([]string{"INT", "BIGINT", "DECIMAL(10,2)", "VARCHAR(10)", "INT NOT NULL", "INT DEFAULT 7"})
	drawComparison = rapid.SampledFrom([]string{"=", "<", ">=", "<>", "<=>"})
	drawLock       = rapid.SampledFrom([]string{"", "", " FOR UPDATE", " LOCK IN SHARE MODE", " ORDER BY 1", " LIMIT 3"})
	drawBegin      = rapid.SampledFrom([]string{"BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"})
	drawEnd        = rapid.SampledFrom([]string{"COMMIT", "ROLLBACK"})
)

type caseDrawer struct {
	t      *rapid.T
	tables map[string][]string
	names  []string
}

func (d *caseDrawer) n(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(d.t, label)
}

func (d *caseDrawer) table() (string, []string) {
	name := rapid.SampledFrom(d.names).Draw(d.t, "table")
	return name, d.tables[name]
}

func (d *caseDrawer) value() string {
	return rapid.SampledFrom([]string{"0", "1", "7", "42", "-3", "NULL", "'12'", "2.5"}).Draw(d.t, "value")
}

func (d *caseDrawer) expression(columns []string, depth int) string {
	column := rapid.SampledFrom(columns).Draw(d.t, "column")
	if depth == 0 {
		return column
	}
	inner := func() string { return d.expression(columns, depth-1) }
	switch d.n("expression", 0, 9) {
	case 0:
		return "(" + inner() + ") AND (" + inner() + ")"
	case 1:
		return "(" + inner() + ") OR (" + inner() + ")"
	case 2:
		return "NOT (" + inner() + ")"
	case 3:
		return "(" + inner() + ") IS NULL"
	case 4:
		return column + " IN (" + d.value() + ", " + d.value() + ", " + d.value() + ")"
	case 5:
		return column + " BETWEEN " + d.value() + " AND " + d.value()
	case 6:
		table, columns := d.table()
		return column + " >= (SELECT MAX(" + columns[0] + ") FROM " + table + ")"
	case 7:
		return "COALESCE(" + column + ", " + d.value() + ") + " + d.value()
	case 8:
		return "CASE WHEN " + column + " THEN " + d.value() + " ELSE " + column + " END"
	}
	return column + " " + drawComparison.Draw(d.t, "comparison") + " " + d.value()
}

func (d *caseDrawer) where(columns []string) string {
	if d.n("where", 0, 3) == 0 {
		return ""
	}
	return " WHERE " + d.expression(columns, d.n("depth", 1, 3))
}

func (d *caseDrawer) row(width int) string {
	values := make([]string, width)
	for i := range values {
		values[i] = d.value()
	}
	return "(" + strings.Join(values, ", ") + ")"
}

func (d *caseDrawer) statement() string {
	table, columns := d.table()
	switch d.n("statement", 0, 6) {
	case 0, 1:
		fields := rapid.SampledFrom([]string{"*", strings.Join(columns, ", "), "COUNT(*)", columns[0] + " AS x"}).Draw(d.t, "fields")
		return "SELECT " + fields + " FROM " + table + d.where(columns) + drawLock.Draw(d.t, "lock")
	case 2, 3:
		set := columns[0] + " = " + d.value()
		if len(columns) > 1 && d.n("assignments", 0, 1) == 1 {
			set += ", " + columns[1] + " = " + columns[0] + " + 1"
		}
		return "UPDATE " + table + " SET " + set + d.where(columns)
	case 4:
		return "DELETE FROM " + table + d.where(columns)
	case 5:
		return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + d.row(len(columns)) + ", " + d.row(len(columns)) +
			" ON DUPLICATE KEY UPDATE " + columns[0] + " = 3"
	}
	return "REPLACE INTO " + table + " VALUES " + d.row(len(columns))
}

func drawCase(t *rapid.T) *corpus.Case {
	d := &caseDrawer{t: t, tables: map[string][]string{}}
	var text strings.Builder
	leveled := d.n("levels", 0, 1) == 1
	for i := range d.n("tables", 1, 2) {
		name := []string{"accounts", "t"}[i]
		var columns, definitions []string
		for k := range d.n("columns", 1, 3) {
			columns = append(columns, []string{"id", "b", "balance"}[k])
			definitions = append(definitions, columns[k]+" "+drawType.Draw(t, "type"))
		}
		if d.n("key", 0, 1) == 1 {
			definitions = append(definitions, "KEY k ("+strings.Join(columns, ", ")+")")
		}
		d.names = append(d.names, name)
		d.tables[name] = columns
		fmt.Fprintf(&text, "/* init */ CREATE TABLE %s (%s);\n", name, strings.Join(definitions, ", "))
		fmt.Fprintf(&text, "/* init */ INSERT INTO %s VALUES %s, %s;\n", name, d.row(len(columns)), d.row(len(columns)))
	}
	var waiting [][]string
	for s := range d.n("sessions", 1, 3) {
		var lines []string
		for range d.n("transactions", 1, 2) {
			inside := d.n("transaction", 0, 3) > 0
			if inside {
				lines = append(lines, drawBegin.Draw(t, "begin"))
			}
			for range d.n("statements", 1, 3) {
				lines = append(lines, d.statement())
			}
			if inside && d.n("savepoint", 0, 4) == 0 {
				lines = append(lines, "SAVEPOINT s", d.statement(), "ROLLBACK TO s")
			}
			if inside && d.n("ended", 0, 5) > 0 {
				lines = append(lines, drawEnd.Draw(t, "end"))
			}
		}
		for i := range lines {
			lines[i] = fmt.Sprintf("/* tx%d */ %s;\n", s+1, lines[i])
		}
		waiting = append(waiting, lines)
	}
	for len(waiting) > 0 {
		i := d.n("next", 0, len(waiting)-1)
		text.WriteString(waiting[i][0])
		if waiting[i] = waiting[i][1:]; len(waiting[i]) == 0 {
			waiting = slices.Delete(waiting, i, i+1)
		}
	}
	c, err := corpus.Parse("random", []byte(text.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if leveled {
		c.SetLevels(map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.RepeatableRead, 3: corpus.ReadUncommitted})
	}
	return c
}

func hashOf(c *corpus.Case) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(corpus.Print(c, corpus.Text)) // a hash never fails
	return h.Sum32()
}

// drawPredicate draws a conjunction of properties that c has. Some are
// monotone (what holds of a part holds of the whole), others hold or fail at
// random with every change.
func drawPredicate(t *rapid.T, c *corpus.Case) predicate {
	var all []predicate
	text := func(c *corpus.Case) string { return string(corpus.Print(c, corpus.Text)) }
	words := strings.Fields(text(c))
	for range rapid.IntRange(0, 3).Draw(t, "words") {
		w := rapid.SampledFrom(words).Draw(t, "word")
		k := min(strings.Count(text(c), w), rapid.IntRange(1, 3).Draw(t, "times"))
		all = append(all, func(c *corpus.Case) bool { return strings.Count(text(c), w) >= k })
	}
	sessions := rapid.IntRange(0, len(c.Sessions())).Draw(t, "sessions")
	all = append(all, func(c *corpus.Case) bool { return len(c.Sessions()) >= sessions })
	if rapid.Bool().Draw(t, "parity") {
		even := len(c.Steps) % 2
		all = append(all, func(c *corpus.Case) bool { return len(c.Steps)%2 == even })
	}
	if m := rapid.Uint32Range(0, 4).Draw(t, "hash"); m > 1 {
		kept := hashOf(c) % m
		if rapid.Bool().Draw(t, "rare") {
			all = append(all, func(c *corpus.Case) bool { return hashOf(c)%m == kept })
		} else {
			all = append(all, func(c *corpus.Case) bool { return hashOf(c)%m != (kept+1)%m })
		}
	}
	return func(c *corpus.Case) bool {
		for _, p := range all {
			if !p(c) {
				return false
			}
		}
		return true
	}
}

// TestMinimal: whatever the case, the predicate, the strategy and the seed, no
// single operation makes the result smaller and keeps the bug.
func TestMinimal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCase(rt)
		p := drawPredicate(rt, c)
		allowed := faultsOf(t, c)
		for f := range allowed {
			if !strings.HasPrefix(f, "NULL for ") && f != faultWait {
				rt.Fatalf("the generator made a case with %s:\n%s", f, corpus.Print(c, corpus.Text))
			}
		}
		// What is foreseen may be as wrong as can be.
		var foresee func(*corpus.Case) foresight.Guess
		if m := rapid.Uint32Range(0, 5).Draw(rt, "foresight"); m > 0 {
			foresee = func(c *corpus.Case) foresight.Guess { return foresight.Guess(hashOf(c) / 7 % m % 3) }
		}
		var last Size
		r, err := Reduce(context.Background(), c, Options{
			Try: tryFor(t, func(c *corpus.Case) bool {
				// The reducer's own idea of a valid case must not depend on
				// how it came to the case.
				again, err := corpus.Parse("candidate", corpus.Print(c, corpus.Text))
				if err != nil {
					t.Fatal(err)
				}
				for f := range faultsOf(t, again) {
					if !allowed[f] {
						t.Fatalf("candidate with %s:\n%s", f, corpus.Print(c, corpus.Text))
					}
				}
				return p(c)
			}),
			Strategy: Strategy(rapid.IntRange(0, int(DeltaDebug)).Draw(rt, "strategy")),
			Seed:     rapid.Uint64().Draw(rt, "seed"),
			Foresee:  foresee,
			Progress: func(s Step) {
				if last != (Size{}) && s.Kept && s.Size.Compare(last) >= 0 {
					rt.Fatalf("attempt %d, %s, was kept: size %+v after %+v", s.Attempt, s.Arm, s.Size, last)
				}
				last = s.Size
			},
		})
		if err != nil {
			rt.Fatal(err)
		}
		if !r.Minimal || !p(r.Case) || r.After.Compare(r.Before) > 0 {
			rt.Fatalf("minimal %v, shows the bug %v, size %+v after %+v", r.Minimal, p(r.Case), r.After, r.Before)
		}
		again, err := corpus.Parse("result", corpus.Print(r.Case, corpus.Text))
		if err != nil {
			rt.Fatal(err)
		}
		final, err := newDraft(newLibrary(), again)
		if err != nil {
			rt.Fatal(err)
		}
		for l := range layerCount {
			for _, x := range candidates(final, l) {
				if x.arm == armRun {
					continue // a means of the search
				}
				d := x.make()
				if d != nil && d.measure().Compare(final.measure()) < 0 && d.within(allowed) && p(d.build(again.Header)) {
					rt.Fatalf("operation %v was left:\n%s\nmakes\n%s", x.arm, corpus.Print(again, corpus.Text), corpus.Print(d.build(again.Header), corpus.Text))
				}
			}
		}
	})
}

func faultsOf(t *testing.T, c *corpus.Case) map[string]bool {
	d, err := newDraft(newLibrary(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d.faults()
}
