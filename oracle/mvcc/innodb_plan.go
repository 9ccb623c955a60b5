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
	a.pushed = strings.Contains(s.extra, "Using index condition")
	a.covering = strings.Contains(s.extra, "Using index") && !a.pushed
}

func keyName(k *solve.Key) string {
	if k.Primary {
		return "PRIMARY"
	}
	return k.Name
}

// readsNothing reports whether the plan answers a query without opening a
// table: its condition is impossible whatever the rows are. EXPLAIN words this
// like a look-up of a unique key that finds nothing, which does read.
func (p *plan) readsNothing(x *running) bool {
	if p == nil || !slices.ContainsFunc(p.steps, func(s planStep) bool { return strings.Contains(s.extra, "Impossible WHERE") }) {
		return false
	}
	s, ok := x.node.(*ast.SelectStmt)
	if !ok {
		return false
	}
	name := singleTable(s.From)
	if name == nil {
		return false
	}
	t := x.e.table(name.Name.O)
	if t == nil {
		return false
	}
	for i := range t.Def.Keys {
		if pinsKey(s.Where, t, &t.Def.Keys[i]) {
			return false
		}
	}
	return true
}
