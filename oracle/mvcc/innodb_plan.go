package mvcc

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// plan is what EXPLAIN says of one statement: a step for each table that it reads.
type plan struct{ steps []planStep }

type planStep struct{ table, access, key, extra string }

// parsePlan reads EXPLAIN's output, as JSON or as a table: a line for each step, fields
// joined by tabs, the names of the columns first.
func parsePlan(text string) *plan {
	if strings.HasPrefix(text, "{") {
		return parseJSONPlan(text)
	}
	return parseTabularPlan(text)
}

// parseJSONPlan reads EXPLAIN FORMAT=JSON of MariaDB, or of MySQL in its version 1. In
// both, each table of a query, of whatever block, is an object called "table", and what
// is said in place of one a "message". A text that is cut off tells nothing.
// https://dev.mysql.com/doc/refman/en/server-system-variables.html#sysvar_explain_json_format_version
func parseJSONPlan(text string) *plan {
	p := &plan{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			var st planStep
			st.table, _ = v["table_name"].(string)
			st.access, _ = v["access_type"].(string)
			st.key, _ = v["key"].(string)
			st.extra, _ = v["message"].(string)
			if on, _ := v["using_index"].(bool); on {
				st.extra = "Using index"
			}
			if st.table != "" || st.extra != "" {
				p.steps = append(p.steps, st)
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		walk(v)
	}
	return p
}

func parseTabularPlan(text string) *plan {
	p := &plan{}
	var names []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if names == nil {
			names = cells
			continue
		}
		get := func(name string) string {
			i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
			if i < 0 || i >= len(cells) || cells[i] == "NULL" {
				return ""
			}
			return cells[i]
		}
		p.steps = append(p.steps, planStep{get("table"), get("type"), get("key"), get("extra")})
	}
	return p
}

func (r *Replay) parsedPlans() map[int]*plan {
	told := r.h.Plans
	if len(told) == 0 && r.h.Facts != nil {
		told = r.h.Facts.Plans
	}
	if len(told) == 0 {
		return nil
	}
	if r.planCache == nil {
		r.planCache = make(map[int]*plan, len(told))
		for i, text := range told {
			r.planCache[i] = parsePlan(text)
		}
	}
	return r.planCache
}

// of returns the step that reads a table, nil if none does.
func (p *plan) of(t *Table) *planStep {
	for i := range p.steps {
		if strings.EqualFold(p.steps[i].table, t.Def.Name) {
			return &p.steps[i]
		}
	}
	return nil
}

// apply sets an access path after a plan.
func (p *plan) apply(a *access, s *planStep) {
	for i := range a.t.Def.Keys {
		if k := &a.t.Def.Keys[i]; strings.EqualFold(keyName(k), s.key) && k != a.t.Clustered {
			a.key = k
		}
	}
	switch s.access {
	case "ALL", "index", "":
		a.all = true
	case "const", "eq_ref", "system":
		a.unique = true
	case "range":
		a.ranged = true
	}
	a.covering = strings.Contains(s.extra, "Using index") && !strings.Contains(s.extra, "Using index condition")
}

func keyName(k *solve.Key) string {
	if k.Primary {
		return "PRIMARY"
	}
	return k.Name
}

// readsNothing reports whether a query is answered without opening a table,
// because its condition is impossible whatever the rows are. EXPLAIN words a
// condition found to be impossible only after a look-up of a unique key in the
// same way as one whose ranges are empty; then either is tried.
func (x *running) readsNothing(s *ast.SelectStmt) bool {
	p := x.e.plans[x.i]
	if p == nil {
		switch x.e.emptiness(s) {
		case provenEmpty:
			return true
		case maybeProven:
			x.e.branched = true
			return x.e.choices.choose(2) == 1
		}
		return false
	}
	for _, st := range p.steps {
		switch {
		case st.extra == "Impossible WHERE":
			return true
		case strings.Contains(st.extra, "Impossible WHERE"), strings.Contains(st.extra, "no matching row"):
			pinned := x.e.pinsSomeKey(s)
			x.e.branched = true
			return (x.e.choices.choose(2) == 0) != pinned
		}
	}
	return false
}

// pinsSomeKey reports whether a query's condition fixes a whole unique key.
func (e *engine) pinsSomeKey(s *ast.SelectStmt) bool {
	name := SingleTable(s.From)
	if name == nil {
		return true
	}
	t := e.table(name.Name.O)
	return t != nil && slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return pinsKey(s.Where, t, &k) })
}
