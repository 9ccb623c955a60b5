package load

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

var powerKinds = flag.String("power-kinds", "",
	"of the anomalies that -power plants, only those whose name contains this")

var measurePower = flag.Int("power", 40,
	"anomalies of each kind to plant into the recorded histories of each server, level and workload")

// recordedAt are the levels whose honest histories anomalies are planted into.
var recordedAt = []struct {
	target string
	levels []corpus.Level
}{
	{"mysql:9.7", []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable}},
	{"mariadb:11.8", []corpus.Level{corpus.RepeatableRead, corpus.Serializable}},
	{"postgres:18", []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable}},
}

// BenchmarkPower measures which share of planted anomalies is reported, and prints the table of power.go.
//
//	go test -tags notidb -run '^$' -bench 'Power$' -benchtime 1x -timeout 2h -v ./harness/load -args -power 100
func BenchmarkPower(t *testing.B) {
	found := map[string]power{}
	for _, at := range recordedAt {
		b, err := harness.Open(t.Context(), at.target, harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range at.levels {
			for _, w := range slices.Sorted(maps.Keys(workloads)) {
				s := Settings{
					Target: at.target, Workload: w, Clients: 16, Level: level, Reads: AutoReads, Duration: 4 * time.Second,
					Epoch: 1000, Timeout: 10 * time.Second, Seed: rand.Uint64(), Found: t.TempDir(),
				}
				var worlds, wholes []*world
				s.recorded = func(j *judge, events []event) {
					as := promise{views: whole}
					wholes = append(wholes, newWorld(j, events, as))
					if !j.asked {
						as = j.promise
					}
					worlds = append(worlds, newWorld(j, events, as))
				}
				r, err := Run(t.Context(), b, s)
				if err != nil || r.Found() || r.Problem() != nil {
					t.Fatalf("%s %s %s is not honest: %v, %v", at.target, level, w, err, r)
				}
				rng := rand.New(rand.NewPCG(s.Seed, 1))
				for i, o := range plants {
					if !slices.Contains(o.workloads, worlds[0].kind) || !strings.Contains(string(o.kind), *powerKinds) {
						continue
					}
					if _, bad := worlds[0].j.forbids(o.kind); !bad && o.kind != KindLost {
						continue
					}
					of := worlds
					if o.kind == KindLost {
						of = wholes // the read at the end is compared with whole transactions
					}
					p, skipped := worldsPower(t, of, &plants[i], *measurePower, rng)
					t.Logf("%s %s %s %s: %d of %d, %d not planted", at.target, level.Short(), w, o.kind, p.reported, p.planted,
						skipped)
					key := fmt.Sprintf("%s/%s/%d", o.kind, w, worlds[0].views)
					q := found[key]
					q.kind, q.workload, q.views = o.kind, w, worlds[0].views
					q.planted += p.planted
					q.reported += p.reported
					found[key] = q
				}
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(found)) {
		if p := found[k]; p.planted > 0 {
			fmt.Fprintf(&b, "\t{%q, %q, %s, %d, %d},\n", p.kind, p.workload, viewNames[p.views], p.planted, p.reported)
		}
	}
	t.Logf("the table:\n%s", b.String())
}

var viewNames = map[views]string{whole: "whole", perTransaction: "perTransaction", perStatement: "perStatement"}

// worldsPower plants an anomaly at random opportunities, one at a time. skipped counts those where it could not be.
func worldsPower(t testing.TB, worlds []*world, o *plant, n int, rng *rand.Rand) (p power, skipped int) {
	for tries := 0; p.planted < n && tries < 3*n; tries++ {
		w := worlds[rng.IntN(len(worlds))]
		a, b := w.pair(o, rng)
		if a < 0 {
			continue
		}
		changed := w.clone()
		if !o.plant(changed, a, b, rng) {
			skipped++
			continue
		}
		p.planted++
		if changed.reported(t) {
			p.reported++
		}
	}
	return p, skipped
}

// world is an epoch that was recorded, in the pieces that are promised to be atomic.
type world struct {
	j       *judge
	kind    kv.Workload
	views   views
	records []kv.Record
	how     [][]manner // beside records, where these are whole transactions
	touched []*touched // beside records; nil: of an unknown outcome, or the reader's
	final   int        // the record of the read at the end; -1: it is in pieces
}

func newWorld(j *judge, events []event, as promise) *world {
	w := &world{j: j, kind: j.header.Workload, views: as.views, final: -1}
	f := fragments{promise: as}
	for _, e := range events {
		f.session = max(f.session, e.session)
	}
	for i, e := range events {
		f.split(e, func(r kv.Record) {
			r.Ops = slices.Clone(r.Ops)
			for n := range r.Ops {
				r.Ops[n].List = slices.Clone(r.Ops[n].List)
			}
			var t *touched
			if e.session == readerSession {
				w.final = len(w.records)
			} else if r.Status != kv.Info {
				t = touchedBy(&r, e.planned, w.kind == kv.Predicate)
				t.txn = i
			}
			w.records, w.touched = append(w.records, r), append(w.touched, t)
			if as.views == whole {
				w.how = append(w.how, slices.Clone(e.how()))
			}
		})
	}
	return w
}

// clone copies what a plant changes: records, not their lists.
func (w *world) clone() *world {
	c := *w
	c.records = cloneRecords(w.records)
	return &c
}

// pair draws two pieces of which the first has an opportunity beside the second; -1: it drew none.
func (w *world) pair(o *plant, rng *rand.Rand) (a, b int) {
	for range 200 {
		a := rng.IntN(len(w.touched))
		ta := w.touched[a]
		if ta == nil {
			continue
		}
		var with []int
		for b, tb := range w.touched {
			if tb != nil && tb.txn != ta.txn && ta.from < tb.until && tb.from < ta.until && o.met(ta, tb) {
				with = append(with, b)
			}
		}
		if len(with) > 0 {
			return a, with[rng.IntN(len(with))]
		}
	}
	return -1, -1
}

// reported tells whether a run would report a finding in this epoch.
func (w *world) reported(t testing.TB) bool {
	records := w.records
	if w.views == whole && w.final >= 0 {
		tp := &tape{}
		for i, r := range w.records {
			tp.ops, tp.how = append(tp.ops, r.Ops...), append(tp.how, w.how[i][:len(r.Ops)]...)
			tp.end(r.Session, r.Invoke, r.Return, r.Status)
		}
		events := inOrder([]*tape{tp})
		at := slices.IndexFunc(events, func(e event) bool {
			return e.session == readerSession && e.invoke == w.records[w.final].Invoke
		})
		if len(lost(w.kind, events, events[at])) > 0 {
			return true
		}
		if !w.j.asked {
			records = w.j.pieces(events, w.j.promise)
		}
	}
	result, err := w.j.check(records, w.j.models, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.j.models {
		if result.Verdicts[m] == infer.Fails {
			return true
		}
	}
	return false
}

// plant is how a server would have lied to two transactions.
type plant struct {
	kind      model.Kind
	workloads []kv.Workload
	met       func(a, b *touched) bool
	// plant changes what a and b, and all others, recorded; false: this opportunity cannot be used, because nothing tells
	// what a register held before.
	plant func(w *world, a, b int, rng *rand.Rand) bool
}

var plants = makePlants()

func makePlants() []plant {
	how := map[model.Kind]func(w *world, a, b int, rng *rand.Rand) bool{
		model.G0: plantG0, model.G1a: plantG1a, model.G1b: plantG1b, model.Internal: plantInternal,
		model.LostUpdate:  plantLostUpdate,
		model.GSingleItem: plantReadSkew, model.GSingle: plantReadSkew, model.G2Item: plantWriteSkew,
		model.G2:         plantWriteSkew,
		model.WrongTotal: plantWrongTotal,
	}
	var out []plant
	for _, o := range opportunities {
		out = append(out, plant{o.kind, o.workloads, o.met, how[o.kind]})
	}
	wrote := func(a, _ *touched) bool { return a.committed && len(a.writes) > 0 }
	return append(out, plant{KindLost, ofEither, wrote, plantLost})
}

// shared draws n different elements of both lists.
func shared(a, b []kv.Value, n int, rng *rand.Rand) []kv.Value {
	var out []kv.Value
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out[:min(n, len(out))]
}

// writesOf returns what a record wrote of a key, in order.
func (w *world) writesOf(r int, k kv.Value) []kv.Value {
	var out []kv.Value
	for _, o := range w.records[r].Ops {
		if !o.Kind.IsRead() && o.Key == k {
			out = append(out, o.Val)
		}
	}
	return out
}

// versions returns the list of a key at the end.
func (w *world) versions(k kv.Value) []kv.Value {
	var longest []kv.Value
	for _, r := range w.records {
		if r.Status != kv.OK {
			continue
		}
		for _, o := range r.Ops {
			if o.Kind == kv.ReadList && o.Key == k && len(o.List) > len(longest) {
				longest = o.List
			}
		}
	}
	return longest
}

// before and after return what a read of a key, or of a condition, shows without and with what a record wrote; ok is
// false where that is not known. now is what was read.
func (w *world) before(r int, k kv.Value, now kv.RecordOp) (o kv.RecordOp, ok bool) {
	o = now
	mine := w.writesOf(r, k)
	switch {
	case w.kind == kv.Predicate:
		return w.changed(r, k, now, false), true
	case w.kind == kv.ListAppend:
		all := w.versions(k)
		at := slices.IndexFunc(all, func(v kv.Value) bool { return slices.Contains(mine, v) })
		if at < 0 {
			return now, w.records[r].Status != kv.OK // it wrote nothing that stayed
		}
		o.List = all[:at]
		return o, true
	}
	o.Val, ok = w.replaced(r, k)
	return o, ok
}

func (w *world) after(r int, k kv.Value, now kv.RecordOp) (o kv.RecordOp, ok bool) {
	o = now
	mine := w.writesOf(r, k)
	switch {
	case w.kind == kv.Predicate:
		return w.changed(r, k, now, true), true
	case len(mine) == 0:
		return o, false
	case w.kind == kv.ListAppend:
		all := w.versions(k)
		at := slices.Index(all, mine[len(mine)-1])
		if at < 0 {
			return o, false
		}
		o.List = all[:at+1]
		return o, true
	}
	o.Val = mine[len(mine)-1]
	return o, true
}

// replaced is the value of a register that a record's first write of it replaced, which its transaction had read.
func (w *world) replaced(r int, k kv.Value) (kv.Value, bool) {
	for i := range w.records { // another piece may have read it
		if w.records[i].Invoke != w.records[r].Invoke || w.records[i].Return != w.records[r].Return {
			continue
		}
		for _, o := range w.records[i].Ops {
			if o.Key == k && !o.Kind.IsRead() {
				break
			}
			if o.Key == k && o.Kind == kv.Read {
				return o.Val, true
			}
		}
	}
	return 0, false
}

// changed applies the changes of rows of a record to a read, or takes them back. Each row is changed once at most.
func (w *world) changed(r int, k kv.Value, o kv.RecordOp, with bool) kv.RecordOp {
	for _, c := range w.records[r].Ops {
		if c.Kind.IsRead() {
			continue
		}
		was, is := kv.Nil, c.Val
		if c.Kind != kv.Insert {
			was = bornValue + c.Key
		}
		if c.Kind == kv.Delete {
			is = kv.Nil
		}
		if !with {
			is = was
		}
		if o.Kind == kv.Read {
			if o.Key == c.Key {
				o.Val = is
			}
			continue
		}
		at := slices.IndexFunc(conditions, func(x *condition) bool { return x.name == o.Val })
		list := withoutPairs(o.List, map[kv.Value]bool{c.Key: true})
		if is != kv.Nil && (at == 0 || is%classes == kv.Value(at-1)) {
			list = append(list, c.Key, is)
		}
		o.List = list
	}
	return o
}

// rereads changes the reads of a key or a condition, before the record's own writes of it. of chooses among them by
// their number: nil: all.
func (w *world) reread(r int, k kv.Value, change func(n int, o kv.RecordOp) (kv.RecordOp, bool)) bool {
	n := 0
	for i, o := range w.records[r].Ops {
		if !o.Kind.IsRead() && o.Key == k {
			break
		}
		key := o.Key
		if o.Kind == kv.ReadPredicate {
			key = conditionKey(slices.IndexFunc(conditions, func(c *condition) bool { return c.name == o.Val }))
		}
		if !o.Kind.IsRead() || key != k {
			continue
		}
		is, ok := change(n, o)
		if !ok {
			return false
		}
		w.records[r].Ops[i] = is
		n++
	}
	return n > 0
}

// everywhere changes the reads of all others.
func (w *world) everywhere(but []int, change func(r *kv.Record, o kv.RecordOp) kv.RecordOp) {
	for r := range w.records {
		if w.records[r].Status != kv.OK || slices.Contains(but, r) {
			continue
		}
		for i, o := range w.records[r].Ops {
			if o.Kind.IsRead() {
				w.records[r].Ops[i] = change(&w.records[r], o)
			}
		}
	}
}

// commit lets a transaction commit that the server had ended. Of what it did only some stays, so that nothing but the
// lie is told. What it wrote comes behind `behind` in the order of the versions of each key, or before it.
func (w *world) commit(r int, keep func(o kv.RecordOp) bool) {
	w.records[r].Status = kv.OK
	w.records[r].Ops = slices.DeleteFunc(w.records[r].Ops, func(o kv.RecordOp) bool { return !keep(o) })
}

// insert makes visible what a transaction wrote of a key when it was let commit: next to what another one wrote, behind
// or before it, to all who see that; where nobody is named behind a version that was read.
func (w *world) insert(r int, k kv.Value, beside int, behind bool) {
	mine := w.writesOf(r, k)
	theirs := w.writesOf(beside, k)
	if len(mine) == 0 || len(theirs) == 0 {
		return
	}
	w.everywhere(nil, func(x *kv.Record, o kv.RecordOp) kv.RecordOp {
		switch {
		case o.Key != k:
		case o.Kind == kv.ReadList:
			at := slices.Index(o.List, theirs[0])
			if behind {
				at = slices.Index(o.List, theirs[len(theirs)-1]) + 1
			}
			if at > 0 || at == 0 && !behind {
				o.List = slices.Insert(slices.Clone(o.List), at, mine...)
			}
		case o.Kind == kv.Read && behind && o.Val == theirs[len(theirs)-1] && x != &w.records[r]:
			o.Val = mine[len(mine)-1]
		}
		return o
	})
}

// follow makes visible what a transaction wrote of a key when it was let commit, behind a version that another one
// read:
// to all who see more, and to those who begin when it has ended.
func (w *world) follow(r int, k kv.Value, read kv.RecordOp) {
	if w.kind == kv.Predicate {
		w.everywhere([]int{r}, func(x *kv.Record, o kv.RecordOp) kv.RecordOp {
			if x.Invoke > w.records[r].Return {
				return w.changed(r, k, o, true)
			}
			return o
		})
		return
	}
	mine := w.writesOf(r, k)
	if len(mine) == 0 {
		return
	}
	w.everywhere([]int{r}, func(x *kv.Record, o kv.RecordOp) kv.RecordOp {
		late := x.Invoke > w.records[r].Return
		switch {
		case o.Key != k:
		case o.Kind == kv.ReadList && (len(o.List) > len(read.List) || late && len(o.List) == len(read.List)):
			o.List = slices.Insert(slices.Clone(o.List), len(read.List), mine...)
		case o.Kind == kv.Read && o.Val == read.Val && late:
			o.Val = mine[len(mine)-1]
		}
		return o
	})
}

func (w *world) ok(r int) bool { return w.records[r].Status == kv.OK }

// firstRead is a record's first read of a key or a condition.
func (w *world) firstRead(r int, k kv.Value) (out kv.RecordOp, ok bool) {
	w.clone().reread(r, k, func(n int, o kv.RecordOp) (kv.RecordOp, bool) {
		if n == 0 {
			out, ok = o, true
		}
		return o, true
	})
	return out, ok
}

// plantG1a: a reads what b wrote, which is rolled back.
func plantG1a(w *world, a, b int, rng *rand.Rand) bool {
	k := shared(w.touched[a].reads, w.touched[b].undone, 1, rng)[0]
	mine := w.writesOf(b, k)
	return w.reread(a, k, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) {
		switch {
		case w.kind == kv.Predicate:
			return w.changed(b, k, o, true), true
		case w.kind == kv.ListAppend:
			o.List = append(slices.Clone(o.List), mine...)
		default:
			o.Val = mine[len(mine)-1]
		}
		return o, true
	})
}

// plantG1b: a reads the first of two versions of b.
func plantG1b(w *world, a, b int, rng *rand.Rand) bool {
	k := shared(w.touched[a].reads, w.touched[b].rewrites, 1, rng)[0]
	mine := w.writesOf(b, k)
	return w.reread(a, k, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) {
		if w.kind != kv.ListAppend {
			o.Val = mine[0]
			return o, true
		}
		if was, ok := w.before(b, k, o); ok {
			o.List = append(slices.Clone(was.List), mine[0])
			return o, true
		}
		return o, false
	})
}

// plantInternal: a reads a key twice, without and with what b wrote.
func plantInternal(w *world, a, b int, rng *rand.Rand) bool {
	k := shared(w.touched[a].rereads, w.touched[b].writes, 1, rng)[0]
	return w.reread(a, k, func(n int, o kv.RecordOp) (kv.RecordOp, bool) {
		if n == 0 {
			return w.before(b, k, o)
		}
		return w.after(b, k, o)
	})
}

// plantReadSkew: a reads one key without and one with what b wrote.
func plantReadSkew(w *world, a, b int, rng *rand.Rand) bool {
	keys := shared(w.touched[a].reads, w.touched[b].writes, 2, rng)
	return w.reread(a, keys[0], func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.before(b, keys[0], o) }) &&
		w.reread(a, keys[1], func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.after(b, keys[1], o) })
}

