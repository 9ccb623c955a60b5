package load

import (
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// reducer makes a history smaller as long as it shows the same.
//
// What is left out is left out everywhere: without the transaction that wrote
// something nobody has read it either. So what remains is what the same clients
// could have recorded, had the others done nothing, and its dependencies follow
// from those of the whole.
type reducer struct {
	kind  kv.Workload
	shows func([]kv.Record) bool
	until time.Time
}

func (r *reducer) reduce(records []kv.Record) []kv.Record {
	if !r.shows(records) {
		return records
	}
	for size := len(records) / 2; size >= 1; {
		before := len(records)
		records = r.transactions(records, size)
		switch {
		case r.late():
			return records
		case size > 1:
			size = min(size/2, max(1, len(records)/2))
		case len(records) == before:
			return r.operations(records)
		}
	}
	return records
}

func (r *reducer) late() bool { return time.Now().After(r.until) }

// transactions tries to do without some at a time.
func (r *reducer) transactions(records []kv.Record, size int) []kv.Record {
	for at := len(records); at > 0 && !r.late(); at -= size {
		from := max(0, min(at, len(records))-size)
		to := min(at, len(records))
		if from >= to {
			continue
		}
		less := r.without(records, func(i int) bool { return from <= i && i < to })
		if len(less) > 0 && r.shows(less) {
			records = less
		}
	}
	return records
}

// operations tries to do without single operations.
func (r *reducer) operations(records []kv.Record) []kv.Record {
	for i := len(records) - 1; i >= 0 && !r.late(); i-- {
		for k := 0; i < len(records) && k < len(records[i].Ops); {
			less := slices.Clone(records)
			less[i].Ops = slices.Delete(slices.Clone(records[i].Ops), k, k+1)
			o := records[i].Ops[k]
			if !o.Kind.IsRead() {
				less = r.unwrite(less, []kv.RecordOp{o})
			}
			less = slices.DeleteFunc(less, func(x kv.Record) bool { return len(x.Ops) == 0 })
			if len(less) > 0 && r.shows(less) {
				records = less
				if i >= len(records) {
					break
				}
				continue
			}
			k++
		}
	}
	return records
}

// without leaves out some transactions and what they wrote.
func (r *reducer) without(records []kv.Record, out func(int) bool) []kv.Record {
	var kept []kv.Record
	var written []kv.RecordOp
	for i, x := range records {
		if !out(i) {
			kept = append(kept, x)
			continue
		}
		for _, o := range x.Ops {
			if !o.Kind.IsRead() {
				written = append(written, o)
			}
		}
	}
	kept = r.unwrite(kept, written)
	return slices.DeleteFunc(kept, func(x kv.Record) bool { return len(x.Ops) == 0 })
}

// unwrite takes back writes from whatever others have read.
//
// An element is taken from all lists. A read of a register that returned the value
// is left out. Of rows that come and go, what a SELECT did not return counts, too: a
// key whose life is no longer known whole is left out altogether.
func (r *reducer) unwrite(records []kv.Record, written []kv.RecordOp) []kv.Record {
	if len(written) == 0 || r.kind == kv.Bank {
		return records
	}
	type write struct{ key, val kv.Value }
	gone := map[write]bool{}
	keys := map[kv.Value]bool{}
	for _, o := range written {
		gone[write{o.Key, o.Val}] = true
		keys[o.Key] = true
	}
	out := slices.Clone(records)
	for i := range out {
		var ops []kv.RecordOp
		for _, o := range out[i].Ops {
			switch {
			case r.kind == kv.Predicate && o.Kind != kv.ReadPredicate && keys[o.Key]:
				continue
			case o.Kind == kv.ReadPredicate:
				o.List = withoutPairs(o.List, keys)
			case o.Kind == kv.ReadList:
				o.List = slices.DeleteFunc(slices.Clone(o.List), func(v kv.Value) bool { return gone[write{o.Key, v}] })
			case o.Kind == kv.Read && gone[write{o.Key, o.Val}]:
				continue
			}
			ops = append(ops, o)
		}
		out[i].Ops = ops
	}
	return out
}

func withoutPairs(list []kv.Value, keys map[kv.Value]bool) []kv.Value {
	var out []kv.Value
	for i := 0; i+1 < len(list); i += 2 {
		if !keys[list[i]] {
			out = append(out, list[i], list[i+1])
		}
	}
	return out
}
