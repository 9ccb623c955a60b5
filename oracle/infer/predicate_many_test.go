package infer_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// kept is a table whose rows hold the values that they have had: the last is the
// present one.
type kept map[kv.Value][]kv.Value

func (s kept) do(o kv.RecordOp) {
	switch o.Kind {
	case kv.Write, kv.Insert, kv.Init:
		s[o.Key] = append(slices.Clip(s[o.Key]), o.Val)
	case kv.Delete:
		delete(s, o.Key)
	}
}

func (s kept) answer(o kv.RecordOp, names *kv.Names) kv.RecordOp {
	trail := s[o.Key]
	switch o.Kind {
	case kv.Read:
		if o.Val = kv.Nil; len(trail) > 0 {
			o.Val = trail[len(trail)-1]
		}
	case kv.Versions:
		o.List = trail
	case kv.ReadPredicate:
		o.List = nil
		for _, k := range slices.Sorted(maps.Keys(s)) {
			if v := s[k][len(s[k])-1]; matches(names.Name(o.Val), v) {
				o.List = append(o.List, k, v)
			}
		}
	}
	return o
}

// replay runs a transaction on a state. Unless answers are asked for, it tells whether
// its reads are right.
func (s kept) replay(r *kv.Record, names *kv.Names, fill bool) (after kept, right bool) {
	view := maps.Clone(s)
	right = true
	for i, o := range r.Ops {
		if o.Kind.IsRead() && (fill || r.Status == kv.OK) {
			a := view.answer(o, names)
			if fill {
				r.Ops[i] = a
			}
			right = right && a.Val == o.Val && slices.Equal(a.List, o.List)
		}
		view.do(o)
	}
	return view, right
}

// changing is a store that runs transactions of its own making.
type changing struct {
	rnd   *rand.Rand
	names *kv.Names
	keys  int
	next  kv.Value
	clock int64
	state kept
	recs  []kv.Record
	// gone are keys that were deleted for a while: once, so that it is known which
	// absence a read met.
	gone map[kv.Value]bool
}

func newChanging(seed uint64, keys int) *changing {
	c := &changing{rnd: rand.New(rand.NewPCG(seed, 31)), names: &kv.Names{}, keys: keys, next: 5,
		state: kept{}, gone: map[kv.Value]bool{}}
	init := kv.Record{Session: 90}
	for k := range kv.Value(keys) {
		if k%3 != 2 {
			init.Ops = append(init.Ops, kv.RecordOp{Kind: kv.Init, Key: k, Val: c.value()})
		}
	}
	c.state, _ = c.state.replay(&init, c.names, true)
	c.recs = append(c.recs, init)
	return c
}

func (c *changing) value() kv.Value { c.next++; return c.next }

func (c *changing) condition() kv.RecordOp {
	return kv.RecordOp{Kind: kv.ReadPredicate, Val: c.names.Of([]byte(conditions[c.rnd.IntN(3)]))}
}

func (c *changing) txn() kv.Record {
	r := kv.Record{Status: kv.OK}
	wrote := map[kv.Value]bool{}
	for range 1 + c.rnd.IntN(4) {
		k := kv.Value(c.rnd.IntN(c.keys))
		switch n := c.rnd.IntN(12); {
		case n < 3:
			r.Ops = append(r.Ops, c.condition())
		case n < 5:
			r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Read, Key: k})
		case n == 5 && k%3 != 2 && !wrote[k]: // away and there again, or away
			wrote[k] = true
			r.Ops = append(r.Ops, reading(kv.Read, k), reading(kv.Versions, k), reading(kv.Delete, k))
			if k%3 == 1 || c.gone[k] || len(c.state[k]) == 0 {
				r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Insert, Key: k, Val: c.value()})
			}
			c.gone[k] = true
		default:
			if n > 9 {
				r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Read, Key: k})
			}
			wrote[k] = true
			r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Write, Key: k, Val: c.value()})
		}
	}
	return r
}

// history adds a read of everything and makes a history of it.
func (c *changing) history() *kv.History {
	last := kv.Record{Session: 91, Invoke: c.clock + 1, Return: c.clock + 2}
	for k := range kv.Value(c.keys) {
		last.Ops = append(last.Ops, kv.RecordOp{Kind: kv.Read, Key: k}, kv.RecordOp{Kind: kv.Versions, Key: k})
	}
	c.state.replay(&last, c.names, true)
	c.recs = append(c.recs, last)
	h := kv.NewHistory(kv.Header{Workload: kv.Mixed}, c.names)
	for i := range c.recs {
		h.Add(&c.recs[i])
	}
	return h
}

// running is a transaction of a client of the store.
type running struct {
	txn  kv.Record
	at   int
	view kept
	seen int // commits when it began
}