// plantLostUpdate: the second of two that update a key does not see the first one's update. Where the server had ended
// one of them, that is the second.
func plantLostUpdate(w *world, a, b int, rng *rand.Rand) bool {
	k := shared(w.touched[a].updates, w.touched[b].updates, 1, rng)[0]
	if !w.ok(a) {
		a, b = b, a
	}
	if !w.ok(a) {
		return false // the server ended both
	}
	if !w.ok(b) {
		read, ok := w.firstRead(a, k)
		if !ok {
			return false
		}
		w.commit(b, func(o kv.RecordOp) bool { return o.Key == k })
		ok = w.reread(b, k, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) {
			o.Val, o.List = read.Val, read.List
			return o, true
		})
		read, _ = w.firstRead(b, k)
		w.insert(b, k, a, true)
		return ok && w.reread(b, k, func(int, kv.RecordOp) (kv.RecordOp, bool) { return read, true })
	}
	if w.second(a, b, k) == a {
		a, b = b, a
	}
	return w.reread(b, k, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.before(a, k, o) })
}

// second tells which of two wrote a key later.
func (w *world) second(a, b int, k kv.Value) int {
	if w.kind == kv.ListAppend {
		all := w.versions(k)
		if slices.Index(all, w.writesOf(a, k)[0]) > slices.Index(all, w.writesOf(b, k)[0]) {
			return a
		}
		return b
	}
	if w.records[a].Return > w.records[b].Return {
		return a
	}
	return b
}

