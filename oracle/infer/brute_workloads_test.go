package infer_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// cell is a row: an element of a set (key and element), a register or an account
// (key and 0).
type cell struct{ key, element kv.Value }

type rows map[cell]kv.Value

var conditions = []string{"true", "mod 2 0", "mod 2 1", "= 3", "= 4"}

// write does an operation that changes something.
func (s rows) write(o kv.RecordOp) {
	switch o.Kind {
	case kv.Add:
		s[cell{o.Key, o.Val}] = 1
	case kv.Delta:
		s[cell{o.Key, 0}] += o.Val
	case kv.Delete:
		delete(s, cell{o.Key, 0})
	case kv.Write, kv.Insert, kv.Init:
		s[cell{o.Key, 0}] = o.Val
	}
}

// answer fills in what a read returns, in the order of keys.
func (s rows) answer(o kv.RecordOp, names *kv.Names) kv.RecordOp {
	switch o.Kind {
	case kv.Read:
		var ok bool
		if o.Val, ok = s[cell{o.Key, 0}]; !ok {
			o.Val = kv.Nil
		}
	case kv.ReadSet:
		o.List = nil
		for c := range s {
			if c.key == o.Key {
				o.List = append(o.List, c.element)
			}
		}
		slices.Sort(o.List)
	case kv.ReadPredicate:
		o.List = nil
		for _, c := range slices.SortedFunc(maps.Keys(s), func(a, b cell) int { return int(a.key - b.key) }) {
			if v := s[c]; matches(names.Name(o.Val), v) {
				o.List = append(o.List, c.key, v)
			}
		}
	}
	return o
}

func matches(condition string, v kv.Value) bool {
	if rest, ok := strings.CutPrefix(condition, "= "); ok {
		return strconv.Itoa(int(v)) == rest
	}
	return condition == "true" || condition == fmt.Sprintf("mod 2 %d", v%2)
}

// small is a history of one of these workloads, and the rows before it.
type small struct {
	w     kv.Workload
	recs  []kv.Record
	first rows
	names *kv.Names
	head  kv.Header
}

const accounts = 3

func randomSmall(rnd *rand.Rand, w kv.Workload) *small {
	b := &small{w: w, first: rows{}, names: &kv.Names{}, head: kv.Header{Workload: w}}
	n, keys, sessions := 2+rnd.IntN(3), 1+rnd.IntN(3), 1+rnd.IntN(4)
	next := kv.Value(3)
	most := 1 + 2*rnd.IntN(2)     // operations on sets in a transaction
	changer := map[kv.Value]int{} // of a predicate's key: which transaction may change it
	if w == kv.Bank {
		total := int64(30)
		b.head.Total, b.head.NegativeBalances = &total, true
		for k := range kv.Value(accounts) {
			b.first[cell{k, 0}] = 10
		}
	}
	if w == kv.Predicate {
		init := kv.Record{Session: 50, Status: kv.OK}
		for k := range kv.Value(keys) {
			changer[k] = 1 + rnd.IntN(n)
			if rnd.IntN(2) == 0 {
				init.Ops = append(init.Ops, kv.RecordOp{Kind: kv.Init, Key: k, Val: next})
				b.first[cell{k, 0}] = next
				next++
			}
		}
		if len(init.Ops) > 0 {
			b.recs = append(b.recs, init)
		}
	}
	for i := range n {
		r := kv.Record{Session: int64(rnd.IntN(sessions)), Status: kv.OK}
		switch rnd.IntN(12) {
		case 0:
			r.Status = kv.Fail
		case 1:
			r.Status = kv.Info
		}
		switch w {
		case kv.Bank:
			if rnd.IntN(2) == 0 {
				from, amount := kv.Value(rnd.IntN(accounts)), kv.Value(1+rnd.IntN(6))
				r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Delta, Key: from, Val: -amount}, kv.RecordOp{Kind: kv.Delta, Key: (from + 1) % accounts, Val: amount})
			} else {
				for k := range kv.Value(accounts) {
					r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Read, Key: k})
				}
			}
		case kv.Set:
			for range 1 + rnd.IntN(most) {
				k := kv.Value(rnd.IntN(keys))
				if rnd.IntN(2) == 0 {
					r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.ReadSet, Key: k})
				} else {
					r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Add, Key: k, Val: next})
					next++
				}
			}
		case kv.Predicate:
			for range 1 + rnd.IntN(3) {
				k := kv.Value(rnd.IntN(keys))
				o := kv.RecordOp{Kind: kv.Read, Key: k}
				_, born := b.first[cell{k, 0}]
				switch {
				case rnd.IntN(2) == 0:
					o = kv.RecordOp{Kind: kv.ReadPredicate, Val: b.names.Of([]byte(conditions[rnd.IntN(len(conditions))]))}
				case changer[k] != i+1 || rnd.IntN(4) == 0:
				case born && rnd.IntN(2) == 0:
					o.Kind = kv.Delete
					changer[k] = 0
				case born:
					o.Kind, o.Val = kv.Write, next
					changer[k] = 0
					next++
				default:
					o.Kind, o.Val = kv.Insert, next
					changer[k] = 0
					next++
				}
				r.Ops = append(r.Ops, o)
			}
		}
		b.recs = append(b.recs, r)
	}
	b.execute(rnd)
	b.times(rnd)
	for rnd.IntN(3) == 0 {
		b.mutate(rnd, next)
	}
	return b
}