// run lets clients take turns, each operation on its own. With snapshots the first
// to commit wins; without, a transaction runs as a whole at a moment between the two
// at which it is sent and answered.
func (c *changing) run(clients, txns int, snapshots bool) {
	open := make([]*running, clients)
	var commits []map[kv.Value]bool
	for done := 0; done < txns; {
		i := c.rnd.IntN(clients)
		c.clock++
		r := open[i]
		if r == nil {
			t := c.txn()
			t.Session, t.Invoke = int64(i), c.clock
			open[i] = &running{txn: t, view: c.state, seen: len(commits)}
			continue
		}
		if r.at++; r.at < len(r.txn.Ops) && c.rnd.IntN(3) > 0 {
			continue
		}
		wrote := map[kv.Value]bool{}
		for _, o := range r.txn.Ops {
			if !o.Kind.IsRead() {
				wrote[o.Key] = true
			}
		}
		on := c.state
		if snapshots {
			on = r.view
			for _, w := range commits[r.seen:] {
				for k := range w {
					if wrote[k] {
						r.txn.Status = kv.Fail
					}
				}
			}
		}
		if c.rnd.IntN(20) == 0 {
			r.txn.Status = kv.Fail
		}
		on.replay(&r.txn, c.names, true)
		if r.txn.Status == kv.OK {
			c.state, _ = c.state.replay(&r.txn, c.names, false)
			commits = append(commits, wrote)
		}
		c.clock++
		r.txn.Return = c.clock
		c.recs = append(c.recs, r.txn)
		open[i] = nil
		done++
	}
}

var manyRuns = 1000

// TestHonestChanges: what an honest store shows is accepted, and nothing is left open,
// though keys come into conditions and leave them many times.
func TestHonestChanges(t *testing.T) {
	holes := 0
	for seed := range uint64(2 * manyRuns) {
		snapshots := seed%2 == 1
		c := newChanging(seed, 3+int(seed%5))
		c.run(2+int(seed%7), 60, snapshots)
		h := c.history()
		want := model.StrictSerializable
		if snapshots {
			want = model.StrongSnapshotIsolation
		}
		res, err := infer.Check(h, infer.Options{Models: []model.Model{want}})
		if err != nil {
			t.Fatal(err)
		}
		if res.Verdicts[want] != infer.Holds {
			t.Fatalf("seed %d: %s %s %s\n%s", seed, want, res.Verdicts[want], res.Reasons[want], summary(h, res, true))
		}
		holes += infer.Holes(h)
	}
	if holes < 10*manyRuns {
		t.Errorf("only %d reads may have stood on either side of what they did not show", holes)
	}
}

// planted is two transactions or three that an honest store never lets commit.
type planted struct {
	name  string
	fails model.Model
	holds model.Model // empty: nothing beside that
	plant func(c *changing, commit func(on kept, ops ...kv.RecordOp))
}

func reading(kind kv.Kind, k kv.Value) kv.RecordOp { return kv.RecordOp{Kind: kind, Key: k} }

func (c *changing) writing(k kv.Value) kv.RecordOp {
	return kv.RecordOp{Kind: kv.Write, Key: k, Val: c.value()}
}

// into writes a value of a class that a condition asks for, or another one.
func (c *changing) into(k kv.Value, even bool) kv.RecordOp {
	for v := c.value(); ; v = c.value() {
		if (v%2 == 0) == even {
			return kv.RecordOp{Kind: kv.Write, Key: k, Val: v}
		}
	}
}

var plantings = []planted{
	{"lost update", model.SnapshotIsolation, "", func(c *changing, commit func(kept, ...kv.RecordOp)) {
		old := c.state
		commit(old, reading(kv.Read, 0), c.writing(0))
		commit(old, reading(kv.Read, 0), c.writing(0))
	}},
	{"read skew of a condition and a row", model.SnapshotIsolation, "", func(c *changing,
		commit func(kept, ...kv.RecordOp)) {
		commit(c.state, c.into(0, false), c.writing(1))
		old := c.state
		commit(c.state, c.into(0, true), c.writing(1))
		even := kv.RecordOp{Kind: kv.ReadPredicate, Val: c.names.Of([]byte("mod 2 0"))}
		mixed := maps.Clone(c.state)
		mixed[0] = old[0]
		if c.rnd.IntN(2) == 0 { // it leaves again
			commit(c.state, c.into(0, false), c.writing(1))
		}
		commit(mixed, even, reading(kv.Read, 1))
	}},
	{"phantom", model.Serializable, model.SnapshotIsolation, func(c *changing, commit func(kept, ...kv.RecordOp)) {
		even := kv.RecordOp{Kind: kv.ReadPredicate, Val: c.names.Of([]byte("mod 2 0"))}
		commit(c.state, c.into(0, false), c.into(1, false))
		old := c.state
		commit(old, even, c.into(0, true))
		commit(old, even, c.into(1, true))
		if c.rnd.IntN(2) == 0 { // both leave again, so each read may have come before or after
			commit(c.state, c.into(0, false), c.into(1, false))
		}
	}},
}