// plantWriteSkew: neither of two sees what the other one wrote.
func plantWriteSkew(w *world, a, b int, rng *rand.Rand) bool {
	if !w.ok(a) {
		a, b = b, a
	}
	if !w.ok(a) {
		return false
	}
	xs, ys := shared(w.touched[a].reads, w.touched[b].writes, 99, rng), shared(w.touched[b].reads, w.touched[a].writes,
		99, rng)
	x, y := kv.Nil, kv.Nil
	for _, p := range xs {
		for _, q := range ys {
			if p != q {
				x, y = p, q
			}
		}
	}
	if x == kv.Nil {
		return false
	}
	if w.ok(b) {
		return w.reread(a, x, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.before(b, x, o) }) &&
			w.reread(b, y, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.before(a, y, o) })
	}
	read, ok := w.firstRead(a, x)
	if !ok {
		return false
	}
	w.commit(b, func(o kv.RecordOp) bool {
		if w.kind == kv.Predicate {
			return true // whose rows nobody else changes
		}
		return o.Key == x && !o.Kind.IsRead() || o.Key == y && o.Kind.IsRead()
	})
	if !w.reread(b, y, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { return w.before(a, y, o) }) {
		return false
	}
	w.follow(b, x, read)
	return true
}

// plantG0: of two keys one has a's version first, the other one b's.
func plantG0(w *world, a, b int, rng *rand.Rand) bool {
	keys := shared(w.touched[a].writes, w.touched[b].writes, 2, rng)
	x, y := keys[0], keys[1]
	if !w.ok(a) {
		a, b = b, a
	}
	if !w.ok(a) {
		return false
	}
	if !w.ok(b) {
		w.commit(b, func(o kv.RecordOp) bool { return !o.Kind.IsRead() && (o.Key == x || o.Key == y) })
		w.insert(b, x, a, true)
		w.insert(b, y, a, false)
		return true
	}
	if w.kind == kv.ListAppend {
		all := w.versions(y)
		order := slices.Clone(all)
		mine, theirs := w.writesOf(a, y), w.writesOf(b, y)
		swapped := slices.Concat(theirs, mine)
		if slices.Index(all, theirs[0]) < slices.Index(all, mine[0]) {
			swapped = slices.Concat(mine, theirs)
		}
		for i, v := range order {
			if slices.Contains(mine, v) || slices.Contains(theirs, v) {
				order[i], swapped = swapped[0], swapped[1:]
			}
		}
		w.everywhere(nil, func(_ *kv.Record, o kv.RecordOp) kv.RecordOp {
			if o.Kind == kv.ReadList && o.Key == y {
				o.List = order[:len(o.List)]
			}
			return o
		})
		return true
	}
	if w.second(a, b, y) == a {
		a, b = b, a
	}
	first, ok1 := w.replaced(a, y)
	second, ok2 := w.replaced(b, y)
	mine, theirs := w.writesOf(a, y), w.writesOf(b, y)
	if !ok1 || !ok2 || second != mine[len(mine)-1] {
		return false // others came between, or nobody knows
	}
	swap := map[kv.Value]kv.Value{mine[len(mine)-1]: theirs[len(theirs)-1], theirs[len(theirs)-1]: mine[len(mine)-1]}
	w.everywhere([]int{a, b}, func(_ *kv.Record, o kv.RecordOp) kv.RecordOp {
		if is, ok := swap[o.Val]; ok && o.Kind == kv.Read && o.Key == y {
			o.Val = is
		}
		return o
	})
	set := func(r int, v kv.Value) {
		w.reread(r, y, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) { o.Val = v; return o, true })
	}
	set(a, theirs[len(theirs)-1])
	set(b, first)
	return true
}

