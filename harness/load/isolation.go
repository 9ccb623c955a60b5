package load

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// isolation checks an epoch against the models asked for or, in the pieces that
// are promised to be atomic, against the promise. Where these differ from the
// transactions as they were sent, the anomalies of the latter are counted, too.
func (j *judge) isolation(e *epoch, events []event) error {
	if err := j.copies(e, events); err != nil {
		return err
	}
	events = slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.t.copied })
	if j.run.cluster.takesWritesEverywhere() && !j.asked {
		return j.amongMembers(e, events)
	}
	as := promise{views: whole}
	if !j.asked {
		as = j.promise
	}
	all := events
	if !j.asked {
		events = j.onPrimary(events)
	}
	records := j.pieces(events, as)
	result, err := j.bounded(records, j.models)
	if err != nil {
		return err
	}
	counted := result
	if as.views != whole || len(all) != len(events) {
		if counted, err = j.bounded(j.pieces(all, promise{views: whole}), []model.Model{model.Serializable}); err != nil {
			return err
		}
	}
	j.mu.Lock()
	for _, g := range counted.Anomalies {
		j.anomalies[g.Kind] += g.Count
	}
	j.mu.Unlock()
	decided := true
	for _, m := range j.models {
		if result.Verdicts[m] == infer.Undecided {
			decided = false
			j.doubt(fmt.Sprintf("%s: %s", m, result.Reasons[m]))
		}
	}
	if decided {
		j.count(events, as)
	}
	if found, err := j.tell(e, result, records, j.models, nil, ""); found || err != nil || j.asked {
		return err
	}
	_, err = j.between(e, all)
	return err
}

// tell makes findings of the anomalies that some models forbid, or that also lists, and says whether there were any.
// promised is what several servers promise together; empty: the level promises it.
func (j *judge) tell(
	e *epoch, result *infer.Result, records []kv.Record, models []model.Model, also []model.Kind, promised string,
) (found bool, err error) {
	for _, g := range result.Anomalies {
		m, bad := forbids(models, g.Kind)
		if !bad && slices.Contains(also, g.Kind) {
			m, bad = model.ForbiddenBy(g.Kind)[0], true
		}
		if !bad {
			continue
		}
		found = true
		f := Finding{Kind: string(g.Kind), Model: m, Epoch: e.number, Count: g.Count, Promised: promised}
		shown := records
		if len(g.Examples) > 0 {
			f.Says = g.Examples[0].Steps
			shown = around(records, g.Examples[0].Txns)
		}
		if j.lossy {
			f.Note = lossNote
		}
		if err := j.found(f, shown); err != nil {
			return found, err
		}
	}
	if m, fails := j.failsUnnamed(result); fails && slices.Contains(models, m) {
		f := j.unorderable(m, e, result)
		f.Promised = promised
		return true, j.found(f, records)
	}
	return found, nil
}

