package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// opportunity is a shape of two transactions that overlap in time in which an anomaly could have come about.
type opportunity struct {
	kind model.Kind
	// workloads are those whose histories would show it.
	workloads []kv.Workload
	// says completes "transactions that".
	says string
	// met tells whether a had the opportunity beside b.
	met func(a, b *touched) bool
}

var (
	ofKeys   = []kv.Workload{kv.ListAppend, kv.Register, kv.Mixed}
	ofRows   = []kv.Workload{kv.Predicate, kv.Mixed}
	ofEither = []kv.Workload{kv.ListAppend, kv.Register, kv.Predicate, kv.Mixed}
	ofBanks  = []kv.Workload{kv.Bank}
)

// opportunities are the smallest shapes of the anomalies that have one. Where a server has to end one of two
// transactions to keep its promise, the one that it ended counts.
var opportunities = []opportunity{
	{model.G0, ofKeys, "wrote two keys that another one wrote, too",
		func(a, b *touched) bool { return a.ends && b.ends && common(a.writes, b.writes, 2) }},
	{model.G1a, ofEither, "read what another one wrote that was rolled back",
		func(a, b *touched) bool { return a.committed && common(a.reads, b.undone, 1) }},
	{model.G1b, ofKeys, "read a key that another one wrote twice",
		func(a, b *touched) bool { return a.committed && b.ends && common(a.reads, b.rewrites, 1) }},
	{model.Internal, ofKeys, "read a key twice that another one wrote",
		func(a, b *touched) bool { return a.committed && b.committed && common(a.rereads, b.writes, 1) }},
	{model.LostUpdate, ofKeys, "read and then wrote a key as another one did",
		func(a, b *touched) bool { return a.ends && b.ends && common(a.updates, b.updates, 1) }},
	{model.GSingleItem, ofKeys, "read two keys that another one wrote", skewed},
	{model.GSingle, ofRows, "read two conditions or rows that another one changed", skewed},
	{model.G2Item, ofKeys, "read a key that another one wrote, and wrote a key that this one read", crossed},
	{model.G2, ofRows, "read a condition or a row that another one changed, and changed what this one read", crossed},
	{model.WrongTotal, ofBanks, "read both accounts of another one's transfer", skewed},
}

// skewed is the shape of a read skew.
func skewed(a, b *touched) bool { return a.committed && b.committed && common(a.reads, b.writes, 2) }

// crossed is the shape of a write skew.
func crossed(a, b *touched) bool {
	if !a.ends || !b.ends {
		return false
	}
	for _, x := range a.reads {
		if !slices.Contains(b.writes, x) {
			continue
		}
		for _, y := range b.reads {
			if y != x && slices.Contains(a.writes, y) {
				return true
			}
		}
	}
	return false
}

// common tells whether two lists, each without doubles, share n elements.
func common(a, b []kv.Value, n int) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			if n--; n == 0 {
				return true
			}
		}
	}
	return false
}

// touched is what a transaction did, by key; a condition counts as a key of its own, which is below zero.
type touched struct {
	txn         int // several pieces can be of one
	from, until int64
	// committed, or ends: it was committed, or would have been if the server had let it.
	committed, ends bool
	// reads are before the transaction's own writes, updates follow a read. rereads and rewrites were read and written
	// more than once; undone were written, but not to stay.
	reads, rereads, writes, rewrites, updates, undone []kv.Value
	met                                               uint // by the number of an opportunity
}

func touchedBy(r *kv.Record, planned, ofPredicates bool) *touched {
	t := &touched{from: r.Invoke, until: r.Return, committed: r.Status == kv.OK, ends: r.Status != kv.Info && !planned}
	read := func(k kv.Value) {
		switch {
		case slices.Contains(t.writes, k):
		case slices.Contains(t.reads, k):
			t.rereads = with(t.rereads, k)
		default:
			t.reads = append(t.reads, k)
		}
	}
	write := func(k kv.Value) {
		if slices.Contains(t.reads, k) {
			t.updates = with(t.updates, k)
		}
		if slices.Contains(t.writes, k) {
			t.rewrites = with(t.rewrites, k)
		}
		t.writes = with(t.writes, k)
	}
	for i, o := range r.Ops {
		if i == len(r.Ops)-1 && r.Status == kv.Fail && !planned {
			t.undone = slices.Clone(t.writes) // what comes last may be what has failed
		}
		switch o.Kind {
		case kv.Read, kv.ReadList:
			read(o.Key)
		case kv.ReadPredicate:
			if !ofPredicates { // the rows that it showed, at least
				for j := 0; j+1 < len(o.List); j += 2 {
					read(o.List[j])
				}
				continue
			}
			read(conditionKey(slices.IndexFunc(conditions, func(c *condition) bool { return c.name == o.Val })))
		case kv.Append, kv.Delta:
			write(o.Key)
		case kv.Insert, kv.Write, kv.Delete:
			write(o.Key)
			if !ofPredicates {
				continue
			}
			if o.Kind != kv.Delete {
				write(classKey(o.Val))
			}
			if o.Kind != kv.Insert {
				write(classKey(bornValue + o.Key))
			}
		}
	}
	if planned {
		t.undone = t.writes
	}
	return t
}

// conditionKey stands for one of the conditions, classKey for that which a value meets.
func conditionKey(i int) kv.Value  { return -1 - kv.Value(i) }
func classKey(v kv.Value) kv.Value { return conditionKey(1 + int(v%classes)) }

func with(list []kv.Value, k kv.Value) []kv.Value {
	if slices.Contains(list, k) {
		return list
	}
	return append(list, k)
}

// meetings counts, by the number of an opportunity, the transactions that had it.
type meetings struct {
	transactions int
	met          [32]int
}

