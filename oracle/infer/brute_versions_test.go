package infer_test

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// versionOrders tells whether the versions of every key have an order without
// a cycle of write (and, for read committed, read) dependencies.
func (b brute) versionOrders(txns []int, committed bool) bool {
	type version struct {
		txn   int
		val   kv.Value
		final bool
	}
	isIn := map[int]bool{}
	for _, t := range txns {
		isIn[t] = true
	}
	versions := map[kv.Value][]version{} // by key, of a transaction in its order
	status := map[kv.Value]map[kv.Value]kv.Status{}
	for i, r := range b.recs {
		last := map[kv.Value]int{}
		for j, o := range r.Ops {
			if o.Kind == kv.Write || o.Kind == kv.Append {
				last[o.Key] = j
			}
		}
		for j, o := range r.Ops {
			if o.Kind != kv.Write && o.Kind != kv.Append {
				continue
			}
			if status[o.Key] == nil {
				status[o.Key] = map[kv.Value]kv.Status{}
			}
			status[o.Key][o.Val] = r.Status
			if isIn[i] && (o.Kind == kv.Append || last[o.Key] == j) {
				versions[o.Key] = append(versions[o.Key], version{i, o.Val, last[o.Key] == j})
			}
		}
	}
	find := func(k, v kv.Value) (version, bool) {
		for _, x := range versions[k] {
			if x.val == v {
				return x, true
			}
		}
		return version{}, false
	}
	edges := map[[2]int]bool{}
	compatible := map[kv.Value][][]kv.Value{}
	for _, t := range txns {
		r := b.recs[t]
		if r.Status != kv.OK {
			continue
		}
		wrote := map[kv.Value]bool{}
		own := map[kv.Value]kv.Value{}
		for j, o := range r.Ops {
			later := func(v kv.Value) bool {
				for _, p := range r.Ops[j+1:] {
					if (p.Kind == kv.Write || p.Kind == kv.Append) && p.Key == o.Key && p.Val == v {
						return true
					}
				}
				return false
			}
			switch o.Kind {
			case kv.Write, kv.Append:
				wrote[o.Key], own[o.Key] = true, o.Val
			case kv.Read:
				if o.Val == kv.Nil || wrote[o.Key] && own[o.Key] == o.Val {
					continue
				}
				if later(o.Val) && committed {
					return false
				}
				if wrote[o.Key] {
					continue // contradicts itself, which these models allow
				}
				st, known := status[o.Key][o.Val]
				switch {
				case !known:
					return false
				case st == kv.Fail:
					if committed {
						return false
					}
					continue
				}
				x, ok := find(o.Key, o.Val)
				if !ok {
					// Overwritten by its writer, or of one that is left out.
					if committed || !b.writtenBy(txns, o.Key, o.Val) {
						return false
					}
					continue
				}
				if committed && x.txn != t {
					edges[[2]int{x.txn, t}] = true
				}
			case kv.ReadList:
				for i, v := range o.List {
					st, known := status[o.Key][v]
					if !known || slices.Contains(o.List[:i], v) {
						return false
					}
					if committed && (st == kv.Fail || later(v)) {
						return false
					}
					if _, ok := find(o.Key, v); !ok && st != kv.Fail {
						return false // of one that is left out
					}
				}
				compatible[o.Key] = append(compatible[o.Key], o.List)
				if n := len(o.List); committed && n > 0 {
					x, ok := find(o.Key, o.List[n-1])
					if !ok || !x.final && x.txn != t {
						return false
					}
					if x.txn != t && !wrote[o.Key] {
						edges[[2]int{x.txn, t}] = true
					}
				}
			}
		}
	}
	var keys []kv.Value
	for k := range versions {
		keys = append(keys, k)
	}
	var rec func(i int, edges map[[2]int]bool) bool
	rec = func(i int, edges map[[2]int]bool) bool {
		if i == len(keys) {
			return acyclic(edges)
		}
		k := keys[i]
		lists := slices.Clone(compatible[k])
		if !committed {
			// Only the longest list tells the order; what failed is no version.
			slices.SortStableFunc(lists, func(x, y []kv.Value) int { return len(y) - len(x) })
			if len(lists) > 1 {
				lists = lists[:1]
			}
			for n := range lists {
				lists[n] = slices.DeleteFunc(slices.Clone(lists[n]), func(v kv.Value) bool { return status[k][v] == kv.Fail })
			}
		}
		good := false
		permute(versions[k], 0, func(vs []version) bool {
			for _, l := range lists {
				for n, v := range l {
					if n >= len(vs) || vs[n].val != v {
						return false
					}
				}
			}
			more := map[[2]int]bool{}
			for e := range edges {
				more[e] = true
			}
			for n := 1; n < len(vs); n++ {
				if vs[n-1].txn != vs[n].txn {
					more[[2]int{vs[n-1].txn, vs[n].txn}] = true
				}
			}
			good = rec(i+1, more)
			return good
		})
		return good
	}
	return rec(0, edges)
}

func (b brute) writtenBy(txns []int, k, v kv.Value) bool {
	for _, t := range txns {
		for _, o := range b.recs[t].Ops {
			if (o.Kind == kv.Write || o.Kind == kv.Append) && o.Key == k && o.Val == v {
				return true
			}
		}
	}
	return false
}

func permute[T any](list []T, at int, try func([]T) bool) bool {
	if at == len(list) {
		return try(list)
	}
	for i := at; i < len(list); i++ {
		list[at], list[i] = list[i], list[at]
		if permute(list, at+1, try) {
			list[at], list[i] = list[i], list[at]
			return true
		}
		list[at], list[i] = list[i], list[at]
	}
	return false
}

func acyclic(edges map[[2]int]bool) bool {
	left := map[[2]int]bool{}
	for e := range edges {
		left[e] = true
	}
	for {
		removed := false
		for e := range left {
			// An edge whose end leads nowhere is on no cycle.
			leads := false
			for f := range left {
				leads = leads || f[0] == e[1]
			}
			if !leads {
				delete(left, e)
				removed = true
			}
		}
		if len(left) == 0 {
			return true
		}
		if !removed {
			return false
		}
	}
}
