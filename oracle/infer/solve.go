package infer

import "github.com/txnfuzz/txnfuzz/oracle/model"

// solve leaves open what depends on the order of writes that nobody read.
func (j *judgement) solve(d *dependencies) {
	if d.versions == nil || !d.versions.open() {
		return
	}
	for _, m := range j.asked {
		if j.Verdicts[m] == "" && m != model.ReadUncommitted && m != model.ReadCommitted {
			j.Verdicts[m], j.Reasons[m] = Undecided, "the order of writes that nobody read is open"
		}
	}
}