// meet counts the opportunities of an epoch, in the pieces that are promised to be atomic. Transactions without a known
// outcome count for nothing.
func meet(kind kv.Workload, events []event, as promise) (m meetings) {
	var all []*touched
	f := fragments{promise: as}
	for i, e := range events {
		f.split(e, func(r kv.Record) {
			if r.Status != kv.Info {
				t := touchedBy(&r, e.planned, kind == kv.Predicate)
				t.txn = i
				all = append(all, t)
				if e.session != readerSession {
					m.transactions++
				}
			}
		})
	}
	slices.SortStableFunc(all, func(a, b *touched) int { return cmp.Compare(a.from, b.from) })
	var open []*touched
	for _, t := range all {
		open = slices.DeleteFunc(open, func(o *touched) bool { return o.until <= t.from })
		for _, o := range open {
			for i := range opportunities {
				if o.txn == t.txn || !slices.Contains(opportunities[i].workloads, kind) {
					continue
				}
				t.meet(i, o)
				o.meet(i, t)
			}
		}
		open = append(open, t)
	}
	for _, t := range all {
		for i := range opportunities {
			m.met[i] += int(t.met >> i & 1)
		}
	}
	return m
}

func (t *touched) meet(i int, other *touched) {
	if t.met>>i&1 == 0 && opportunities[i].met(t, other) {
		t.met |= 1 << i
	}
}

func (m *meetings) add(n meetings) {
	m.transactions += n.transactions
	for i := range m.met {
		m.met[i] += n.met[i]
	}
}

// Exclusion is what a run says that did not find an anomaly.
type Exclusion struct {
	// Kind of anomaly, as of a Finding.
	Kind string `json:"kind"`
	// Of Transactions, or the pieces that are promised to be atomic, Opportunities had an opportunity, which Met tells:
	// "transactions that …". Of kills both are their number.
	Transactions  int    `json:"transactions"`
	Opportunities int    `json:"opportunities"`
	Met           string `json:"met"`
	// Split says that they are such pieces: a level promises less of whole transactions.
	Split bool `json:"pieces,omitempty"`
	// OneIn says that the anomaly comes in fewer than one of so many opportunities, at 95 %: a third of them, since n
	// trials with a chance of 3/n each show nothing once in twenty times (the rule of three). Of n only the share counts
	// that Power tells. 0: too few to say anything.
	OneIn int `json:"one_in"`
	// Power is the share of such anomalies, planted into recorded histories, that were reported; nil: nobody has measured
	// it, and OneIn takes it for 1.
	Power *float64 `json:"power,omitempty"`
}

// kills are opportunities of their own.
const kills = "kills"

func exclusion(kind, met string, of, n int) Exclusion {
	x := Exclusion{Kind: kind, Transactions: of, Opportunities: n, Met: met}
	if oneIn := n / 3; oneIn > 1 {
		x.OneIn = oneIn
	}
	return x
}

// excluded lists what was looked for, had an opportunity, and was not found. The lock of j is held.
func (j *judge) excluded() []Exclusion {
	found := func(k string) bool {
		return slices.ContainsFunc(j.findings, func(f Finding) bool {
			return f.Kind == k || f.Kind == string(model.Unorderable)
		})
	}
	if j.run.invariant != nil {
		return j.excludedViolations(found)
	}
	var out []Exclusion
	v := whole
	switch {
	case j.asked:
	case j.run.cluster.takesWritesEverywhere():
		v = j.run.cluster.promise.views
	default:
		v = j.promise.views
	}
	for i, o := range opportunities {
		_, bad := j.forbids(o.kind)
		if bad && slices.Contains(o.workloads, j.header.Workload) && !found(string(o.kind)) {
			x := exclusion(string(o.kind), o.says, j.meetings.transactions, j.meetings.met[i])
			x.Split = v != whole
			x.weigh(j.run.settings.Workload, v, j.models)
			out = append(out, x)
		}
	}
	if found(KindLost) {
		return out
	}
	n := 0
	for _, f := range j.faults {
		if f.Kind.ends() {
			n++
		}
	}
	if n > 0 {
		return append(out, exclusion(KindLost, kills, n, n))
	}
	x := exclusion(KindLost, "wrote and were acknowledged", j.sent, j.wrote)
	x.weigh(j.run.settings.Workload, v, j.models)
	return append(out, x)
}

// String tells it to people.
func (x Exclusion) String() string {
	of := fmt.Sprintf("%d transactions, of which %d %s", x.Transactions, x.Opportunities, x.Met)
	switch {
	case x.Met == kills:
		of = fmt.Sprintf("%d kills", x.Opportunities)
	case x.Split:
		of = fmt.Sprintf("%d pieces of transactions, of which %d %s", x.Transactions, x.Opportunities, x.Met)
	}
	said := fmt.Sprintf("no %s in %s: rates above 1 in %d are excluded at 95 %%", x.Kind, of, x.OneIn)
	if x.Power != nil && *x.Power < 1 {
		said += fmt.Sprintf(" (%.0f %% of them would be reported)", math.Floor(100**x.Power))
	}
	return said
}

// writeExclusions tells what a run excludes, a line each, and what it does not in one.
func writeExclusions(b *strings.Builder, all []Exclusion) {
	var few []string
	for _, x := range all {
		if x.OneIn == 0 {
			few = append(few, fmt.Sprintf("%s (%d)", x.Kind, x.Opportunities))
			continue
		}
		b.WriteString(x.String() + "\n")
	}
	if len(few) > 0 {
		fmt.Fprintf(b, "too few opportunities to exclude anything: %s\n", strings.Join(few, ", "))
	}
}
