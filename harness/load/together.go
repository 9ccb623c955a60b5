package load

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// order says how the states that a replica goes through stand to each other and to those of its primary.
type order uint8

const (
	// unorderedStates: a transaction is there as a whole or not at all, in no order that is promised.
	unorderedStates order = iota
	// logOrder: a replica goes through states of one order of the commits, in which who read or overwrote what another
	// one wrote comes behind it. The primary may have shown the same commits in another order.
	logOrder
	// primaryOrder: a replica goes through the states of its primary.
	primaryOrder
)

// equality is what is promised of nodes behind which nothing is left to apply.
var equality = map[harness.TopologyKind]string{
	harness.AsyncReplica: "the replica holds what its primary has committed; of rows in the binary log: \"All changes can be " +
		"replicated. This is the safest form of replication.\" (https://dev.mysql.com/doc/refman/en/replication-sbr-rbr.html)",
	harness.PhysicalStandby: "\"data on the standby is eventually consistent with the primary\" (" + hotStandby + ")",
	harness.Galera:          "all nodes hold the same data (" + galeraOrder + ")",
	harness.GroupSingle:     groupEqual,
	harness.GroupMulti:      groupEqual,
}

const groupEqual = "\"All servers therefore receive the same set of transactions in the same order\" (" + groupSummary + ")"

// models are those that the states of replicas come to. fresh: they show what was acknowledged before.
func (o order) models(level promise, fresh bool) []model.Model {
	switch {
	case o == unorderedStates || len(level.models) == 0:
		return nil
	case slices.Contains(level.models, model.ReadUncommitted):
		return level.models
	case o == logOrder && fresh:
		return []model.Model{model.Serializable, model.StrongSessionSerializable, model.StrictSerializable}
	case o == logOrder, slices.Contains(level.models, model.Serializable):
		return []model.Model{model.Serializable, model.StrongSessionSerializable}
	}
	return []model.Model{model.SnapshotIsolation, model.StrongSessionSnapshotIsolation}
}

// states makes the pieces of an epoch that say which states replicas went through. Only sessions on replicas keep their
// order: of the others the level says all that is promised.
func (j *judge) states(events []event) []kv.Record {
	x := j.run.cluster
	f := fragments{promise: j.promise, dying: j.header.Workload == kv.Mixed}
	for _, e := range events {
		f.session = max(f.session, e.session)
	}
	out := make([]kv.Record, 0, len(events))
	for _, e := range events {
		switch {
		case !e.behind():
			f.split(e, func(r kv.Record) {
				if x.promise.order == logOrder {
					r.Ops = changing(r)
				}
				f.session++
				r.Session = f.session
				if len(r.Ops) > 0 {
					out = append(out, r)
				}
			})
		case e.status == kv.OK:
			out = append(out, f.shown(e)...)
		}
	}
	return out
}

// shown are the snapshots that a transaction of a replica read, in order, as those of its session.
func (f *fragments) shown(e event) []kv.Record {
	rec := e.record()
	if f.promise.views != perStatement {
		return []kv.Record{rec}
	}
	var out []kv.Record
	last := -1
	for i, o := range rec.Ops {
		how := e.how()[i]
		if int(how.statement) != last {
			last = int(how.statement)
			one := rec
			one.Ops, one.Invoke, one.Return = nil, how.from, how.to
			out = append(out, one)
		}
		out[len(out)-1].Ops = append(out[len(out)-1].Ops, o)
	}
	return out
}

// changing leaves of a transaction its writes and the reads of what it wrote, if it wrote anything: these depend on what
// was committed before it wherever commits are ordered. What else it read says what its node showed.
func changing(r kv.Record) []kv.RecordOp {
	var wrote []kv.Value
	for _, o := range r.Ops {
		if !o.Kind.IsRead() {
			wrote = append(wrote, o.Key)
		}
	}
	var out []kv.RecordOp
	for _, o := range r.Ops {
		if !o.Kind.IsRead() || o.Kind != kv.ReadPredicate && slices.Contains(wrote, o.Key) {
			out = append(out, o)
		}
	}
	return out
}

// promisedWhole names what is promised of all transactions of a history as they were sent, where that is less than what
// the level promises on one server; nil: it is not.
func (r *run) promisedWhole() []string {
	x := r.cluster
	switch {
	case x == nil && r.settings.Backup.Copies():
		if r.settings.Level == corpus.ReadUncommitted {
			return []string{string(model.ReadUncommitted)}
		}
		return []string{string(model.ReadCommitted)}
	case x == nil || x.promise.order == primaryOrder:
		return nil
	case len(x.promise.models) == 0 || slices.Contains(x.promise.models, model.ReadUncommitted):
		return []string{string(model.ReadUncommitted)}
	}
	return []string{string(model.ReadCommitted)}
}

