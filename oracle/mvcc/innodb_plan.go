package mvcc

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// plan is what EXPLAIN says of one statement: a line for each table that it
// reads, fields joined by tabs, the names of the columns first.
type plan struct{ steps []planStep }

type planStep struct{ table, access, key, extra string }

// parsePlan reads EXPLAIN's tabular output.
func parsePlan(text string) *plan {
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
	if len(r.h.Plans) == 0 {
		return nil
	}
	if r.planCache == nil {
		r.planCache = make(map[int]*plan, len(r.h.Plans))
		for i, text := range r.h.Plans {
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
