package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// metIn returns how often each opportunity was there, as "kind n", in the order of their names.
func metIn(m meetings) string {
	var out []string
	for i, o := range opportunities {
		if m.met[i] > 0 {
			out = append(out, fmt.Sprintf("%s %d", o.kind, m.met[i]))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestOpportunities(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kv.Workload
		txns string
		want string
	}{
		{"they do not overlap", kv.Register, `1 ok 1-2: r 1 nil; w 1 5
			2 ok 2-3: r 1 5; w 1 6`, ""},
		{"both update a key", kv.Register, `1 ok 1-4: r 1 nil; w 1 5
			2 ok 2-6: r 1 5; w 1 6`, "lost-update 2"},
		{"the server ends one of them", kv.Register, `1 ok 1-4: r 1 nil; w 1 5
			2 fail 2-6: r 1 nil; w 1 6`, "lost-update 2"},
		{"a blind write is no update", kv.Register, `1 ok 1-4: r 1 nil; w 1 5
			2 ok 2-6: w 1 6`, ""},
		{"what is written is read afterwards", kv.Register, `1 ok 1-4: w 1 5; r 1 5
			2 ok 2-6: w 1 6`, ""},
		{"an unknown end counts for nothing", kv.Register, `1 ok 1-4: r 1 nil; w 1 5
			2 info 2-6: r 1 nil; w 1 6`, ""},
		{"write skew", kv.Register, `1 ok 1-4: r 1 nil; w 2 5
			2 ok 2-6: r 2 nil; w 1 6`, "G2-item 2"},
		{"read skew, three readers", kv.ListAppend, `1 ok 1-9: append 1 5; append 2 6
			2 ok 2-6: r 1 []; r 2 [6]
			3 ok 3-6: r 2 []; r 1 [5]
			4 ok 4-6: r 1 []; r 3 []`, "G-single-item 2"},
		{"a key that is read twice", kv.ListAppend, `1 ok 1-9: append 1 5
			2 ok 2-6: r 1 []; r 1 [5]`, "internal 1"},
		{"a key that is written twice", kv.ListAppend, `1 ok 1-9: append 1 5; append 1 6
			2 ok 2-6: r 1 [5]`, "G1b 1"},
		{"two keys that both write", kv.ListAppend, `1 ok 1-9: append 1 5; append 2 6
			2 ok 2-6: append 2 7; append 1 8`, "G0 2"},
		{"what is undone; the last write is what has failed", kv.ListAppend, `1 fail 1-9: append 1 5; append 2 6
			2 ok 2-6: r 1 []
			3 ok 2-6: r 2 []`, "G1a 1"},
		{"a transfer among what is read", kv.Bank, `1 ok 1-9: delta 1 -5; delta 2 5
			2 ok 2-6: r 1 1000; r 2 1000; r 3 1000
			3 ok 2-6: r 1 1000; r 3 1000`, "wrong-total 1"},
		{"conditions that a row leaves and comes into", kv.Predicate, `1 ok 1-9: w 2 11
			2 ok 2-6: rp mod#8#2; rp mod#8#3
			3 ok 2-6: rp mod#8#2; rp mod#8#4`, "G-single 1"},
		{"conditions of rows that come and go", kv.Predicate, `1 ok 1-9: rp mod#8#1; insert 3 13
			2 ok 2-6: rp mod#8#5; insert 5 17
			3 ok 2-6: rp mod#8#5; delete 4`, "G2 2"},
	} {
		tp := parseTape(t, c.txns)
		m := meet(c.kind, inOrder([]*tape{tp}), promise{views: whole})
		if got := metIn(m); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A transaction that its client rolls back ends no other one's, but what it wrote must not be seen.
func TestOpportunitiesOfPlannedRollbacks(t *testing.T) {
	tp := parseTape(t, `1 ok 1-9: r 1 nil; w 1 5
		2 fail 2-6: r 1 nil; w 1 6`)
	tp.txns[1].planned = true
	if got := metIn(meet(kv.Register, inOrder([]*tape{tp}), promise{views: whole})); got != "G1a 1" {
		t.Errorf("%q", got)
	}
}

// TestOpportunitiesOfPieces: a level that reads a snapshot and writes the newest rows promises nothing of an update
// behind a plain SELECT. The pieces of one transaction do not meet each other.
func TestOpportunitiesOfPieces(t *testing.T) {
	tp := parseTape(t, `1 ok 1-9: r 1 nil; r 2 nil; w 1 5; w 2 6
		2 ok 2-6: r 1 nil; r! 2 nil; w 1 7; w 2 8`)
	for views, want := range map[views]string{
		whole:          "G0 2, G-single-item 2, G2-item 2, lost-update 2",
		perTransaction: "G0 2, G-single-item 1",
		perStatement:   "G0 2",
	} {
		m := meet(kv.Register, inOrder([]*tape{tp}), promise{views: views, gaps: true})
		got := strings.Split(metIn(m), ", ")
		slices.Sort(got)
		wanted := strings.Split(want, ", ")
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("views %d: %v, want %v", views, got, wanted)
		}
	}
}

// TestWeighedExclusion: opportunities count as far as what goes wrong in them would be reported, if that is known.
func TestWeighedExclusion(t *testing.T) {
	if share, ok := powerOf("wrong-total", "bank", perStatement); !ok || share <= 0 || share >= 1 {
		t.Fatalf("there is no share to weigh with: %v", share)
	}
	for _, c := range []struct {
		kind, workload string
		views          views
		models         []model.Model
		share          string // of 1
		says           string
	}{
		{"lost-update", "append", whole, serializable, "1.00", "rates above 1 in 1000 are excluded at 95 %"},
		{"lost-update", "append", whole, unmixed, "", "rates above 1 in 1000 are excluded at 95 %"},
		{"lost-update", "none", whole, serializable, "", "rates above 1 in 1000 are excluded at 95 %"},
		{"wrong-total", "bank", perStatement, serializable, "0.41",
			"rates above 1 in 412 are excluded at 95 % (41 % of them would be reported)"},
	} {
		x := exclusion(c.kind, "met", 9999, 3000)
		x.weigh(c.workload, c.views, c.models)
		share := ""
		if x.Power != nil {
			share = fmt.Sprintf("%.2f", *x.Power)
		}
		if share != c.share || !strings.HasSuffix(x.String(), c.says) {
			t.Errorf("%s %s: share %q, %q", c.kind, c.workload, share, x)
		}
	}
	x := exclusion("wrong-total", "met", 9, 9)
	if x.weigh("bank", perStatement, serializable); x.OneIn != 0 {
		t.Errorf("nine opportunities of which a third count exclude 1 in %d", x.OneIn)
	}
}

func TestExclusion(t *testing.T) {
	for n, want := range map[int]int{0: 0, 5: 0, 6: 2, 3000: 1000} {
		if got := exclusion("G0", "", 9999, n).OneIn; got != want {
			t.Errorf("%d opportunities exclude 1 in %d, want %d", n, got, want)
		}
	}
}