// execute runs the transactions in turns: serially, on snapshots, on what is
// committed, or on snapshots that are too old.
func (b *small) execute(rnd *rand.Rand) {
	mode := rnd.IntN(4)
	states := []rows{maps.Clone(b.first)}
	views := make([]rows, len(b.recs))
	at := make([]int, len(b.recs))
	for left := len(b.recs); left > 0; {
		i := rnd.IntN(len(b.recs))
		if mode == 0 {
			i = len(b.recs) - left
		}
		r := &b.recs[i]
		if at[i] > len(r.Ops) {
			continue
		}
		if at[i] == 0 {
			views[i] = states[max(0, len(states)-1-rnd.IntN(2)*(mode/3))]
		}
		for at[i] < len(r.Ops) {
			view := views[i]
			if mode == 2 {
				view = states[len(states)-1]
			}
			view = maps.Clone(view)
			for _, o := range r.Ops[:at[i]] {
				view.write(o)
			}
			r.Ops[at[i]] = view.answer(r.Ops[at[i]], b.names)
			at[i]++
			if mode != 0 {
				break
			}
		}
		if at[i] == len(r.Ops) {
			at[i]++
			left--
			if r.Status == kv.OK || r.Status == kv.Info && rnd.IntN(2) == 0 {
				s := maps.Clone(states[len(states)-1])
				for _, o := range r.Ops {
					s.write(o)
				}
				states = append(states, s)
			}
		}
	}
}

func (b *small) times(rnd *rand.Rand) {
	clock, timed := int64(1), rnd.IntN(4) > 0
	for i := range b.recs {
		r := &b.recs[i]
		r.Invoke, r.Return = kv.Unknown, kv.Unknown
		if !timed {
			continue
		}
		r.Invoke = clock + int64(rnd.IntN(3))
		r.Return = r.Invoke + int64(rnd.IntN(8))
		clock += int64(rnd.IntN(5))
		if r.Ops[0].Kind == kv.Init {
			r.Invoke, r.Return = 0, 0
		}
		if r.Status == kv.Info {
			r.Return = kv.Unknown
		}
	}
}

// mutate changes what one read returned.
func (b *small) mutate(rnd *rand.Rand, next kv.Value) {
	r := &b.recs[rnd.IntN(len(b.recs))]
	o := &r.Ops[rnd.IntN(len(r.Ops))]
	switch {
	case o.Kind == kv.Read && b.w == kv.Bank:
		o.Val += kv.Value(rnd.IntN(5)) - 2
	case o.Kind == kv.Read:
		if o.Val = 2 + kv.Value(rnd.IntN(int(next))); o.Val == 2 {
			o.Val = kv.Nil
		}
	case o.Kind == kv.ReadSet && len(o.List) > 0 && rnd.IntN(2) == 0:
		o.List = slices.Delete(o.List, 0, 1)
	case o.Kind == kv.ReadSet:
		o.List = append(o.List, 3+kv.Value(rnd.IntN(int(next))))
		slices.Sort(o.List)
	case o.Kind == kv.ReadPredicate && len(o.List) > 0:
		at := 2 * rnd.IntN(len(o.List)/2)
		if rnd.IntN(2) == 0 {
			o.List = slices.Delete(o.List, at, at+2)
		} else {
			o.List[at+1] = 3 + kv.Value(rnd.IntN(int(next)))
		}
	}
}