// between checks what the nodes showed together against what the topology promises of that, and says whether that could
// be decided.
func (j *judge) between(e *epoch, events []event) (decided bool, err error) {
	x := j.run.cluster
	if x == nil {
		return true, nil
	}
	if models := x.promise.order.models(j.promise, x.promise.fresh && !x.restarted(e.faults)); models != nil {
		found, decided, err := j.held(e, j.states(events), models, nil, betweenNodes, x.promised())
		if found || err != nil || x.promise.order == primaryOrder {
			return decided, err
		}
	}
	records := j.pieces(events, x.promise.promise)
	if err := j.countBetween(records); err != nil || len(x.promise.models) == 0 {
		return false, err
	}
	_, decided, err = j.held(e, records, x.promise.models, x.promise.also, betweenNodes, x.promised())
	return decided, err
}

// restarted says that a replica was started again: for a moment it may show less than what was acknowledged.
func (x *cluster) restarted(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return f.Kind.ends() && slices.ContainsFunc(x.nodes, func(n *node) bool {
			return n.Name == f.Node && n.Role == harness.Replica
		})
	})
}

const betweenNodes = "between nodes"

// countBetween counts the anomalies of what is atomic on one node, on all nodes together: there is no order of the
// commits that explains what the nodes showed.
func (j *judge) countBetween(records []kv.Record) error {
	if slices.Contains(j.promise.models, model.ReadUncommitted) {
		return nil // one node shows them, too
	}
	one := []model.Model{model.SnapshotIsolation}
	if slices.Contains(j.promise.models, model.Serializable) {
		one[0] = model.Serializable
	}
	result, err := j.bounded(records, one)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, g := range result.Anomalies {
		if _, bad := forbids(one, g.Kind); bad {
			j.forks[g.Kind] += g.Count
		}
	}
	return nil
}

// held checks records against models that nodes together are promised to satisfy, and says whether it found anything, and
// whether all could be decided. Kinds in also are findings, too. where stands before what could not be decided, promised
// says what is promised.
func (j *judge) held(
	e *epoch, records []kv.Record, models []model.Model, also []model.Kind, where, promised string,
) (found, decided bool, err error) {
	asked := models
	for _, k := range also {
		for _, m := range model.ForbiddenBy(k) {
			if d, _ := model.Find(m); d.Kinds&graph.RealTime != 0 && !slices.Contains(asked, m) {
				asked = append(slices.Clone(asked), m) // without it nobody looks for cycles through time
			}
		}
	}
	result, err := j.bounded(records, asked)
	if err != nil {
		return false, false, err
	}
	decided = true
	for _, m := range models {
		if result.Verdicts[m] == infer.Undecided {
			decided = false
			j.doubt(fmt.Sprintf("%s, %s: %s", where, m, result.Reasons[m]))
		}
	}
	found, err = j.tell(e, result, records, models, also, promised)
	return found, decided, err
}

// promised says what the nodes are promised to show together, with the sentence of the manual.
func (x *cluster) promised() string {
	p := x.promise
	out := p.String()
	if p.quote != "" {
		out += ": \"" + p.quote + "\""
	}
	return out
}

// onPrimary are the events of all nodes but replicas, and but for reads that may have been on one.
func (j *judge) onPrimary(events []event) []event {
	x := j.run.cluster
	if x == nil {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.behind() })
}

// takesWritesEverywhere says that there is no primary, of which alone a level would promise something.
func (x *cluster) takesWritesEverywhere() bool { return x != nil && x.nodes[0].Role != harness.Primary }

// amongMembers checks an epoch of nodes that all take writes.
func (j *judge) amongMembers(e *epoch, events []event) error {
	counted, err := j.bounded(j.pieces(events, promise{views: whole}), []model.Model{model.Serializable})
	if err != nil {
		return err
	}
	j.mu.Lock()
	for _, g := range counted.Anomalies {
		j.anomalies[g.Kind] += g.Count
	}
	j.mu.Unlock()
	decided, err := j.between(e, events)
	if decided {
		j.count(events, j.run.cluster.promise.promise)
	}
	return err
}
