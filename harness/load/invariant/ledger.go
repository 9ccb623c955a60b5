package invariant

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// ledger keeps who wrote each row of an epoch. A row holds the token of the transaction that wrote it last.
type ledger struct {
	mu     sync.Mutex
	writes map[int64][]written
	// status of each transaction, by token.
	status map[int64]kv.Status
}

// written is what a transaction left of a row; gone: nothing.
type written struct {
	token       int64
	gone        bool
	invoke, ret int64
}

func newLedger() *ledger {
	return &ledger{writes: map[int64][]written{}, status: map[int64]kv.Status{0: kv.OK}}
}

// born says that a row was there, or not, when the epoch began. Its token is 0.
func (l *ledger) born(key int64, there bool) {
	l.writes[key] = []written{{gone: !there, invoke: -1, ret: -1}}
}

// settles returns what a transaction is to leave of rows, by key whether the row is there; the ledger keeps that when
// the transaction has ended.
func (l *ledger) settles(t *txn) (left map[int64]bool) {
	left = map[int64]bool{}
	t.settle = func(s kv.Status) {
		if len(left) > 0 {
			t.meets(Lost)
		}
		l.settle(t, left, s)
	}
	return left
}

// settle takes note of what a transaction has left of rows.
func (l *ledger) settle(t *txn, left map[int64]bool, s kv.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status[t.token] = s
	for k, there := range left {
		w := written{token: t.token, gone: !there, invoke: t.result.Invoke, ret: t.result.Back}
		if s == kv.Info {
			w.ret = math.MaxInt64
		}
		l.writes[k] = append(l.writes[k], w)
	}
}

// judge holds what the rows show at the end, by key the token, against what was acknowledged. Writers of a row lock it
// to their end, so a write that began when whoever wrote what is shown had ended came later.
func (l *ledger) judge(table string, shown map[int64]int64) []Violation {
	l.mu.Lock()
	defer l.mu.Unlock()
	// One whose COMMIT was not answered has committed all that it wrote, if some of it is there.
	committed := func(token int64) bool { return l.status[token] == kv.OK }
	proven := map[int64]bool{}
	for _, token := range shown {
		proven[token] = l.status[token] == kv.Info
	}
	var out []Violation
	keys := map[int64]bool{}
	for k := range l.writes {
		keys[k] = true
	}
	for k := range shown {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		token, there := shown[k]
		writes := l.writes[k]
		last, explained := int64(-2), false
		for _, w := range writes {
			if l.status[w.token] != kv.Fail && w.gone == !there && (w.gone || w.token == token) {
				last, explained = max(last, w.ret), true
			}
		}
		if len(writes) == 0 {
			explained = !there
		}
		if there && !explained {
			kind, says := Kept, "was rolled back"
			if _, known := l.status[token]; !known || committed(token) {
				kind, says = Lost, "has not left it so"
			}
			out = append(out, violation(kind, []int64{k}, "row %d of table %s shows what transaction %d wrote, which %s",
				k, table, token, says))
			continue
		}
		for _, w := range writes {
			matches := w.gone == !there && (w.gone || w.token == token)
			if matches || w.invoke <= last || !committed(w.token) && !proven[w.token] {
				continue
			}
			kind, how := Lost, "was acknowledged"
			if proven[w.token] {
				kind, how = HalfDone, "has committed, as another row that it wrote shows"
			}
			did, is := "wrote", "the row is not there"
			if w.gone {
				did = "deleted"
			}
			if there {
				is = fmt.Sprintf("the row shows what transaction %d wrote", token)
			}
			out = append(out, violation(kind, []int64{k},
				"transaction %d %s row %d of table %s and %s, but %s, which came before",
				w.token, did, k, table, how, is))
			break
		}
	}
	return out
}
