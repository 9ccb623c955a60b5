package load

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// The last transaction of each case is the read of all keys at the end.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kv.Workload
		txns string
		want string // a part of what is said; empty: nothing is lost
	}{
		{"an append that is there", kv.ListAppend, `1 ok 1-2: append 1 5
			0 ok 8-9: r 1 [5]`, ""},
		{"an append that is not", kv.ListAppend, `1 ok 1-2: append 1 5; append 1 6
			0 ok 8-9: r 1 [5]`, "append of 6 to key 1"},
		{"the whole key is gone", kv.ListAppend, `1 ok 1-2: append 1 5
			0 ok 8-9: r 2 []`, "append of 5 to key 1"},
		{"unknown and failed ones may be missing", kv.ListAppend, `1 info 1-2: append 1 5
			2 fail 1-2: append 1 6
			0 ok 8-9: r 1 []`, ""},
		{"the last write is there", kv.Register, `1 ok 1-2: w 1 5
			2 ok 3-4: w 1 6
			0 ok 8-9: r 1 6`, ""},
		{"an earlier one is there", kv.Register, `1 ok 1-2: w 1 5
			2 ok 3-4: w 1 6
			0 ok 8-9: r 1 5`, "write of 6 to key 1"},
		{"of two at the same time either may be last", kv.Register, `1 ok 1-4: w 1 5
			2 ok 3-6: w 1 6
			0 ok 8-9: r 1 5`, ""},
		{"one of unknown end may be last", kv.Register, `1 info 1-2: w 1 5
			2 ok 3-4: w 1 6
			0 ok 8-9: r 1 5`, ""},
		{"the first write is gone", kv.Register, `2 ok 3-4: w 1 6
			0 ok 8-9: r 1 nil`, "write of 6 to key 1"},
		{"of several writes of one transaction the last counts", kv.Register, `1 ok 1-2: w 1 5; w 1 6
			0 ok 8-9: r 1 6`, ""},
		{"a deletion that is there", kv.Predicate, `1 ok 1-2: insert 1 5
			2 ok 3-4: delete 1
			0 ok 8-9: rp true`, ""},
		{"a deletion that is lost", kv.Predicate, `1 ok 1-2: insert 1 5
			2 ok 3-4: delete 1
			0 ok 8-9: rp true 1=5`, "deletion of key 1"},
		{"an insert that is lost", kv.Predicate, `1 ok 1-2: insert 1 5
			0 ok 8-9: rp true 2=5`, "write of 5 to key 1"},
		{"a deletion of unknown end may have taken it", kv.Predicate, `1 ok 1-2: insert 1 5
			2 info 1-2: delete 1
			0 ok 8-9: rp true`, ""},
	} {
		tp := parseTape(t, c.txns)
		var events []event
		for i := range tp.txns {
			events = append(events, event{tp, &tp.txns[i]})
		}
		got := lost(c.kind, events, events[len(events)-1])
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %s", c.name, got[0].Says)
		case c.want != "" && (len(got) != 1 || !strings.Contains(got[0].Says, c.want)):
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestLostTransfers(t *testing.T) {
	before := map[kv.Value]kv.Value{1: 100, 2: 100, 3: 100}
	late := []transfer{{1: -7, 3: 7}}
	for _, c := range []struct {
		name, txns, after string
		lost              bool
	}{
		{"all there", "1 ok 1-2: delta 1 -5; delta 2 5", "r 1 95; r 2 105; r 3 100", false},
		{"one lost", "1 ok 1-2: delta 1 -5; delta 2 5", "r 1 100; r 2 100; r 3 100", true},
		{"half of one", "1 ok 1-2: delta 1 -5; delta 2 5", "r 1 95; r 2 100; r 3 100", true},
		{"a failed one", "1 fail 1-2: delta 1 -5; delta 2 5", "r 1 95; r 2 105; r 3 100", true},
		{"an unknown one, done", "1 info 1-2: delta 1 -5; delta 2 5", "r 1 95; r 2 105; r 3 100", false},
		{"an unknown one, not done", "1 info 1-2: delta 1 -5; delta 2 5", "r 1 100; r 2 100; r 3 100", false},
		{"an unknown one, half", "1 info 1-2: delta 1 -5; delta 2 5", "r 1 95; r 2 100; r 3 100", true},
		{"a late one of the epoch before", "1 ok 1-2: delta 1 -5; delta 2 5", "r 1 88; r 2 105; r 3 107", false},
	} {
		tp := parseTape(t, c.txns)
		after := map[kv.Value]kv.Value{}
		for _, text := range strings.Split(c.after, "; ") {
			o, _ := parseOp(t, text)
			after[o.Key] = o.Val
		}
		says, _, undecided := lostTransfers([]event{{tp, &tp.txns[0]}}, late, before, after)
		if (says != "") != c.lost || undecided {
			t.Errorf("%s: %q, undecided %v", c.name, says, undecided)
		}
	}
	many := strings.Repeat("1 info 1-2: delta 1 -5; delta 2 5\n", mostUnknown+1)
	tp := parseTape(t, many)
	var events []event
	for i := range tp.txns {
		events = append(events, event{tp, &tp.txns[i]})
	}
	if _, _, undecided := lostTransfers(events, nil, before, before); !undecided {
		t.Error("more unknown outcomes than can be tried are decided")
	}
}

// Whatever some of the transfers add up to is reached, and a single unit more is not.
func TestReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := make([]transfer, rapid.IntRange(0, 12).Draw(t, "transfers"))
		missing := map[kv.Value]kv.Value{}
		for i := range all {
			from := kv.Value(rapid.IntRange(1, 4).Draw(t, "from"))
			to := 1 + (from+kv.Value(rapid.IntRange(0, 2).Draw(t, "to")))%4
			n := kv.Value(2 * rapid.IntRange(1, 50).Draw(t, "amount"))
			all[i] = transfer{}
			all[i][from] -= n
			all[i][to] += n
			if rapid.Bool().Draw(t, "done") {
				missing[from] -= n
				missing[to] += n
			}
		}
		if !reaches(missing, all) {
			t.Errorf("%v is not reached by some of %v", missing, all)
		}
		missing[1]++
		if reaches(missing, all) {
			t.Errorf("%v, which is odd, is reached by some of %v, all even", missing, all)
		}
	})
}

// The most that are decided take no longer than an epoch does.
func BenchmarkReaches(b *testing.B) {
	all := make([]transfer, mostUnknown)
	for i := range all {
		all[i] = transfer{kv.Value(i % 8): -1 - kv.Value(i), kv.Value((i + 1) % 8): 1 + kv.Value(i)}
	}
	for b.Loop() {
		if reaches(map[kv.Value]kv.Value{1: 1000000}, all) {
			b.Fatal("a million is reached")
		}
	}
}
