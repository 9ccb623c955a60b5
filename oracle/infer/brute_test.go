package infer_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

var bruteCases = flag.Int("brute", 4000, "random histories of each workload that are judged by brute force, too")

// TestBruteForce compares every verdict on random small histories with the
// definitions, coded naively: serializable is some serial order of the
// transactions in which every read is right, snapshot isolation some order of
// begins and commits, read committed some order of versions without a cycle.
func TestBruteForce(t *testing.T) {
	for _, w := range []kv.Workload{kv.ListAppend, kv.Register} {
		t.Run(string(w), func(t *testing.T) {
			counts := map[string]int{}
			for i := range *bruteCases {
				rnd := rand.New(rand.NewPCG(uint64(i), 21))
				recs := randomHistory(rnd, w)
				compare(t, w, recs, counts, i)
				if t.Failed() {
					return
				}
			}
			for _, d := range model.Models {
				for _, v := range []infer.Verdict{infer.Holds, infer.Fails} {
					if n := counts[string(d.Model)+string(v)]; n < *bruteCases/50 && d.Model != model.ReadUncommitted {
						t.Errorf("%s %s in %d histories only", d.Model, v, n)
					}
				}
			}
			t.Log(counts)
		})
	}
}

func compare(t *testing.T, w kv.Workload, recs []kv.Record, counts map[string]int, seed int) {
	t.Helper()
	h := kv.NewHistory(kv.Header{Workload: w}, nil)
	for i := range recs {
		h.Add(&recs[i])
	}
	res, err := infer.Check(h, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	searched, err := infer.Check(h, infer.SearchOnly)
	if err != nil {
		t.Fatal(err)
	}
	clocked, err := infer.Check(h, infer.ClockFirst)
	if err != nil {
		t.Fatal(err)
	}
	b := brute{w: w, recs: recs}
	for _, d := range model.Models {
		got := res.Verdicts[d.Model]
		counts[string(d.Model)+string(got)]++
		if s := searched.Verdicts[d.Model]; s != got {
			t.Fatalf("history %d: %s %s, by search alone %s\n%s", seed, d.Model, got, s, spellRecords(recs))
		}
		if c := clocked.Verdicts[d.Model]; c != got {
			t.Fatalf("history %d: %s %s, with the clock first %s\n%s", seed, d.Model, got, c, spellRecords(recs))
		}
		want, ok := b.judge(d)
		if !ok {
			continue
		}
		if want && got != infer.Holds || !want && got != infer.Fails {
			t.Fatalf("history %d: %s %s, by brute force %v\n%s\n%s", seed, d.Model, got, want, spellRecords(recs), summary(h, res, true))
		}
	}
}

func spellRecords(recs []kv.Record) string {
	var b strings.Builder
	for _, r := range recs {
		fmt.Fprintf(&b, "%d %s", r.Session, r.Status)
		if r.Invoke != kv.Unknown {
			fmt.Fprintf(&b, " @%d-%d", r.Invoke, r.Return)
		}
		for _, o := range r.Ops {
			fmt.Fprintf(&b, " %s%d=", o.Kind, o.Key)
			switch {
			case o.Kind == kv.ReadList:
				fmt.Fprintf(&b, "%v", o.List)
			case o.Val == kv.Nil:
				b.WriteString("nil")
			default:
				fmt.Fprintf(&b, "%d", o.Val)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// randomHistory runs random transactions with more or less isolation and then
// perhaps changes a read.
func randomHistory(rnd *rand.Rand, w kv.Workload) []kv.Record {
	n, keys, sessions := 2+rnd.IntN(4), 1+rnd.IntN(3), 1+rnd.IntN(4)
	recs := make([]kv.Record, n)
	next := kv.Value(1)
	isAppend := w == kv.ListAppend
	for i := range recs {
		recs[i] = kv.Record{Session: int64(rnd.IntN(sessions)), Status: kv.OK}
		switch rnd.IntN(12) {
		case 0:
			recs[i].Status = kv.Fail
		case 1, 2:
			recs[i].Status = kv.Info
		}
		for range 1 + rnd.IntN(4) {
			o := kv.RecordOp{Key: kv.Value(rnd.IntN(keys))}
			switch {
			case rnd.IntN(2) == 0 && isAppend:
				o.Kind = kv.ReadList
			case rnd.IntN(2) == 0:
				o.Kind, o.Val = kv.Read, kv.Nil
				if isAppend {
					o.Kind = kv.ReadList
				}
			default:
				o.Kind, o.Val = kv.Write, next
				if isAppend {
					o.Kind = kv.Append
				}
				next++
			}
			recs[i].Ops = append(recs[i].Ops, o)
		}
	}
	execute(rnd, recs)
	// Times that agree with the order of each session, and overlap.
	clock := int64(0)
	timed := rnd.IntN(4) > 0
	for i := range recs {
		recs[i].Invoke, recs[i].Return = kv.Unknown, kv.Unknown
		if timed {
			recs[i].Invoke = clock + int64(rnd.IntN(3))
			recs[i].Return = recs[i].Invoke + int64(rnd.IntN(8))
			clock += int64(rnd.IntN(5))
			if recs[i].Status == kv.Info {
				recs[i].Return = kv.Unknown
			}
		}
	}
	for rnd.IntN(3) == 0 {
		mutate(rnd, recs, next)
	}
	return recs
}

// execute gives the reads of an execution in which a transaction sees the newest
// committed state at its start or at each operation, or what is not committed.
func execute(rnd *rand.Rand, recs []kv.Record) {
	type state = map[kv.Value][]kv.Value
	clone := func(s state) state {
		out := state{}
		for k, v := range s {
			out[k] = slices.Clone(v)
		}
		return out
	}
	mode := rnd.IntN(5) // serial, snapshot, read committed, read uncommitted, old snapshots
	states := []state{{}}
	committed := func() state { return states[len(states)-1] }
	commit := func(r *kv.Record, own map[kv.Value][]kv.Value) {
		s := clone(committed())
		for k, vs := range own {
			s[k] = append(s[k], vs...)
		}
		states = append(states, s)
	}
	at := make([]int, len(recs))
	views := make([]state, len(recs))
	owns := make([]map[kv.Value][]kv.Value, len(recs))
	left := len(recs)
	for left > 0 {
		i := rnd.IntN(len(recs))
		if mode == 0 {
			i = len(recs) - left
		}
		if at[i] > len(recs[i].Ops) {
			continue
		}
		if at[i] == 0 && views[i] == nil {
			views[i] = committed()
			if mode == 4 {
				views[i] = states[max(0, len(states)-1-rnd.IntN(2))]
			}
			owns[i] = map[kv.Value][]kv.Value{}
		}
		step := func() {
			o := &recs[i].Ops[at[i]]
			at[i]++
			view := views[i]
			if mode == 2 || mode == 3 {
				view = committed()
			}
			seen := append(slices.Clone(view[o.Key]), owns[i][o.Key]...)
			if mode == 3 && rnd.IntN(3) == 0 {
				for j := range owns {
					if j != i {
						seen = append(seen, owns[j][o.Key]...)
					}
				}
			}
			switch o.Kind {
			case kv.ReadList:
				o.List = seen
			case kv.Read:
				if len(seen) > 0 {
					o.Val = seen[len(seen)-1]
				}
			default:
				owns[i][o.Key] = append(owns[i][o.Key], o.Val)
			}
		}
		for at[i] < len(recs[i].Ops) {
			step()
			if mode != 0 {
				break
			}
		}
		if at[i] == len(recs[i].Ops) {
			at[i]++
			left--
			if recs[i].Status == kv.OK || recs[i].Status == kv.Info && rnd.IntN(2) == 0 {
				commit(&recs[i], owns[i])
			}
			owns[i] = nil
		}
	}
}

// mutate changes one read.
func mutate(rnd *rand.Rand, recs []kv.Record, next kv.Value) {
	r := &recs[rnd.IntN(len(recs))]
	o := &r.Ops[rnd.IntN(len(r.Ops))]
	switch o.Kind {
	case kv.Read:
		o.Val = kv.Value(rnd.IntN(int(next) + 1))
		if o.Val == 0 {
			o.Val = kv.Nil
		}
	case kv.ReadList:
		switch n := len(o.List); {
		case n > 0 && rnd.IntN(2) == 0:
			o.List = o.List[:rnd.IntN(n)]
		case n > 1 && rnd.IntN(2) == 0:
			i := rnd.IntN(n - 1)
			o.List[i], o.List[i+1] = o.List[i+1], o.List[i]
		default:
			for _, other := range recs {
				for _, p := range other.Ops {
					if p.Kind == kv.Append && p.Key == o.Key && !slices.Contains(o.List, p.Val) {
						o.List = append(o.List, p.Val)
						return
					}
				}
			}
		}
	}
}

// brute judges by definition.
type brute struct {
	w    kv.Workload
	recs []kv.Record
}

// judge tells whether a model holds; false if brute force has no say.
func (b brute) judge(d model.Definition) (holds, ok bool) {
	timed := false
	returns := false
	for _, r := range b.recs {
		returns = returns || r.Status == kv.OK && r.Return != kv.Unknown
		timed = timed || r.Invoke != kv.Unknown
	}
	order := d.Kinds &^ 0
	session, realTime := order&(1<<5) != 0, order&(1<<6) != 0
	if d.Model == model.ReadUncommitted && b.incompatible() {
		return false, false // which list tells the order is a matter of taste
	}
	var infos []int
	for i, r := range b.recs {
		if r.Status == kv.Info {
			infos = append(infos, i)
		}
	}
	for set := range 1 << len(infos) {
		var txns []int
		for i, r := range b.recs {
			if r.Status == kv.OK || r.Status == kv.Info && set>>slices.Index(infos, i)&1 == 1 {
				txns = append(txns, i)
			}
		}
		before := func(x, y int) bool {
			p, q := b.recs[x], b.recs[y]
			return session && p.Session == q.Session && x < y && p.Status == kv.OK ||
				realTime && p.Status == kv.OK && p.Return != kv.Unknown && q.Invoke != kv.Unknown && p.Return < q.Invoke
		}
		good := false
		switch {
		case d.Model == model.ReadUncommitted || d.Model == model.ReadCommitted:
			good = b.versionOrders(txns, d.Model == model.ReadCommitted)
		case d.Snapshot:
			good = b.snapshots(txns, before)
		default:
			good = b.serial(txns, before)
		}
		if good {
			// Without times nothing can be said for good.
			return true, !realTime || timed && returns
		}
	}
	return false, true
}

// incompatible tells whether two lists that were read cannot both be right.
func (b brute) incompatible() bool {
	lists := map[kv.Value][][]kv.Value{}
	for _, r := range b.recs {
		for _, o := range r.Ops {
			if r.Status != kv.OK || o.Kind != kv.ReadList {
				continue
			}
			for _, l := range lists[o.Key] {
				if n := min(len(l), len(o.List)); !slices.Equal(l[:n], o.List[:n]) {
					return true
				}
			}
			lists[o.Key] = append(lists[o.Key], o.List)
		}
	}
	return false
}

type world map[kv.Value][]kv.Value

// run tells whether a transaction's reads are right on a state, and what it writes.
func (b brute) run(r kv.Record, s world) (world, bool) {
	own := world{}
	for _, o := range r.Ops {
		seen := append(slices.Clone(s[o.Key]), own[o.Key]...)
		switch o.Kind {
		case kv.ReadList:
			if r.Status == kv.OK && !slices.Equal(seen, o.List) {
				return nil, false
			}
		case kv.Read:
			v := kv.Nil
			if len(seen) > 0 {
				v = seen[len(seen)-1]
			}
			if r.Status == kv.OK && v != o.Val {
				return nil, false
			}
		default:
			own[o.Key] = append(own[o.Key], o.Val)
		}
	}
	return own, true
}

func with(s, own world) world {
	out := world{}
	for k, v := range s {
		out[k] = v
	}
	for k, v := range own {
		out[k] = append(slices.Clone(out[k]), v...)
	}
	return out
}

func (b brute) serial(txns []int, before func(x, y int) bool) bool {
	done := map[int]bool{}
	var rec func(s world) bool
	rec = func(s world) bool {
		if len(done) == len(txns) {
			return true
		}
	next:
		for _, t := range txns {
			if done[t] {
				continue
			}
			for _, u := range txns {
				if u != t && !done[u] && before(u, t) {
					continue next
				}
			}
			own, ok := b.run(b.recs[t], s)
			if !ok {
				continue
			}
			done[t] = true
			if rec(with(s, own)) {
				return true
			}
			delete(done, t)
		}
		return false
	}
	return rec(world{})
}

func (b brute) snapshots(txns []int, before func(x, y int) bool) bool {
	phase := map[int]int{} // 1 begun, 2 committed
	owns := map[int]world{}
	writes := func(t int) world {
		out := world{}
		for _, o := range b.recs[t].Ops {
			if o.Kind == kv.Write || o.Kind == kv.Append {
				out[o.Key] = append(out[o.Key], o.Val)
			}
		}
		return out
	}
	var rec func(s world, left int) bool
	rec = func(s world, left int) bool {
		if left == 0 {
			return true
		}
	next:
		for _, t := range txns {
			switch phase[t] {
			case 0:
				for _, u := range txns {
					if u != t && phase[u] < 2 && before(u, t) {
						continue next
					}
					// First committer wins: no two writers of a key at once.
					if u != t && phase[u] == 1 {
						for k := range writes(t) {
							if len(writes(u)[k]) > 0 {
								continue next
							}
						}
					}
				}
				own, ok := b.run(b.recs[t], s)
				if !ok {
					continue
				}
				phase[t], owns[t] = 1, own
				if rec(s, left) {
					return true
				}
				phase[t] = 0
			case 1:
				phase[t] = 2
				if rec(with(s, owns[t]), left-1) {
					return true
				}
				phase[t] = 1
			}
		}
		return false
	}
	return rec(world{}, len(txns))
}