// right tells whether a transaction's reads are what it sees on a state.
func (b *small) right(r kv.Record, s rows) bool {
	if r.Status != kv.OK {
		return true // nobody knows what it read
	}
	view := maps.Clone(s)
	for _, o := range r.Ops {
		if a := view.answer(o, b.names); o.Kind.IsRead() && (a.Val != o.Val || !slices.Equal(a.List, o.List)) {
			return false
		}
		view.write(o)
	}
	return true
}

// possible looks for an order of the transactions, or with snapshots of their
// begins and commits, in which every read is right. Transactions of unknown
// outcome may be left out.
func (b *small) possible(d model.Definition) bool {
	var committed []int
	for i, r := range b.recs {
		if r.Status != kv.Fail && r.Ops[0].Kind != kv.Init {
			committed = append(committed, i)
		}
	}
	before := func(x, y int) bool {
		p, q := b.recs[x], b.recs[y]
		return p.Status == kv.OK && (d.Kinds&graph.Session != 0 && p.Session == q.Session && x < y ||
			d.Kinds&graph.RealTime != 0 && p.Return != kv.Unknown && q.Invoke != kv.Unknown && p.Return < q.Invoke)
	}
	phase := map[int]int{} // 1 begun, 2 committed or left out
	var step func(s rows, left int) bool
	step = func(s rows, left int) bool {
		if left == 0 {
			return true
		}
	next:
		for _, t := range committed {
			if phase[t] == 2 {
				continue
			}
			was := phase[t]
			if was == 0 {
				if b.recs[t].Status == kv.Info {
					phase[t] = 2
					if step(s, left-1) {
						return true
					}
					phase[t] = 0
				}
				for _, u := range committed {
					if u != t && phase[u] < 2 && before(u, t) {
						continue next
					}
				}
				if !b.right(b.recs[t], s) {
					continue
				}
			}
			if was == 0 && d.Snapshot {
				phase[t] = 1
				if step(s, left) {
					return true
				}
			} else {
				after := maps.Clone(s)
				for _, o := range b.recs[t].Ops {
					after.write(o)
				}
				phase[t] = 2
				if step(after, left-1) {
					return true
				}
			}
			phase[t] = was
		}
		return false
	}
	return step(b.first, len(committed))
}

// lost tells whether an element that was acknowledged is in no read, the last one
// that was sent after the acknowledgement included.
func (b *small) lost() bool {
	for i, r := range b.recs {
		for _, o := range r.Ops {
			if r.Status != kv.OK || o.Kind != kv.Add {
				continue
			}
			acknowledged, seen, later := int64(i), false, false
			if r.Return != kv.Unknown {
				acknowledged = r.Return
			}
			for j, q := range b.recs {
				for _, p := range q.Ops {
					if q.Status != kv.OK || p.Kind != kv.ReadSet || p.Key != o.Key {
						continue
					}
					sent := int64(j)
					if q.Invoke != kv.Unknown {
						sent = q.Invoke
					}
					seen = seen || slices.Contains(p.List, o.Val)
					later = later || sent > acknowledged
				}
			}
			if later && !seen {
				return true
			}
		}
	}
	return false
}

// TestBruteForceWorkloads compares verdicts on sets, banks and predicates with all
// orders of small histories. A bank's verdict must be that of its totals, and
// never refute what some order explains.
func TestBruteForceWorkloads(t *testing.T) {
	for _, w := range []kv.Workload{kv.Set, kv.Bank, kv.Predicate} {
		t.Run(string(w), func(t *testing.T) {
			counts := map[string]int{}
			for i := range *bruteCases {
				b := randomSmall(rand.New(rand.NewPCG(uint64(i), 22)), w)
				h := b.history()
				res, err := infer.Check(h, infer.Options{})
				if err != nil {
					if _, ok := err.(*infer.UnknownWorkload); ok {
						counts["no workload"]++
						continue
					}
					t.Fatal(err)
				}
				for _, d := range model.Models {
					weak := d.Kinds&graph.RW == 0 // no order of transactions can be tried
					if weak || w == kv.Predicate && d.Kinds&graph.PredicateRW == 0 {
						continue
					}
					got := res.Verdicts[d.Model]
					counts[string(got)]++
					want := b.possible(d) && (w != kv.Set || !b.lost())
					switch {
					case w == kv.Bank && got == infer.Holds:
						if b.badTotal() {
							t.Fatalf("history %d: %s %s, though a read shows a wrong total\n%s", i, d.Model, got, b.spell())
						}
					case got == infer.Holds && !want, got == infer.Fails && want:
						t.Fatalf("history %d: %s %s, by brute force %v\n%s\n%s", i, d.Model, got, want, b.spell(), summary(h, res, true))
					}
				}
			}
			t.Log(counts)
			if counts[string(infer.Holds)] < *bruteCases/4 || counts[string(infer.Fails)] < *bruteCases/4 {
				t.Errorf("verdicts are lopsided: %v", counts)
			}
		})
	}
}

