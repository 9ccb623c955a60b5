package load

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// records returns a history, of one key, that shows a loss by itself: what was acknowledged, who wrote what was read
// instead, and the final read, which comes last. Of a list only the lost elements are left. So nothing else is wrong.
func (l Lost) records(kind kv.Workload, events []event) []kv.Record {
	shown, ok := valuesOf(l.Reader)[l.Key]
	if !ok {
		shown = kv.Nil
	}
	there := map[kv.Value]bool{} // of a list
	for _, o := range l.Reader.ops() {
		if o.Kind == kv.ReadList && o.Key == l.Key {
			for _, v := range o.List {
				there[v] = true
			}
		}
	}
	var out []kv.Record
	for _, e := range events {
		if e.recorded == l.Reader.recorded || e.status == kv.Fail {
			continue
		}
		r := e.record()
		r.Ops = nil
		left, begins := kv.Nil, false
		for _, o := range e.ops() {
			if o.Key == l.Key && !o.Kind.IsRead() && !(o.Kind == kv.Append && there[o.Val]) {
				r.Ops = append(r.Ops, o)
				left, begins = o.Val, begins || o.Kind == kv.Init
				if o.Kind == kv.Delete {
					left = kv.Nil
				}
			}
		}
		var needed bool
		switch kind {
		case kv.Register: // else a read of it would be of a value that nobody wrote
			needed = left == shown
		case kv.Predicate, kv.Mixed: // else a row would change that is not there
			needed = true
		}
		if len(r.Ops) > 0 && (needed || begins || e.recorded == l.Writer.recorded) {
			out = append(out, r)
		}
	}
	final := l.Reader.record()
	if left := project([]kv.Record{final}, []kv.Value{l.Key}); len(left) > 0 {
		final = left[0]
	} else {
		final.Ops = nil // of a list that nobody has begun
	}
	if kind == kv.ListAppend {
		final.Ops = []kv.RecordOp{{Kind: kv.ReadList, Key: l.Key}}
	}
	return append(out, final)
}

// transferRecords returns a history of a bank's epoch that shows that transfers are lost: a read of the balances at its
// beginning, all transfers that were acknowledged or are of unknown outcome, and the final read, which comes last.
func transferRecords(events []event, late []transfer, before map[kv.Value]kv.Value, final event) []kv.Record {
	begin := final.invoke
	session := int64(readerSession)
	for _, e := range events {
		begin, session = min(begin, e.invoke), max(session, e.session)
	}
	first := kv.Record{Session: readerSession, Invoke: begin, Return: begin}
	for _, o := range final.ops() {
		first.Ops = append(first.Ops, kv.RecordOp{Kind: kv.Read, Key: o.Key, Val: before[o.Key]})
	}
	out := []kv.Record{first}
	for _, x := range late {
		session++
		r := kv.Record{Session: session, Status: kv.Info, Invoke: begin, Return: kv.Unknown}
		for _, o := range final.ops() {
			if d := x[o.Key]; d != 0 {
				r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Delta, Key: o.Key, Val: d})
			}
		}
		out = append(out, r)
	}
	for _, e := range events {
		r := e.record()
		r.Ops = slices.DeleteFunc(slices.Clone(r.Ops), func(o kv.RecordOp) bool { return o.Kind != kv.Delta })
		if e.status != kv.Fail && len(r.Ops) > 0 {
			out = append(out, r)
		}
	}
	return append(out, final.record())
}

// LostIn tells, in sentences, what was acknowledged and is missing in a history whose header says that its last
// transaction has read everything after all others had ended.
func LostIn(h *kv.History) []string {
	if !h.Header.FinalRead || h.Len() < 2 {
		return nil
	}
	t := &tape{}
	var r kv.Record
	for i := range h.Len() {
		h.Open(i, &r)
		for _, o := range r.Ops {
			t.add(o, plain)
		}
		t.end(r.Session, r.Invoke, r.Return, r.Status)
	}
	events := make([]event, len(t.txns))
	for i := range t.txns {
		events[i] = event{t, &t.txns[i]}
	}
	final := events[len(events)-1]
	var says []string
	if h.Header.Workload == kv.Bank {
		if s, _, _ := lostTransfers(events[1:], nil, balances(events[0]), balances(final)); s != "" {
			says = append(says, s)
		}
		return says
	}
	for _, l := range lost(h.Header.Workload, events, final) {
		says = append(says, l.Says)
	}
	return says
}

// balances are those that a transaction has read.
func balances(e event) map[kv.Value]kv.Value {
	out := map[kv.Value]kv.Value{}
	for _, o := range e.ops() {
		if o.Kind == kv.Read {
			out[o.Key] = o.Val
		}
	}
	return out
}
