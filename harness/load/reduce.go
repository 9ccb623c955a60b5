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
	if r.kind == kv.Mixed {
		records = r.keys(records)
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

// keys tries to do without one key after the other, which is as if nobody had looked at
// it.
func (r *reducer) keys(records []kv.Record) []kv.Record {
	var all []kv.Value
	for _, x := range records {
		for _, o := range x.Ops {
			if o.Kind != kv.ReadPredicate {
				all = with(all, o.Key)
			}
		}
	}
	for i := 0; i < len(all) && len(all) > 1 && !r.late(); {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		if less := project(records, rest); len(less) > 0 && r.shows(less) {
			records, all = less, rest
			continue
		}
		i++
	}
	return records
}

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
		if !out(i) || r.kind == kv.Mixed && x.Ops[0].Kind == kv.Init {
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
	if r.kind == kv.Mixed {
		return r.unwriteMixed(records, written)
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

// unwriteMixed takes back writes of keys that many write. A read of all that meets a
// condition stays only if it shows each of their keys with a value that stays: of a key
// that it does not show it may have met what is taken back. A key that was deleted is
// left out altogether, since what follows the deletion would follow something else.
func (r *reducer) unwriteMixed(records []kv.Record, written []kv.RecordOp) []kv.Record {
	type write struct{ key, val kv.Value }
	gone, keys, never := map[write]bool{}, map[kv.Value]bool{}, map[kv.Value]bool{}
	for _, o := range written {
		gone[write{o.Key, o.Val}], keys[o.Key] = true, true
		if o.Kind == kv.Delete {
			never[o.Key] = true
		}
	}
	out := slices.Clone(records)
	for i := range out {
		var ops []kv.RecordOp
		for _, o := range out[i].Ops {
			switch {
			case o.Kind == kv.ReadPredicate:
				shown := 0
				for j := 0; j+1 < len(o.List); j += 2 {
					if keys[o.List[j]] && !never[o.List[j]] && !gone[write{o.List[j], o.List[j+1]}] {
						shown++
					}
				}
				if shown < len(keys)-len(never) {
					continue
				}
				o.List = withoutPairs(o.List, never)
			case never[o.Key], o.Kind == kv.Read && gone[write{o.Key, o.Val}]:
				continue
			case o.Kind == kv.Versions:
				o.List = slices.DeleteFunc(slices.Clone(o.List), func(v kv.Value) bool { return gone[write{o.Key, v}] })
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