// plantLost: what a wrote is gone, whoever reads afterwards.
func plantLost(w *world, a, _ int, _ *rand.Rand) bool {
	was, is := map[kv.Value]kv.Value{}, map[kv.Value]kv.Value{}
	for _, o := range w.records[a].Ops {
		if o.Kind.IsRead() {
			continue
		}
		if w.kind == kv.Register {
			before, ok := w.replaced(a, o.Key)
			if !ok {
				return false
			}
			was[o.Val] = before
		}
		is[o.Val] = o.Key
	}
	w.everywhere([]int{a}, func(_ *kv.Record, o kv.RecordOp) kv.RecordOp {
		switch {
		case w.kind == kv.Predicate:
			return w.changed(a, 0, o, false)
		case o.Kind == kv.ReadList:
			o.List = slices.DeleteFunc(slices.Clone(o.List), func(v kv.Value) bool { _, mine := is[v]; return mine })
		default:
			if before, mine := was[o.Val]; mine {
				o.Val = before
			}
		}
		return o
	})
	return true
}

// plantWrongTotal: a sees one half of b's transfer.
func plantWrongTotal(w *world, a, b int, rng *rand.Rand) bool {
	k := shared(w.touched[a].reads, w.touched[b].writes, 1, rng)[0]
	return w.reread(a, k, func(_ int, o kv.RecordOp) (kv.RecordOp, bool) {
		o.Val += w.writesOf(b, k)[0]
		return o, true
	})
}

