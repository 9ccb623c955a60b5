package load

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// draft makes programs of the transactions that show a finding: what is left of the finding when it was reduced; of
// that, an update of a key beside one write of another transaction; what is left without those who only saw it; all that
// its transactions did to those keys; all that they did. None can be made of what the clients did not do, such as a kill.
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
	writers := map[int]bool{}
	for i, ops := range kept {
		isWrite := func(op int) bool { return !j.events[i].ops()[op].Kind.IsRead() }
		writers[i] = slices.ContainsFunc(ops, isWrite)
	}
	var out []*Program
	left := func(_ event, i, op int) bool { return slices.Contains(kept[i], op) }
	add := func(p *Program) {
		if p != nil && !slices.ContainsFunc(out, p.same) {
			out = append(out, p)
		}
	}
	add(j.programOf(f, whole, left))
	for _, p := range j.updates(f, kept) {
		add(p)
	}
	for _, d := range []cut{
		{of: writers, keep: left},
		{of: whole, keep: func(e event, i, op int) bool {
			o := e.ops()[op]
			return o.Kind == kv.ReadPredicate || slices.Contains(keys, o.Key)
		}},
		{of: whole, keep: func(event, int, int) bool { return true }},
	} {
		add(j.programOf(f, d.of, d.keep))
	}
	return out
}

// cut is what a draft keeps: some of the events, and of these some operations.
type cut struct {
	of   map[int]bool
	keep func(e event, i, op int) bool
}

// mostUpdates bounds the drafts of two transactions.
const mostUpdates = 3

// updates returns the smallest drafts of what is left of a finding with more than two transactions: of two that wrote the
// same key one is made to read it before. Whatever the others saw, an update is lost without them, and has its own name.
// Those with a snapshot of their own come first.
func (j *judge) updates(f Finding, kept map[int][]int) (out []*Program) {
	kind := j.run.workload.kind()
	if len(kept) <= 2 || kind != kv.ListAppend && kind != kv.Register {
		return nil
	}
	of := slices.Sorted(maps.Keys(kept))
	slices.SortStableFunc(of, func(a, b int) int {
		rank := func(i int) int {
			if j.events[i].start.opening == OpenSnapshot {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
	for _, i := range of {
		for _, op := range kept[i] {
			o := j.events[i].ops()[op]
			wrote := func(other int) bool {
				return other != i && slices.ContainsFunc(kept[other], func(op int) bool {
					x := j.events[other].ops()[op]
					return x.Kind == o.Kind && x.Key == o.Key
				})
			}
			at := slices.IndexFunc(of, wrote)
			if j.events[i].part || o.Kind.IsRead() || at < 0 || len(out) == mostUpdates {
				continue
			}
			all := map[int]bool{i: true, of[at]: true}
			p := j.programOf(f, all, func(e event, _, n int) bool { return e.ops()[n].Key == o.Key && !e.ops()[n].Kind.IsRead() })
			if p == nil || len(p.clients) != 2 {
				continue
			}
			p.update = true
			mine := 0 // the clients stand in the order in which their transactions began
			if of[at] < i {
				mine = 1
			}
			for c := range p.clients {
				t := &p.clients[c][0]
				if w := t.steps[0]; c == mine || kind == kv.Register {
					t.steps = slices.Insert(t.steps, 0, step{kind: readOf[kind], key: w.key, lock: w.lock})
					t.save, t.back = 0, 0
				}
				if c == mine && t.opening == OpenAutocommit {
					t.opening = OpenBegin
				}
			}
			if p.valid() == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

var readOf = map[kv.Workload]kv.Kind{kv.ListAppend: kv.ReadList, kv.Register: kv.Read}

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
		Protocol:   s.Protocol,
		Bystanders: s.Bystanders,
	}
	names := renaming{residue: residue(kind), to: map[kv.Value]kv.Value{}, same: kind == kv.Bank}
	var sessions []int64
	undone := j.undone()
	for i, e := range j.events { // in the order in which they began
		part, has := undone[starting{e.session, e.invoke}]
		if e.part || !of[i] && (!has || !of[part]) {
			continue
		}
		if !has {
			part = -1
		}
		t := j.transactionOf(kind, i, part, keep, &names)
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

// starting tells a transaction from the others.
type starting struct{ session, invoke int64 }

// undone finds, by the transactions, the events of what they rolled back to their savepoints.
func (j *judge) undone() map[starting]int {
	out := map[starting]int{}
	for i, e := range j.events {
		if e.part {
			out[starting{e.session - undoneSessions, e.invoke}] = i
		}
	}
	return out
}

// drafted is an operation that a draft keeps.
type drafted struct {
	kv.RecordOp
	manner
}

// transactionOf makes a transaction of a program of event i, and of what it rolled back to a savepoint, which is event
// part unless that is negative. It has no steps if nothing is kept.
func (j *judge) transactionOf(kind kv.Workload, i, part int, keep func(e event, i, op int) bool,
	names *renaming) programTxn {
	var ops []drafted
	add := func(i int, keep func(e event, i, op int) bool) {
		e := j.events[i]
		for n, o := range e.ops() {
			if kind == kv.Bank || keep(e, i, n) { // a half of a transfer is none
				ops = append(ops, drafted{o, e.how()[n]})
			}
		}
	}
	e := j.events[i]
	if part >= 0 {
		add(part, keep)
	}
	undone := len(ops) > 0
	add(i, func(e event, i, op int) bool {
		// Something must stand before a savepoint.
		return keep(e, i, op) || undone && int(e.how()[op].statement) < e.start.save
	})
	slices.SortStableFunc(ops, func(a, b drafted) int { return cmp.Compare(a.statement, b.statement) })
	t := programTxn{opening: e.start.opening, rolledBack: e.planned}
	if t.opening == OpenSavepoint || t.opening == "" {
		t.opening = OpenBegin
	}
	steps, statements := stepsOf(kind, ops, names)
	t.steps = steps
	if undone {
		before := func(at int) int {
			n := 0
			for _, s := range statements {
				if s < at {
					n++
				}
			}
			return n
		}
		t.save, t.back = before(e.start.save), before(e.start.back)
	}
	return t
}

// stepsOf returns the statements that did some operations, and the number that each has in its transaction.
func stepsOf(kind kv.Workload, ops []drafted, names *renaming) (out []step, statements []int) {
	for _, o := range ops {
		last := len(out) - 1
		again := last >= 0 && statements[last] == int(o.statement) // a statement reads several keys
		if kind == kv.Bank && o.Kind == kv.Read {
			if again {
				out[last].val = o.Key
				continue
			}
			out = append(out, step{kind: kv.Read, whole: true, key: o.Key, val: o.Key, lock: o.lock})
			statements = append(statements, int(o.statement))
			continue
		}
		if again && kind == kv.ListAppend && o.Kind == kv.ReadList {
			out[last].also = append(out[last].also, names.of(o.Key))
			continue
		}
		s := step{kind: o.Kind, lock: o.lock}
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
		out, statements = append(out, s), append(statements, int(o.statement))
	}
	return out, statements
}
