package infer

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Verdict is what can be said of one model.
type Verdict string

const (
	Holds     Verdict = "holds"
	Fails     Verdict = "fails"
	Undecided Verdict = "undecided"
)

// Options of a check; the zero value asks for everything.
type Options struct {
	// Models to judge; empty: all of them.
	Models []model.Model
	// Examples kept of each kind of anomaly; 0: 3.
	Examples int
	// Conflicts bounds the search for an order of blind writes, for each model;
	// 0: DefaultConflicts.
	Conflicts int
	// Partial says that more of the history is to come: a value without a writer
	// may still get one, and an element that is missing may be seen.
	Partial bool
	// Progress, if set, is told what is being done now.
	Progress func(stage string)

	// searchOnly leaves out what spares the search; for tests of the search.
	searchOnly bool
	// clockFirst leaves out what spares looking at the clock; for tests of that.
	clockFirst bool
}

// Result is what a history shows.
type Result struct {
	Workload kv.Workload
	Verdicts map[model.Model]Verdict
	// Reasons says of an undecided model why.
	Reasons   map[model.Model]string
	Anomalies []Group
	// Counts of the graph and of the search.
	Nodes, Edges int
	Open         int // pairs of writes whose order nothing shows
	Conflicts    int // dead ends in the search for it
}

// Failed returns the models that fail, Held those that hold, weakest first.
func (r *Result) Failed() []model.Model { return r.with(Fails) }
func (r *Result) Held() []model.Model   { return r.with(Holds) }

// Open returns the models that could not be decided.
func (r *Result) Undecided() []model.Model { return r.with(Undecided) }

func (r *Result) with(v Verdict) []model.Model {
	var out []model.Model
	for _, d := range model.Models {
		if r.Verdicts[d.Model] == v {
			out = append(out, d.Model)
		}
	}
	return out
}

// UnknownWorkload says that a history's operations are of no workload that can
// be judged.
type UnknownWorkload struct{ Why string }

func (e *UnknownWorkload) Error() string { return "cannot tell the workload: " + e.Why }

// Check judges a history. It needs memory for the graph, about 60 bytes an
// operation, and keeps nothing afterwards. The error is an *UnknownWorkload.
func Check(h *kv.History, o Options) (*Result, error) {
	if o.Examples == 0 {
		o.Examples = 3
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	asked := o.Models
	if len(asked) == 0 {
		for _, d := range model.Models {
			asked = append(asked, d.Model)
		}
	}
	w, err := workload(h)
	if err != nil {
		return nil, err
	}
	found := &anomalies{keep: o.Examples, partial: o.Partial, groups: map[model.Kind]*Group{}}
	o.Progress("inferring the order of versions")
	e := inferences[w](h, found)
	res := &Result{Workload: w, Verdicts: map[model.Model]Verdict{}, Reasons: map[model.Model]string{}}
	j := judgement{Result: res, e: e, o: o, asked: asked}
	j.judge()
	res.Anomalies = found.sorted()
	return res, nil
}

var inferences = map[kv.Workload]func(*kv.History, *anomalies) *evidence{
	kv.ListAppend: inferLists,
	kv.Register:   inferRegisters,
	kv.Predicate:  inferPredicates,
	kv.Mixed:      inferPredicates,
	kv.Bank:       inferBank,
	kv.Set:        inferSets,
}

// workload tells what a history holds: what its header says, or what its
// operations are.
func workload(h *kv.History) (kv.Workload, error) {
	kinds := map[kv.Kind]kv.Workload{kv.Append: kv.ListAppend, kv.ReadList: kv.ListAppend, kv.Write: kv.Register,
		kv.Add: kv.Set, kv.ReadSet: kv.Set, kv.Delta: kv.Bank,
		kv.Insert: kv.Predicate, kv.Init: kv.Predicate, kv.Delete: kv.Predicate, kv.ReadPredicate: kv.Predicate,
		kv.Versions: kv.Predicate}
	var seen []kv.Workload
	for k, w := range kinds {
		if h.Holds(k) && !slices.Contains(seen, w) {
			seen = append(seen, w)
		}
	}
	if slices.Contains(seen, kv.Predicate) {
		seen = slices.DeleteFunc(seen, func(w kv.Workload) bool { return w == kv.Register })
	}
	if h.Header.Workload == kv.Bank && !slices.ContainsFunc(seen, func(w kv.Workload) bool { return w != kv.Bank }) {
		return kv.Bank, nil
	}
	slices.Sort(seen)
	switch {
	case len(seen) > 1:
		return "", &UnknownWorkload{fmt.Sprintf("its operations are of several: %v", seen)}
	case len(seen) == 1:
		return seen[0], nil
	case h.Header.Workload != "":
		if _, ok := inferences[h.Header.Workload]; ok {
			return h.Header.Workload, nil
		}
		return "", &UnknownWorkload{fmt.Sprintf("the header says %q", h.Header.Workload)}
	}
	return kv.Register, nil
}

type judgement struct {
	*Result
	e     *evidence
	o     Options
	asked []model.Model
	held  []model.Model // by the order of writes that was found
	// What byTheClock keeps: the graph with real time, and its answers.
	timed   *dependencies
	clocked map[problem]Verdict
}

func (j *judgement) judge() {
	var kinds graph.Kinds
	for _, m := range j.asked {
		def, _ := model.Find(m)
		kinds |= def.Kinds
	}
	j.o.Progress("building the graph")
	d := j.e.dependencies(kinds)
	j.Nodes, j.Edges = d.g.Nodes(), d.g.Edges()
	j.o.Progress("looking for cycles")
	fails := d.cycles(j.asked)
	for _, m := range j.asked {
		if fails[m] || j.anomalous(m) {
			j.Verdicts[m] = Fails
		}
	}
	j.spread()
	j.solve(d)
	j.place(d)
	j.spread()
	for _, m := range j.asked {
		if j.Verdicts[m] != "" {
			continue
		}
		def, _ := model.Find(m)
		switch {
		case def.Kinds&graph.RealTime != 0 && !d.timed && !j.e.invariantOnly:
			j.Verdicts[m], j.Reasons[m] = Undecided, "the history does not say when transactions were sent and returned"
		case len(j.e.doubts) > 0:
			j.Verdicts[m], j.Reasons[m] = Undecided, j.e.why()
		default:
			j.Verdicts[m] = Holds
		}
	}
}

func (j *judgement) anomalous(m model.Model) bool {
	for k := range j.e.found.groups {
		if model.Forbids(m, k) {
			return true
		}
	}
	return false
}

// spread: what a weaker model forbids a stronger one forbids, too.
func (j *judgement) spread() {
	for _, m := range j.asked {
		if j.Verdicts[m] == Fails {
			for _, s := range j.asked {
				if model.Implies(s, m) {
					j.Verdicts[s] = Fails
				}
			}
		}
	}
}

// why returns the reasons for doubt.
func (e *evidence) why() string {
	var out []string
	for r, n := range e.doubts {
		out = append(out, fmt.Sprintf("%s (%d)", r, n))
	}
	slices.Sort(out)
	s := ""
	for i, r := range out {
		if i > 0 {
			s += "; "
		}
		s += r
	}
	return s
}