// TestPlantedChanges: the same stores are found out when two transactions of theirs do
// not get along.
func TestPlantedChanges(t *testing.T) {
	for _, x := range plantings {
		t.Run(x.name, func(t *testing.T) {
			for seed := range uint64(manyRuns / 2) {
				c := newChanging(seed, 3+int(seed%4))
				c.run(3, 20, false)
				x.plant(c, func(on kept, ops ...kv.RecordOp) {
					c.clock += 2
					r := kv.Record{Session: int64(100 + c.clock), Ops: ops, Invoke: kv.Unknown, Return: kv.Unknown}
					on.replay(&r, c.names, true)
					c.state, _ = c.state.replay(&r, c.names, false)
					c.recs = append(c.recs, r)
				})
				h := c.history()
				res, err := infer.Check(h, infer.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if res.Verdicts[x.fails] != infer.Fails || x.holds != "" && res.Verdicts[x.holds] != infer.Holds {
					t.Fatalf("seed %d: %s %s, %s %s\n%s", seed, x.fails, res.Verdicts[x.fails], x.holds, res.Verdicts[x.holds],
						spelled(h)+summary(h, res, true))
				}
			}
		})
	}
}

// TestBruteForceChanges compares verdicts on small histories, many of them wrong, with
// all orders of their transactions.
func TestBruteForceChanges(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*bruteCases) {
		c := newChanging(seed, 1+int(seed%3))
		first := c.state
		c.small()
		h := c.history()
		res, err := infer.Check(h, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range model.Models {
			if d.Kinds&graph.PredicateRW == 0 {
				continue
			}
			got := res.Verdicts[d.Model]
			counts[string(got)]++
			want := c.possible(d, first)
			if got == infer.Holds && !want || got == infer.Fails && want {
				t.Fatalf("seed %d: %s %s, by brute force %v\n%s\n%s", seed, d.Model, got, want, spelled(h), summary(h, res, true))
			}
		}
	}
	t.Log(counts)
	enough := counts[string(infer.Holds)] > *bruteCases && counts[string(infer.Fails)] > *bruteCases
	if !enough || counts[string(infer.Undecided)] > *bruteCases/2 {
		t.Errorf("verdicts are lopsided: %v", counts)
	}
}

// small runs a few transactions on states of any age.
func (c *changing) small() {
	states := []kept{c.state}
	for range 2 + c.rnd.IntN(3) {
		r := c.txn()
		r.Session = int64(c.rnd.IntN(3))
		old := states[max(0, len(states)-1-c.rnd.IntN(2))]
		if c.rnd.IntN(3) == 0 { // not one state, but several
			old = maps.Clone(old)
			for k, v := range states[max(0, len(states)-2)] {
				if c.rnd.IntN(2) == 0 {
					old[k] = v
				}
			}
		}
		old.replay(&r, c.names, true)
		c.clock++
		r.Invoke = c.clock
		r.Return = c.clock + int64(c.rnd.IntN(4))
		c.state, _ = c.state.replay(&r, c.names, false)
		states = append(states, c.state)
		c.recs = append(c.recs, r)
	}
	c.clock += 4
}

// possible looks for an order of the transactions, with snapshots of their begins and
// commits, in which every read is right and, with snapshots, the first to write wins.
func (c *changing) possible(d model.Definition, first kept) bool {
	recs := c.recs[1:]
	before := func(x, y int) bool {
		p, q := recs[x], recs[y]
		return d.Kinds&graph.Session != 0 && p.Session == q.Session && x < y ||
			d.Kinds&graph.RealTime != 0 && p.Return < q.Invoke
	}
	phase := make([]int, len(recs)) // 1 begun, 2 committed
	clash := func(x, y int) bool {
		for _, o := range recs[x].Ops {
			same := func(p kv.RecordOp) bool { return !p.Kind.IsRead() && p.Key == o.Key }
			if !o.Kind.IsRead() && slices.ContainsFunc(recs[y].Ops, same) {
				return true
			}
		}
		return false
	}
	var step func(s kept, left int) bool
	step = func(s kept, left int) bool {
		if left == 0 {
			return true
		}
	next:
		for t := range recs {
			was := phase[t]
			if was == 2 {
				continue
			}
			if was == 0 {
				for u := range recs {
					if u != t && phase[u] < 2 && before(u, t) {
						continue next
					}
					if d.Snapshot && u != t && phase[u] == 1 && clash(u, t) {
						continue next // one of the two could not commit
					}
				}
				if _, right := s.replay(&recs[t], c.names, false); !right {
					continue
				}
			}
			if was == 0 && d.Snapshot {
				phase[t] = 1
				if step(s, left) {
					return true
				}
			} else {
				phase[t] = 2
				after, _ := s.replay(&recs[t], c.names, false)
				if step(after, left-1) {
					return true
				}
			}
			phase[t] = was
		}
		return false
	}
	return step(first, len(recs))
}

func spelled(h *kv.History) string {
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, h, kv.JSONLines); err != nil {
		return err.Error()
	}
	return out.String()
}
