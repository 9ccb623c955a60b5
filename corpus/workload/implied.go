package workload

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Implied returns what the schema itself demands: its keys, CHECKs and foreign keys.
// Not every server enforces all of them.
func Implied(w *Workload) []*Invariant {
	var out []*Invariant
	add := func(name, sql string) {
		stmt, err := corpus.ParseStatement(sql)
		if err != nil {
			return // an expression that prints in a way no parser reads
		}
		out = append(out, &Invariant{Name: name, Query: stmt, Derived: true})
	}
	for _, t := range w.Tables() {
		for _, key := range t.Unique {
			var cols, present []string
			for _, i := range key {
				cols = append(cols, quoteName(t.Columns[i].Name))
				if t.Columns[i].Nullable {
					present = append(present, quoteName(t.Columns[i].Name)+" IS NOT NULL")
				}
			}
			if len(cols) == 0 {
				continue
			}
			where := ""
			if len(present) > 0 {
				where = " WHERE " + strings.Join(present, " AND ")
			}
			list := strings.Join(cols, ", ")
			add("key-"+t.Name+"-"+plainName(cols), fmt.Sprintf("SELECT %s, COUNT(*) FROM %s%s GROUP BY %s HAVING COUNT(*) > 1", list, quoteName(t.Name), where, list))
		}
		for i, check := range t.Checks {
			if text, err := corpus.FormatExpr(check, corpus.Text); err == nil {
				add(fmt.Sprintf("check-%s-%d", t.Name, i+1), fmt.Sprintf("SELECT * FROM %s WHERE NOT (%s)", quoteName(t.Name), text))
			}
		}
		for _, f := range t.Foreign {
			ref := w.Table(f.Ref)
			names := f.RefColumns
			if ref == nil {
				continue
			}
			if len(names) == 0 && len(ref.Unique) > 0 {
				for _, i := range ref.Unique[0] {
					names = append(names, ref.Columns[i].Name)
				}
			}
			if len(names) != len(f.Columns) {
				continue
			}
			var cols, on, present []string
			for k, i := range f.Columns {
				c := quoteName(t.Columns[i].Name)
				cols = append(cols, c)
				on = append(on, fmt.Sprintf("r.%s = c.%s", quoteName(names[k]), c))
				present = append(present, "c."+c+" IS NOT NULL")
			}
			add("foreign-key-"+t.Name+"-"+plainName(cols), fmt.Sprintf("SELECT * FROM %s AS c WHERE %s AND NOT EXISTS (SELECT 1 FROM %s AS r WHERE %s)",
				quoteName(t.Name), strings.Join(present, " AND "), quoteName(f.Ref), strings.Join(on, " AND ")))
		}
	}
	return out
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func plainName(cols []string) string { return strings.ReplaceAll(strings.Join(cols, "-"), "`", "") }

// IsCheck says that an implied invariant is a CHECK.
func (v *Invariant) IsCheck() bool { return v.Derived && strings.HasPrefix(v.Name, "check-") }
