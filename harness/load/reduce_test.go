package load

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

func checked(t testing.TB, w kv.Workload, records []kv.Record, m model.Model) *infer.Result {
	t.Helper()
	j := judge{header: kv.Header{Workload: w}}
	r, err := j.check(records, []model.Model{m}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A lost update is hidden among transactions that follow one another; what is left
// must be the two of it, whatever their surroundings.
func TestReduceToTheSmallest(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var records []kv.Record
		lists := map[kv.Value][]kv.Value{}
		next := kv.Value(0)
		add := func(ops ...kv.RecordOp) {
			records = append(records, kv.Record{Session: int64(len(records)), Invoke: int64(2 * len(records)), Return: int64(2*len(records) + 1), Ops: ops})
		}
		read := func(k kv.Value) kv.RecordOp {
			return kv.RecordOp{Kind: kv.ReadList, Key: k, List: append([]kv.Value(nil), lists[k]...)}
		}
		write := func(k kv.Value) kv.RecordOp {
			next++
			lists[k] = append(lists[k], next)
			return kv.RecordOp{Kind: kv.Append, Key: k, Val: next}
		}
		for i := range 200 {
			a, b := kv.Value(1+random.IntN(5)), kv.Value(6+random.IntN(5))
			if i == 100 { // both read key 1 before either appends to it
				first, second := read(1), read(1)
				add(first, write(1))
				add(second, write(1))
			}
			add(read(a), write(a), write(b))
		}
		for k := kv.Value(1); k <= 10; k++ {
			add(read(k))
		}
		if checked(t, kv.ListAppend, records, model.Serializable).Verdicts[model.Serializable] != infer.Fails {
			t.Fatal("the lost update is not seen at all")
		}
		r := reducer{kind: kv.ListAppend, until: time.Now().Add(time.Minute), shows: func(rs []kv.Record) bool {
			return checked(t, kv.ListAppend, rs, model.Serializable).Verdicts[model.Serializable] == infer.Fails
		}}
		got := r.reduce(records)
		var spelled []string
		for _, x := range got {
			spelled = append(spelled, spellRecord(x))
		}
		// Two that read nothing and append, and one that shows the order.
		if len(got) > 3 {
			t.Errorf("seed %d: %d transactions are left: %q", seed, len(got), spelled)
		}
		if !r.shows(got) {
			t.Errorf("seed %d: what is left shows nothing: %q", seed, spelled)
		}
	}
}

// Whatever is left out of a history without anomalies, the rest has none: reduction
// makes nothing up.
func TestReductionMakesNothingUp(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		records := serialHistory(random)
		r := reducer{kind: kv.ListAppend}
		for range 20 {
			less := r.without(records, func(int) bool { return random.IntN(3) == 0 })
			if len(less) == 0 {
				continue
			}
			if got := checked(t, kv.ListAppend, less, model.StrictSerializable); got.Verdicts[model.StrictSerializable] == infer.Fails {
				t.Fatalf("seed %d: %+v", seed, got.Anomalies)
			}
		}
	}
}

// serialHistory runs list-append transactions one after another.
func serialHistory(random *rand.Rand) []kv.Record {
	lists := map[kv.Value][]kv.Value{}
	var out []kv.Record
	for i := range 30 {
		var ops []kv.RecordOp
		for range 1 + random.IntN(3) {
			k := kv.Value(random.IntN(4))
			if random.IntN(2) == 0 {
				ops = append(ops, kv.RecordOp{Kind: kv.ReadList, Key: k, List: append([]kv.Value(nil), lists[k]...)})
				continue
			}
			v := kv.Value(10*i + len(ops) + 1)
			lists[k] = append(lists[k], v)
			ops = append(ops, kv.RecordOp{Kind: kv.Append, Key: k, Val: v})
		}
		out = append(out, kv.Record{Session: int64(i % 3), Invoke: int64(2 * i), Return: int64(2*i + 1), Ops: ops})
	}
	return out
}

func TestReduceOperations(t *testing.T) {
	tp := parseTape(t, `1 ok 1-4: r 1 []; r 7 []; append 2 1
		2 ok 2-5: r 2 []; append 3 8; append 1 2
		0 ok 8-9: r 1 [2]; r 2 [1]; r 3 [8]`)
	var records []kv.Record
	for i := range tp.txns {
		records = append(records, event{tp, &tp.txns[i]}.record())
	}
	r := reducer{kind: kv.ListAppend, until: time.Now().Add(time.Minute), shows: func(rs []kv.Record) bool {
		return checked(t, kv.ListAppend, rs, model.Serializable).Verdicts[model.Serializable] == infer.Fails
	}}
	got := r.reduce(records)
	if len(got) != 2 || spellRecord(got[0]) != "r 1 []; append 2 1" || spellRecord(got[1]) != "r 2 []; append 1 2" {
		t.Errorf("left: %+v", got)
	}
}
