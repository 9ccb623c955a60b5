package load

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// power is how many of some planted anomalies the checker reported.
type power struct {
	kind              model.Kind
	workload          string
	views             views // of the promise: how transactions are taken apart before they are checked
	planted, reported int
}

// powers were measured by planting anomalies, one at a time, at random opportunities in histories that honest servers
// had recorded. BenchmarkPower measures them anew and prints this table.
//
//	go test -tags notidb -run '^$' -bench 'Power$' -benchtime 1x -timeout 2h -v ./harness/load
var powers = []power{
	{"G-single", "predicate", perTransaction, 40, 40},
	{"G-single", "predicate", whole, 176, 176},
	{"G-single-item", "append", perTransaction, 40, 40},
	{"G-single-item", "append", whole, 182, 182},
	{"G-single-item", "mini", perStatement, 80, 80},
	{"G-single-item", "mini", perTransaction, 40, 40},
	{"G-single-item", "mini", whole, 200, 200},
	{"G-single-item", "register", perStatement, 80, 80},
	{"G-single-item", "register", perTransaction, 40, 40},
	{"G-single-item", "register", whole, 183, 183},
	{"G0", "append", perStatement, 80, 80},
	{"G0", "append", perTransaction, 40, 40},
	{"G0", "append", whole, 178, 178},
	{"G0", "mini", perStatement, 62, 62},
	{"G0", "mini", perTransaction, 22, 22},
	{"G0", "mini", whole, 166, 166},
	{"G0", "register", perStatement, 59, 56},
	{"G0", "register", perTransaction, 18, 18},
	{"G0", "register", whole, 127, 103},
	{"G1a", "append", perStatement, 80, 80},
	{"G1a", "append", perTransaction, 40, 40},
	{"G1a", "append", whole, 200, 200},
	{"G1a", "mini", perStatement, 80, 80},
	{"G1a", "mini", perTransaction, 40, 40},
	{"G1a", "mini", whole, 200, 200},
	{"G1a", "predicate", perStatement, 80, 80},
	{"G1a", "predicate", perTransaction, 40, 40},
	{"G1a", "predicate", whole, 200, 200},
	{"G1a", "register", perStatement, 80, 80},
	{"G1a", "register", whole, 200, 200},
	{"G1b", "append", perStatement, 80, 80},
	{"G1b", "append", perTransaction, 40, 40},
	{"G1b", "append", whole, 200, 200},
	{"G1b", "register", perStatement, 80, 80},
	{"G1b", "register", perTransaction, 40, 40},
	{"G1b", "register", whole, 200, 200},
	{"G2", "predicate", whole, 58, 58},
	{"G2-item", "append", whole, 120, 120},
	{"G2-item", "mini", perStatement, 80, 80},
	{"G2-item", "mini", perTransaction, 40, 40},
	{"G2-item", "mini", whole, 120, 120},
	{"G2-item", "register", perStatement, 80, 78},
	{"G2-item", "register", perTransaction, 40, 40},
	{"G2-item", "register", whole, 120, 113},
	{"internal", "append", perTransaction, 40, 40},
	{"internal", "append", whole, 200, 200},
	{"internal", "register", perTransaction, 40, 40},
	{"internal", "register", whole, 200, 200},
	{"lost-acknowledged", "append", perStatement, 80, 80},
	{"lost-acknowledged", "append", perTransaction, 40, 40},
	{"lost-acknowledged", "append", whole, 200, 200},
	{"lost-acknowledged", "mini", perStatement, 80, 79},
	{"lost-acknowledged", "mini", perTransaction, 40, 40},
	{"lost-acknowledged", "mini", whole, 200, 199},
	{"lost-acknowledged", "predicate", perStatement, 80, 80},
	{"lost-acknowledged", "predicate", perTransaction, 40, 40},
	{"lost-acknowledged", "predicate", whole, 200, 200},
	{"lost-acknowledged", "register", perStatement, 80, 68},
	{"lost-acknowledged", "register", perTransaction, 40, 35},
	{"lost-acknowledged", "register", whole, 200, 180},
	{"lost-update", "append", whole, 139, 139},
	{"lost-update", "mini", perStatement, 80, 80},
	{"lost-update", "mini", perTransaction, 40, 40},
	{"lost-update", "mini", whole, 200, 200},
	{"lost-update", "register", perStatement, 80, 80},
	{"lost-update", "register", perTransaction, 40, 40},
	{"lost-update", "register", whole, 200, 200},
	{"wrong-total", "bank", perStatement, 80, 33},
	{"wrong-total", "bank", perTransaction, 40, 40},
	{"wrong-total", "bank", whole, 200, 200},
}

// powerOf returns the share of the anomalies of a kind that a run of a workload reports; ok is false where nobody has
// measured it.
func powerOf(kind, workload string, v views) (share float64, ok bool) {
	for _, p := range powers {
		if string(p.kind) == kind && p.workload == workload && p.views == v && p.planted > 0 {
			return float64(p.reported) / float64(p.planted), true
		}
	}
	return 1, false
}

// weigh counts of the opportunities only the share in which the anomaly would be reported. The shares are those of
// models that forbid at least what snapshot isolation does; of weaker ones nothing was measured.
func (x *Exclusion) weigh(workload string, v views, models []model.Model) {
	share, ok := powerOf(x.Kind, workload, v)
	strong := slices.ContainsFunc(models, func(m model.Model) bool { return model.Implies(m, model.SnapshotIsolation) })
	if !ok || !strong {
		return
	}
	x.Power, x.OneIn = &share, 0
	if oneIn := int(float64(x.Opportunities) * share / 3); oneIn > 1 {
		x.OneIn = oneIn
	}
}
