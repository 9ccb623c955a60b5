package load

import (
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// draft makes programs of the transactions that show a finding, the most promising first: what is left of the finding
// when it was reduced; all that its transactions did to those keys; all that they did. None can be made of what the
// clients did not do, such as a kill.
func (j *judge) draft(f Finding, records []kv.Record) []*Program {
	s := &j.run.settings
	kind := j.run.workload.kind()
	if f.Model == "" && f.Kind != KindLost || len(s.Faults) > 0 || verbs[kind] == nil {
		return nil
	}
	if f.Kind == KindLost && kind == kv.Bank {
		return nil // any of its transfers may be the one that is lost
	}
	kept := j.trace(records)
	var keys []kv.Value
	for _, r := range records {
		for _, o := range r.Ops {
			if o.Kind != kv.ReadPredicate && r.Session != readerSession {
				keys = with(keys, o.Key)
			}
		}
	}
	whole := map[int]bool{}
	for i := range kept {
		whole[i] = true
	}
	if kind == kv.Bank {
		j.addTransfers(whole)
	}
	var out []*Program
	for _, keep := range []func(event, int, int) bool{
		func(_ event, i, op int) bool { return slices.Contains(kept[i], op) },
		func(e event, i, op int) bool {
			o := e.ops()[op]
			return o.Kind == kv.ReadPredicate || slices.Contains(keys, o.Key)
		},
		func(event, int, int) bool { return true },
	} {
		p := j.programOf(f, whole, keep)
		if p != nil && !slices.ContainsFunc(out, p.same) {
			out = append(out, p)
		}
	}
	return out
}

// mostTransfers is how many transfers beside a read of the accounts a draft has.
const mostTransfers = 8

// addTransfers adds to reads of accounts, of which alone a wrong total is a finding, the transfers that were made at the
// same time.
func (j *judge) addTransfers(of map[int]bool) {
	reads := slices.Sorted(maps.Keys(of))
	added := 0
	for i, e := range j.events {
		beside := func(r int) bool { return j.events[r].invoke < e.ret && e.invoke < j.events[r].ret }
		moves := func(o kv.RecordOp) bool { return o.Kind == kv.Delta }
		if added < mostTransfers && !of[i] && e.status == kv.OK && slices.ContainsFunc(e.ops(), moves) &&
			slices.ContainsFunc(reads, beside) {
			of[i] = true
			added++
		}
	}
}

// trace finds the transactions of an epoch of which some records are what is left, and which of their operations these
// are. Records are matched by their times, which are those of a transaction or of one of its statements.
func (j *judge) trace(records []kv.Record) map[int][]int {
	kept := map[int][]int{}
	for _, r := range records {
		if r.Session == readerSession {
			continue
		}
		for i, e := range j.events {
			ofWhole := e.invoke == r.Invoke && e.ret == r.Return
			if !ofWhole && (r.Invoke < e.invoke || e.ret < r.Return) {
				continue
			}
			found := false
			for _, o := range r.Ops {
				for n, own := range e.ops() {
					if !ofWhole && (e.how()[n].from != r.Invoke || e.how()[n].to != r.Return) {
						continue
					}
					alike := own.Kind == o.Kind && own.Key == o.Key && (o.Kind == kv.Read || own.Val == o.Val)
					if alike && !slices.Contains(kept[i], n) {
						kept[i], found = append(kept[i], n), true
						break
					}
				}
			}
			if found {
				break
			}
		}
	}
	return kept
}

// programOf makes a program of some transactions of the epoch; nil: nothing is left of them.
func (j *judge) programOf(f Finding, of map[int]bool, keep func(e event, i, op int) bool) *Program {
	s := &j.run.settings
	kind := j.run.workload.kind()
	p := &Program{
		Target: s.Target, Level: s.Level, Workload: s.Workload, Models: s.Models, Declared: s.Declared, Shows: f.Kind,
	}
	names := renaming{residue: residue(kind), to: map[kv.Value]kv.Value{}, same: kind == kv.Bank}
	var sessions []int64
	for i, e := range j.events { // in the order in which they began
		if !of[i] {
			continue
		}
		t := programTxn{steps: stepsOf(kind, e, func(op int) bool { return keep(e, i, op) }, &names), rolledBack: e.planned}
		if len(t.steps) == 0 {
			continue
		}
		// A client has another session when it lost one, a multiple of their number further on.
		client := (e.session - readerSession - 1) % int64(s.Clients)
		at := slices.Index(sessions, client)
		if at < 0 {
			at = len(sessions)
			sessions, p.clients = append(sessions, client), append(p.clients, nil)
		}
		p.clients[at] = append(p.clients[at], t)
	}
	if len(p.clients) == 0 || len(p.clients) > mostMembers || p.valid() != nil {
		return nil
	}
	return p
}

// renaming gives keys small numbers that leave the same remainder.
type renaming struct {
	residue kv.Value
	to      map[kv.Value]kv.Value
	same    bool
}

func (r *renaming) of(k kv.Value) kv.Value {
	if r.same {
		return k
	}
	if n, ok := r.to[k]; ok {
		return n
	}
	n := k % r.residue
	for taken := true; taken; {
		taken = false
		for _, other := range r.to {
			if other == n {
				n, taken = n+r.residue, true
			}
		}
	}
	r.to[k] = n
	return n
}

// stepsOf returns the statements of a transaction, as far as they have an operation that is kept.
func stepsOf(kind kv.Workload, e event, keep func(op int) bool, names *renaming) []step {
	var out []step
	for i, o := range e.ops() {
		how := e.how()[i]
		if kind == kv.Bank && o.Kind == kv.Read { // a statement reads several accounts
			if n := len(out); n > 0 && i > 0 && e.how()[i-1].statement == how.statement {
				out[n-1].val = o.Key
				continue
			}
			out = append(out, step{kind: kv.Read, whole: true, key: o.Key, val: o.Key, lock: how.lock})
			continue
		}
		if kind != kv.Bank && !keep(i) { // a half of a transfer is none
			continue
		}
		s := step{kind: o.Kind, lock: how.lock}
		switch o.Kind {
		case kv.ReadPredicate:
			at := slices.IndexFunc(conditions, func(c *condition) bool { return c.name == o.Val })
			if at < 1 {
				continue // of all rows
			}
			s.cond = conditions[at]
		case kv.Insert, kv.Write:
			s.key = names.of(o.Key)
			if kind == kv.Predicate {
				s.val = o.Val % classes
			}
		case kv.Delta:
			s.key, s.val = names.of(o.Key), o.Val
		default:
			s.key = names.of(o.Key)
		}
		out = append(out, s)
	}
	return out
}