// TestPlants: each way of planting makes a finding of an honest history, and only then there is one.
func TestPlants(t *testing.T) {
	for _, c := range []struct {
		kind model.Kind
		of   kv.Workload
		txns string
	}{
		{model.LostUpdate, kv.ListAppend, `1 ok 1-8: r 1 []; append 1 5
			2 ok 2-9: r 1 [5]; append 1 6
			0 ok 20-21: r 1 [5 6]`},
		{model.LostUpdate, kv.ListAppend, `1 ok 1-8: r 1 []; append 1 5
			2 fail 2-9: r 1 []; append 1 6
			0 ok 20-21: r 1 [5]`},
		{model.LostUpdate, kv.Register, `1 ok 1-8: r 1 nil; w 1 5
			2 ok 2-9: r 1 5; w 1 6
			0 ok 20-21: r 1 6`},
		{model.G2Item, kv.ListAppend, `1 ok 1-8: r 1 []; append 2 5
			2 ok 2-9: r 2 [5]; append 1 6
			0 ok 20-21: r 1 [6]; r 2 [5]`},
		{model.G2Item, kv.ListAppend, `1 ok 1-8: r 1 []; append 2 5
			2 fail 2-9: r 2 []; append 1 6
			0 ok 20-21: r 1 []; r 2 [5]`},
		{model.GSingleItem, kv.Register, `1 ok 1-8: r 1 nil; w 1 5; r 2 nil; w 2 6
			2 ok 2-9: r 1 5; r 2 6
			0 ok 20-21: r 1 5; r 2 6`},
		{model.Internal, kv.ListAppend, `1 ok 1-8: append 1 5
			2 ok 2-9: r 1 [5]; r 1 [5]
			0 ok 20-21: r 1 [5]`},
		{model.G1b, kv.ListAppend, `1 ok 1-8: append 1 5; append 1 6
			2 ok 2-9: r 1 []
			0 ok 20-21: r 1 [5 6]`},
		{model.G1a, kv.ListAppend, `1 fail 1-8: append 1 5; append 2 6
			2 ok 2-9: r 1 []
			0 ok 20-21: r 1 []; r 2 []`},
		{model.G0, kv.ListAppend, `1 ok 1-8: append 1 5; append 2 6
			2 ok 2-9: append 1 7; append 2 8
			0 ok 20-21: r 1 [5 7]; r 2 [6 8]`},
		{model.G0, kv.ListAppend, `1 ok 1-8: append 1 5; append 2 6
			2 fail 2-9: append 1 7; append 2 8
			0 ok 20-21: r 1 [5]; r 2 [6]`},
		{model.G2, kv.Predicate, `1 ok 1-8: rp mod#8#5; insert 3 11
			2 ok 2-9: rp mod#8#3 3=11; insert 5 13
			0 ok 20-21: rp true 3=11 5=13`},
		{KindLost, kv.ListAppend, `1 ok 1-8: append 1 5
			2 ok 2-9: r 1 [5]
			0 ok 20-21: r 1 [5]`},
		{KindLost, kv.Register, `1 ok 1-8: r 1 nil; w 1 5
			2 ok 2-9: r 2 nil
			0 ok 20-21: r 1 5`},
		{model.GSingle, kv.Predicate, `1 ok 1-8: insert 3 11; insert 5 13
			2 ok 2-9: rp mod#8#3 3=11; rp mod#8#5 5=13
			0 ok 20-21: rp true 3=11 5=13`},
	} {
		j := &judge{models: serializable, header: kv.Header{Workload: c.of}, asked: true}
		w := newWorld(j, inOrder([]*tape{parseTape(t, c.txns)}), promise{views: whole})
		if w.reported(t) {
			t.Errorf("%s: the honest history is reported: %s", c.kind, c.txns)
		}
		at := slices.IndexFunc(plants, func(p plant) bool { return p.kind == c.kind })
		p, skipped := worldsPower(t, []*world{w}, &plants[at], 5, rand.New(rand.NewPCG(1, 2)))
		if p.planted != 5 || p.reported != 5 {
			t.Errorf("%s: %d of %d, %d skipped: %s", c.kind, p.reported, p.planted, skipped, c.txns)
		}
	}
}
