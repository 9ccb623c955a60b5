package infer_test

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// A client of any database records what it did and asks what held.
func Example() {
	h := kv.NewHistory(kv.Header{Workload: kv.ListAppend}, nil)
	appends := func(session int64, key, val, other kv.Value) {
		h.Add(&kv.Record{Session: session, Status: kv.OK, Invoke: kv.Unknown, Return: kv.Unknown, Ops: []kv.RecordOp{
			{Kind: kv.ReadList, Key: other},
			{Kind: kv.Append, Key: key, Val: val},
		}})
	}
	appends(1, 10, 1, 20) // reads list 20, empty, and appends to 10
	appends(2, 20, 1, 10) // the other way round, at the same time
	res, err := infer.Check(h, infer.Options{Models: []model.Model{model.SnapshotIsolation, model.Serializable}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range []model.Model{model.SnapshotIsolation, model.Serializable} {
		fmt.Println(m, res.Verdicts[m])
	}
	for _, g := range res.Anomalies {
		fmt.Println(g.Kind, g.Count)
		for _, s := range g.Examples[0].Steps {
			fmt.Println("-", s)
		}
	}
	// Output:
	// snapshot-isolation holds
	// serializable fails
	// G2-item 1
	// - T1 < T2, because T1 read "r 20 []", the initial state of key 20, which T2 replaced by 1 (key 20).
	// - However, T2 < T1, because T2 read "r 10 []", the initial state of key 10, which T1 replaced by 1 (key 10): a contradiction.
}
