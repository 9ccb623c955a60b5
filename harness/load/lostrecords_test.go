package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// TestLostAgain: what is saved of a loss shows the same loss by itself, and nothing else that would be wrong.
func TestLostAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kv.Workload
		txns string
		left int
	}{
		{"append", kv.ListAppend, `1 ok 1-2: append 1 5; append 2 9
			2 ok 3-4: r 1 [5]; append 1 6; append 1 7
			3 ok 4-5: r 1 [5 6 7]; append 1 8
			0 ok 8-9: r 1 [5 6 8]; r 2 [9]`, 2},
		{"append, the whole key", kv.ListAppend, `1 ok 1-2: append 1 5
			0 ok 8-9: r 1 []`, 2},
		{"register", kv.Register, `1 ok 1-2: r 1 nil; w 1 5
			2 ok 3-4: r 1 5; w 1 6
			3 ok 5-6: r 1 6; w 1 7
			4 fail 5-6: w 1 8
			0 ok 8-9: r 1 6; r 2 nil`, 3},
		{"register, nothing left", kv.Register, `1 ok 1-2: r 1 nil; w 1 5
			2 ok 3-4: r 1 5; w 1 6
			0 ok 8-9: r 1 nil; r 2 nil`, 2},
		{"predicate, an insert", kv.Predicate, `0 ok 0-0: init 2 5
			1 ok 1-2: insert 1 6; rp true 1=6 2=5
			0 ok 8-9: rp true 2=5`, 2},
		{"predicate, a deletion", kv.Predicate, `0 ok 0-0: init 2 5; init 4 7
			1 ok 1-2: delete 2
			2 ok 3-4: rp true 4=7
			0 ok 8-9: rp true 2=5 4=7`, 3},
		{"mixed", kv.Mixed, `0 ok 0-0: init 1 5; init 2 5
			1 ok 1-2: r 1 5; w 1 6
			2 ok 3-4: r 1 6; w 1 7; w 2 9
			0 ok 8-9: r 1 6; versions 1 [5 6]; r 2 9; versions 2 [5 9]`, 4},
		{"bank", kv.Bank, `1 ok 1-2: delta 1 -5; delta 2 5
			2 ok 1-2: r 1 100; r 2 100
			3 info 1-2: delta 1 -1; delta 2 1
			0 ok 8-9: r 1 99; r 2 101`, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			tp := parseTape(t, c.txns)
			var events []event
			for i := range tp.txns {
				events = append(events, event{tp, &tp.txns[i]})
			}
			final := events[len(events)-1]
			header := kv.Header{Workload: c.kind, FinalRead: true}
			var want string
			var records []kv.Record
			if c.kind == kv.Bank {
				before := map[kv.Value]kv.Value{1: 100, 2: 100}
				want, _, _ = lostTransfers(events, nil, before, balances(final))
				records = transferRecords(events, nil, before, final)
			} else if l := lost(c.kind, events, final); len(l) > 0 {
				want, records = l[0].Says, l[0].records(c.kind, events)
			}
			if want == "" || len(records) != c.left {
				t.Fatalf("%q is lost; %d records: %v", want, len(records), records)
			}
			file := filepath.Join(t.TempDir(), "x.jsonl")
			if err := writeHistory(file, header, records); err != nil {
				t.Fatal(err)
			}
			h := reread(t, file)
			if says := LostIn(h); !slices.Equal(says, []string{want}) {
				t.Errorf("%q, want %q", says, want)
			}
			r, err := infer.Check(h, infer.Options{Models: []model.Model{model.Serializable}, Examples: 1})
			if err != nil || len(r.Anomalies) > 0 {
				t.Errorf("%v: %+v", err, r)
			}
		})
	}
}

func reread(t *testing.T, file string) *kv.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := kv.ReadJSONLines(file, f)
	if err != nil {
		t.Fatal(err)
	}
	h, err := kv.Load(file, src)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestWrongTotalKeepsAccounts: what is left of a transaction that read a wrong total are all accounts that it read.
func TestWrongTotalKeepsAccounts(t *testing.T) {
	total := int64(accounts * balance)
	j := &judge{header: kv.Header{Workload: kv.Bank, Total: &total, NegativeBalances: true}}
	read := func(session int64, first kv.Value, n int) kv.Record {
		r := kv.Record{Session: session, Invoke: session, Return: session + 1}
		for k := range kv.Value(n) {
			r.Ops = append(r.Ops, kv.RecordOp{Kind: kv.Read, Key: 1 + k, Val: balance})
		}
		r.Ops[0].Val = first
		return r
	}
	records := []kv.Record{read(1, balance, accounts), read(2, balance-4, accounts), read(3, balance, accounts/2)}
	smaller, says := j.reduce(Finding{Kind: string(model.WrongTotal), Model: model.Serializable}, records)
	if len(smaller) != 1 || len(smaller[0].Ops) != accounts || !strings.Contains(strings.Join(says, " "), "7996") {
		t.Errorf("%v: %q", smaller, says)
	}
}