func (b *small) history() *kv.History {
	h := kv.NewHistory(b.head, b.names)
	for i := range b.recs {
		h.Add(&b.recs[i])
	}
	return h
}

func (b *small) badTotal() bool {
	for _, r := range b.recs {
		sum, all := kv.Value(0), r.Status == kv.OK && r.Ops[0].Kind == kv.Read
		for _, o := range r.Ops {
			sum += o.Val
		}
		if all && sum != 30 {
			return true
		}
	}
	return false
}

func (b *small) spell() string {
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, b.history(), kv.JSONLines); err != nil {
		return err.Error()
	}
	return out.String()
}

// TestBruteForceFormats writes random histories of every workload in each format
// that can say them, reads them back, and judges: the verdicts are the same.
func TestBruteForceFormats(t *testing.T) {
	for _, w := range []kv.Workload{kv.ListAppend, kv.Register, kv.Set, kv.Bank, kv.Predicate} {
		t.Run(string(w), func(t *testing.T) {
			counts := map[kv.Format]int{}
			for i := range *bruteCases {
				rnd := rand.New(rand.NewPCG(uint64(i), 23))
				var h *kv.History
				if w == kv.ListAppend || w == kv.Register {
					h = kv.NewHistory(kv.Header{Workload: w}, nil)
					recs := randomHistory(rnd, w)
					for j := range recs {
						h.Add(&recs[j])
					}
				} else {
					h = randomSmall(rnd, w).history()
				}
				want, err := infer.Check(h, infer.Options{})
				if err != nil {
					continue
				}
				for _, f := range kv.Writable {
					sameVerdicts(t, h, want, f, counts)
					if t.Failed() {
						t.Fatalf("history %d", i)
					}
				}
			}
			t.Log(counts)
			for _, f := range []kv.Format{kv.JSONLines, kv.ElleEDN, kv.ElleJSON} {
				if counts[f] < *bruteCases/20 {
					t.Errorf("%d histories were written as %s", counts[f], f)
				}
			}
		})
	}
}

func sameVerdicts(t *testing.T, h *kv.History, want *infer.Result, f kv.Format, counts map[kv.Format]int) {
	t.Helper()
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, h, f); err != nil {
		if f == kv.JSONLines {
			t.Error(err)
		}
		return // it has no form for all of it, and says so
	}
	src, err := kv.NewSource("input", f, bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Errorf("%s: %v\n%s", f, err, &out)
		return
	}
	back, err := kv.Load("input", src)
	if err != nil {
		t.Errorf("%s: %v\n%s", f, err, &out)
		return
	}
	// What a format does not say is not compared: times in the text form, a total
	// in Elle's.
	back.Header.Total, back.Header.NegativeBalances = h.Header.Total, h.Header.NegativeBalances
	got, err := infer.Check(back, infer.Options{})
	if err != nil {
		t.Errorf("%s: %v\n%s", f, err, &out)
		return
	}
	counts[f]++
	if h.Header.Workload == kv.Bank && f != kv.JSONLines && !anyRead(h) {
		return // only what was read tells that Elle's history is of a bank
	}
	for _, d := range model.Models {
		if f == kv.Text && d.Kinds&graph.RealTime != 0 {
			continue
		}
		if a, b := want.Verdicts[d.Model], got.Verdicts[d.Model]; a != b {
			var orig bytes.Buffer
			_ = kv.WriteHistory(&orig, h, kv.JSONLines)
			t.Errorf("%s: %s is %s, read from %s it is %s %v\n%s\n%s", h.Header.Workload, d.Model, a, f, b, got.Reasons[d.Model], &orig, &out)
		}
	}
}

func anyRead(h *kv.History) bool {
	for i := range h.Len() {
		if h.Status(i) == kv.OK && h.Ops(i)[0].Kind == kv.Read {
			return true
		}
	}
	return false
}