// count takes note of what could have gone wrong in an epoch.
func (j *judge) count(events []event, as promise) {
	m := meet(j.header.Workload, events, as)
	wrote := 0
	for _, e := range events {
		writes := func(o kv.RecordOp) bool { return !o.Kind.IsRead() && o.Kind != kv.Init }
		if e.status == kv.OK && slices.ContainsFunc(e.ops(), writes) {
			wrote++
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.meetings.add(m)
	j.sent += len(events)
	for _, e := range events {
		if e.part || e.session == readerSession {
			j.sent--
		}
	}
	j.wrote += wrote
}

// failsUnnamed returns the weakest model that fails although no anomaly which was
// reported says so: of writes that nobody read before, only the search for their order
// tells that there is none.
func (j *judge) failsUnnamed(r *infer.Result) (model.Model, bool) {
	for _, d := range model.Models {
		if r.Verdicts[d.Model] == infer.Fails && !slices.ContainsFunc(r.Anomalies, func(g infer.Group) bool { return model.Forbids(d.Model, g.Kind) }) {
			return d.Model, true
		}
	}
	return "", false
}

func (j *judge) unorderable(m model.Model, e *epoch, r *infer.Result) Finding {
	f := Finding{Kind: string(model.Unorderable), Model: m, Epoch: e.number, Count: 1, Says: []string{"no order of the writes satisfies " + string(m)}}
	if j.lossy {
		f.Note = lossNote
	}
	for _, g := range r.Anomalies {
		if g.Kind == model.Unorderable && len(g.Examples) > 0 {
			f.Says = g.Examples[0].Steps
		}
	}
	return f
}

// lossNote stands with what is found in an epoch that has lost commits.
const lossNote = "what was acknowledged in this epoch is lost, and this may follow from it"

// forbids returns the weakest of the models checked that forbids an anomaly.
func (j *judge) forbids(k model.Kind) (model.Model, bool) { return forbids(j.models, k) }

// forbids returns the weakest of some models that forbids an anomaly.
func forbids(models []model.Model, k model.Kind) (model.Model, bool) {
	for _, d := range model.Models {
		if slices.Contains(models, d.Model) && model.Forbids(d.Model, k) {
			return d.Model, true
		}
	}
	return "", false
}

// pieces returns the transactions of an epoch as a promise takes them apart.
func (j *judge) pieces(events []event, p promise) []kv.Record {
	f := fragments{promise: p, dying: j.header.Workload == kv.Mixed}
	for _, e := range events {
		f.session = max(f.session, e.session)
	}
	out := make([]kv.Record, 0, len(events))
	for _, e := range events {
		f.split(e, func(r kv.Record) { out = append(out, r) })
	}
	return out
}

// checkTime bounds the check of one epoch: with blind writes whose order nothing
// shows it can take as long as it likes.
const checkTime = 30 * time.Second

// bounded checks an epoch, in a while or not at all. A check that does not come to
// its end goes on by itself; until it does no other is begun, and what is not checked
// is counted as undecided.
func (j *judge) bounded(records []kv.Record, models []model.Model) (*infer.Result, error) {
	type outcome struct {
		result *infer.Result
		err    error
	}
	late := func() *infer.Result {
		r := &infer.Result{Verdicts: map[model.Model]infer.Verdict{}, Reasons: map[model.Model]string{}}
		for _, m := range models {
			r.Verdicts[m], r.Reasons[m] = infer.Undecided, fmt.Sprintf("the check of an epoch takes more than %s", checkTime)
		}
		return r
	}
	select {
	case j.checking <- struct{}{}:
	default:
		return late(), nil
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := j.check(records, models, 0)
		<-j.checking // before the next check can come
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-time.After(checkTime):
		return late(), nil
	}
}

// check judges some records; conflicts bounds the search for an order of writes, 0:
// as is usual. A defect of the checker must not end the run before it has tidied up.
func (j *judge) check(records []kv.Record, models []model.Model, conflicts int) (result *infer.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the checker broke down: %v\n%s", p, debug.Stack())
		}
	}()
	result, err = infer.Check(j.history(records), infer.Options{Models: models, Examples: 1, Conflicts: conflicts})
	if err != nil {
		return nil, fmt.Errorf("check an epoch: %w", err)
	}
	return result, nil
}

func (j *judge) history(records []kv.Record) *kv.History {
	h := kv.NewHistory(j.header, names)
	for i := range records {
		h.Add(&records[i])
	}
	return h
}

// around returns all that has to do with the keys of some transactions.
func around(records []kv.Record, txns []int) []kv.Record {
	var keys []kv.Value
	add := func(k kv.Value) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, t := range txns {
		for _, o := range records[t].Ops {
			if o.Kind != kv.ReadPredicate {
				add(o.Key)
			}
			for i := 0; o.Kind == kv.ReadPredicate && i+1 < len(o.List); i += 2 {
				add(o.List[i])
			}
		}
	}
	return project(records, keys)
}

// readsAll tells whether a transaction has read all accounts.
func readsAll(r kv.Record) bool {
	read := map[kv.Value]bool{}
	for _, o := range r.Ops {
		if o.Kind == kv.Read {
			read[o.Key] = true
		}
	}
	return len(read) == accounts
}

// reduceTime bounds the reduction of one finding.
const reduceTime = 10 * time.Second

// reduceConflicts bounds the search in one step of it: where it takes longer, the
// step shows nothing.
const reduceConflicts = 1000

// reduce makes the transactions of a finding as few as it can. says is nil where
// that shows nothing new.
func (j *judge) reduce(f Finding, records []kv.Record) (smaller []kv.Record, says []string) {
	if f.Model == "" {
		return nil, nil
	}
	shows := func(rs []kv.Record) []string {
		result, err := j.check(rs, []model.Model{f.Model}, reduceConflicts)
		if err != nil || len(rs) == 0 || result.Verdicts[f.Model] != infer.Fails {
			return nil
		}
		for _, g := range result.Anomalies {
			if string(g.Kind) == f.Kind && len(g.Examples) > 0 {
				if g.Kind == model.WrongTotal && !readsAll(rs[g.Examples[0].Txns[0]]) {
					return nil // what is left of them adds up to anything
				}
				return g.Examples[0].Steps
			}
		}
		return nil
	}
	r := reducer{kind: j.header.Workload, shows: func(rs []kv.Record) bool { return shows(rs) != nil }, until: time.Now().Add(reduceTime)}
	smaller = r.reduce(records)
	return smaller, shows(smaller)
}
