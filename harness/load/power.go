package load

import "github.com/txnfuzz/txnfuzz/oracle/model"

// power is how many of some planted anomalies the checker reported.
type power struct {
	kind              model.Kind
	workload          string
	views             views // of the promise: how transactions are taken apart before they are checked
	planted, reported int
}

// powers were measured by planting anomalies, one at a time, at random opportunities in histories that honest servers
// had recorded. TestPower measures them anew and prints this table.
var powers = []power{}

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

// weigh counts of the opportunities only the share in which the anomaly would be reported.
func (x *Exclusion) weigh(workload string, v views) {
	share, ok := powerOf(x.Kind, workload, v)
	if !ok {
		return
	}
	x.Power, x.OneIn = &share, 0
	if oneIn := int(float64(x.Opportunities) * share / 3); oneIn > 1 {
		x.OneIn = oneIn
	}
}
