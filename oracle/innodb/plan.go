package innodb

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// parsedPlans returns the plans that the server told, by index of the statement: of the
// data as it was, else of the tables as they were at first.
func (r *paths) parsedPlans() map[int]plan.Plan {
	told := r.History.Plans
	if r.History.Facts != nil {
		told = r.History.Facts.Plans
	}
	if len(told) == 0 {
		return nil
	}
	plans := make(map[int]plan.Plan, len(told))
	for i, text := range told {
		plans[i] = plan.Parse(text)
	}
	return plans
}

// byPlan sets an access path after the step of a plan.
func (a *access) byPlan(s *plan.Step) {
	for i := range a.t.Def.Keys {
		if k := &a.t.Def.Keys[i]; strings.EqualFold(keyName(k), s.Key) && k != a.t.Clustered {
			a.key = k
		}
	}
	switch s.Access {
	case "ALL", "index", "":
		a.all = true
	case "const", "eq_ref", "system":
		a.unique = true
	case "range":
		a.ranged = true
	}
	a.covering = s.Covering()
}

func keyName(k *solve.Key) string {
	if k.Primary {
		return "PRIMARY"
	}
	return k.Name
}

// pinsSomeKey reports whether a query's condition fixes a whole unique key.
func (e *engine) pinsSomeKey(s *ast.SelectStmt) bool {
	name := stmt.SoleTable(s.From)
	if name == nil {
		return true
	}
	t := e.Table(name.Name.O)
	return t != nil && slices.ContainsFunc(t.Def.Keys, func(k solve.Key) bool { return pinsKey(s.Where, t, &k) })
}
