package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// read is a plain SELECT of a transaction.
type read struct {
	transaction string
	index       int // among the parts of the body
	text        string
	line        int
	column      int
	tables      string // those that it reads
}

// plainReads returns the SELECTs of tables without a lock.
func plainReads(t *workload.Transaction) []read {
	var out []read
	i := -1
	workload.Walk(t.Body, func(n *workload.Node) {
		i++
		if sel, ok := n.Stmt.(*ast.SelectStmt); ok && n.Kind == workload.Run && sel.LockInfo == nil && sel.From != nil {
			out = append(out, read{t.Name, i, n.SQL(), n.Place.Line, n.Place.Column, tablesText(n.Stmt)})
		}
	})
	return out
}

// tablesText names the tables of a statement.
func tablesText(n ast.Node) string {
	var names []string
	for _, t := range namesOfTables(n) {
		if !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	return listed(names, "and")
}

// listed is a list as a sentence has it.
func listed(list []string, word string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " " + word + " " + list[n]
	}
	return strings.Join(list, "")
}

// locking returns a copy of a transaction in which some reads are FOR UPDATE.
func locking(t *workload.Transaction, reads []read) *workload.Transaction {
	i := -1
	var change func(body []workload.Node) []workload.Node
	change = func(body []workload.Node) []workload.Node {
		body = slices.Clone(body)
		for k := range body {
			i++
			if slices.ContainsFunc(reads, func(r read) bool { return r.transaction == t.Name && r.index == i }) {
				sel := corpus.CloneStmt(body[k].Stmt).(*ast.SelectStmt)
				sel.LockInfo = &ast.SelectLockInfo{LockType: ast.SelectLockForUpdate}
				body[k].Stmt = sel
			}
			if body[k].Kind == workload.Repeat {
				body[k].Body = change(body[k].Body)
			}
		}
		return body
	}
	out := *t
	out.Body = change(t.Body)
	return &out
}

// enough is how many of the runs that look for an anomaly in vain would have shown it as
// it was found. If a tenth of it were left, three of them would, and that none does has a
// probability of e^-3, 5 % (the rule of three). What is rarer than a tenth may come
// another way, by which few parameters lead; the run of the mended workload looks for
// that, in all sets of transactions at once.
const enough = 30

// maxKept is how many inputs are kept that show the same. It is below enough: they are
// those that one campaign met, so new ones are always tried, too.
const maxKept = 20

// way is one in which an anomaly may be gone: some reads are FOR UPDATE, or the level is
// another one.
type way struct {
	reads []read
	level corpus.Level
}

// search tries ways one after the other, until one does not show the anomaly any more.
type search struct {
	ways []way // the first is being tried
	// runs is in how many runs it was looked for in vain in that way, shown how many of
	// these would have shown it as it was found.
	runs  int
	shown float64
	// aborted counts the runs in which the server took a transaction back.
	aborted int
	known   int // how many of the known inputs were tried
	draws   *rand.Rand
}

// witness is an input that showed an anomaly, in several orders.
type witness struct {
	tries []*mutate.Input
	again bool // it showed it again
}

// trial finds out what mends a finding, some runs at a time, so that a rare anomaly does
// not take the time of all others.
type trial struct {
	f         *Finding
	small     shown
	set       []*workload.Transaction
	witnesses []witness
	// rate is how many runs of a new input show the anomaly where nothing is mended.
	rate          float64
	mends, levels search
	// remains shows it with FOR UPDATE on every SELECT.
	remains *shown
}

// mend looks for the reads that must be FOR UPDATE: the fewest with which the anomaly
// is no longer seen, on inputs that showed it and on new ones; and for the weakest level
// at which it is not seen. What is proposed was tried as often as the anomaly is rare.
func (c *campaign) mend(f *Finding, small shown) error {
	if c.Tries <= 0 {
		return nil
	}
	t := &trial{f: f, small: small}
	var reads []read
	for _, name := range f.Transactions {
		t.set = append(t.set, c.w.Transaction(name))
		for _, r := range plainReads(c.w.Transaction(name)) {
			if !slices.Contains(reads, r) {
				reads = append(reads, r)
			}
		}
	}
	if !c.measure(t) {
		f.MendFailed = noTime
		return nil
	}
	c.mu.Lock()
	for _, l := range c.Levels {
		if l > f.level && c.cell(f.Transactions, l).Anomalies[f.Kind] == 0 {
			t.levels.ways = append(t.levels.ways, way{level: l})
		}
	}
	candidates := slices.Concat(c.likely(f), subsets(reads))
	c.mu.Unlock()
	for _, some := range candidates {
		t.mends.ways = append(t.mends.ways, way{some, f.level})
	}
	if len(reads) == 0 {
		f.MendFailed = "the transactions have no plain SELECT"
	}
	f.trial = t
	c.begin(t, &t.mends)
	c.begin(t, &t.levels)
	return c.proceed(t)
}

// help is which reads FOR UPDATE ended an anomaly of some transactions.
type help struct {
	transactions []string
	reads        []read
}

// likely returns what to try first: what helped with the same at another level, and all
// that helped where fewer of these transactions, or the same ones, went wrong. To try what
// does not help takes as many runs as the anomaly is rare, and sets of many transactions
// have many reads and rare anomalies. It needs the lock.
func (c *campaign) likely(f *Finding) [][]read {
	var out [][]read
	if h, ok := c.helped[f.cause()]; ok {
		out = append(out, h.reads)
	}
	var all []read
	for _, cause := range sortedKeys(c.helped) {
		if h := c.helped[cause]; within(h.transactions, f.Transactions) {
			for _, r := range h.reads {
				if !slices.Contains(all, r) {
					all = append(all, r)
				}
			}
		}
	}
	if len(all) > 0 && (len(out) == 0 || len(all) > len(out[0])) {
		out = append(out, all)
	}
	return out
}

const noTime = "there was no time to try it"

// untried says of a finding for which no read is known that none was tried.
func (f *Finding) untried() bool { return !f.Reduced || f.MendFailed == noTime }

// helpless says that reads FOR UPDATE were tried, or could not be, and that none helps.
func (f *Finding) helpless() bool {
	return f.Class == Isolation && !f.untried() && f.MendFailed != ""
}

// measure finds out how often an anomaly shows where nothing is mended: on the inputs
// that are kept, and on new ones. It is false if there was no time.
func (c *campaign) measure(t *trial) bool {
	f := t.f
	c.mu.Lock()
	cell := c.cell(f.Transactions, f.level)
	ever, runs, seen := cell.Anomalies[f.Kind] > 0, cell.drawn, cell.shown[f.Kind]
	inputs := slices.Clone(cell.kept[f.Kind])
	c.mu.Unlock()
	// The whole transactions, in the state and with the parameters of the reduced case.
	whole := &mutate.Input{State: t.small.in.State, Order: t.small.in.Order}
	for _, call := range t.small.in.Calls {
		call.Transaction, call.Known = c.w.Transaction(call.Transaction.Name), nil
		whole.Calls = append(whole.Calls, call)
	}
	if !ever { // more transactions showed it
		inputs = append(inputs, t.small.whole)
	}
	draws := c.draws()
	for _, in := range append(inputs, whole) {
		w := witness{tries: []*mutate.Input{in}}
		for range orders {
			w.tries = append(w.tries, in.Reorder(drawBytes(draws)))
		}
		again, _ := c.seenIn(w.tries, nil, f.Kind, f.level)
		w.again = again.seen != nil
		t.witnesses = append(t.witnesses, w)
	}
	if seen == 0 {
		for tried := 0; tried < c.Tries && seen == 0 && c.reduction.Err() == nil; tried += orders {
			again, n := c.seenIn(c.fresh(t.set, draws), nil, f.Kind, f.level)
			if runs += float64(n); again.seen != nil {
				seen = 1
			}
		}
	}
	t.rate = max(seen, 1) / max(runs, 1)
	return c.reduction.Err() == nil
}

func (c *campaign) draws() *rand.Rand { return rand.New(rand.NewPCG(c.Seed, 7)) }

func drawBytes(r *rand.Rand) []byte {
	out := make([]byte, inputLen)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// fresh returns a new input in as many orders as the cases have.
func (c *campaign) fresh(set []*workload.Transaction, draws *rand.Rand) []*mutate.Input {
	out := []*mutate.Input{mutate.Make(c.w, [][]*workload.Transaction{set}, drawBytes(draws))}
	for len(out) < orders {
		out = append(out, out[0].Reorder(drawBytes(draws)))
	}
	return out
}

// begin prepares a search for its first way.
func (c *campaign) begin(t *trial, s *search) {
	s.runs, s.shown, s.aborted, s.known, s.draws = 0, 0, 0, 0, c.draws()
	if len(s.ways) > 0 && s.ways[0].level != t.f.level {
		c.mu.Lock()
		cell := c.cell(t.f.Transactions, s.ways[0].level)
		s.runs, s.aborted = cell.Runs, cell.aborted
		c.mu.Unlock()
		s.shown = float64(s.runs) * t.rate
	}
}

func (c *campaign) done(t *trial, s *search) bool {
	return len(s.ways) == 0 || s.known == len(t.witnesses) && s.runs >= c.Tries && s.shown >= enough
}

// advance runs a search for about n more runs.
func (c *campaign) advance(t *trial, s *search, n int) {
	for n > 0 && !c.done(t, s) {
		inputs, w := []*mutate.Input(nil), (*witness)(nil)
		if s.known < len(t.witnesses) {
			w = &t.witnesses[s.known]
			inputs = w.tries
		} else {
			inputs = c.fresh(t.set, s.draws)
		}
		came, runs := c.seenIn(inputs, s.ways[0].reads, t.f.Kind, s.ways[0].level)
		if c.reduction.Err() != nil {
			return
		}
		n -= max(runs, 1)
		switch {
		case came.seen != nil:
			if s == &t.mends && len(s.ways) == 1 { // the last way is every SELECT
				t.remains = came.seen
			}
			s.ways = s.ways[1:]
			c.begin(t, s)
			continue
		case w == nil:
			s.shown += float64(runs) * t.rate
		default:
			s.known++
			if w.again { // all its orders are one witness: they have the same parameters
				s.shown++
			}
		}
		s.runs += runs
		s.aborted += came.aborted
	}
}

// needed is how many runs a way takes.
func (t *trial) needed(tries int) int {
	runs, shown := 0, 0.0
	for _, w := range t.witnesses {
		runs += len(w.tries)
		if w.again {
			shown++
		}
	}
	return max(tries, runs+int(math.Ceil(max(enough-shown, 0)/t.rate)))
}

// left is about how many runs are missing.
func (t *trial) left() float64 {
	n := 0.0
	for _, s := range []*search{&t.mends, &t.levels} {
		if len(s.ways) > 0 {
			rest := t.witnesses[s.known:]
			n += float64(len(rest)) + max(enough-s.shown-float64(len(rest)), 0)/t.rate
		}
	}
	return n
}

// proceed goes on with a trial, and puts it back if there is more to do.
func (c *campaign) proceed(t *trial) error {
	c.advance(t, &t.mends, c.Tries)
	c.advance(t, &t.levels, c.Tries)
	done := c.done(t, &t.mends) && c.done(t, &t.levels)
	c.mu.Lock()
	if len(t.mends.ways) > 0 {
		c.helped[t.f.cause()] = help{t.f.Transactions, t.mends.ways[0].reads}
	}
	if !done {
		c.trials = append(c.trials, t)
	}
	c.mu.Unlock()
	if !done {
		return nil
	}
	t.tell(c)
	if len(t.mends.ways) == 0 && t.remains != nil {
		if err := c.remaining(t.f, *t.remains); err != nil {
			return err
		}
	}
	return c.keep(t.f, t.small.in, t.small.outcome)
}

// tell says in the finding what came of a trial.
func (t *trial) tell(c *campaign) {
	f := t.f
	f.OneIn, f.NeededRuns = int(math.Round(1/t.rate)), t.needed(c.Tries)
	f.Mend, f.MayMend, f.Weakest, f.MayBeWeakest = nil, nil, "", ""
	if s := &t.levels; len(s.ways) > 0 && s.runs > 0 {
		f.WeakestRuns, f.WeakestAborts = s.runs, s.aborted
		if c.done(t, s) {
			f.Weakest = s.ways[0].level.Short()
		} else {
			f.MayBeWeakest = s.ways[0].level.Short()
		}
	}
	f.above = len(t.levels.ways) == 0 && c.Levels[len(c.Levels)-1] > f.level
	switch s := &t.mends; {
	case f.MendFailed != "":
	case len(s.ways) == 0:
		f.MendFailed = "with FOR UPDATE on every SELECT of these transactions it is seen, too"
	case s.runs == 0:
		f.MendFailed = noTime
	default:
		f.MendRuns, f.MendAborts, f.reads = s.runs, s.aborted, s.ways[0].reads
		texts := &f.MayMend
		if c.done(t, s) {
			texts = &f.Mend
		}
		for _, r := range f.reads {
			*texts = append(*texts, r.String())
		}
	}
}

// came is what came of runs that look for an anomaly.
type came struct {
	seen    *shown // the run that shows it, nil if none does
	aborted int    // in how many the server took a transaction back
}

// seenIn looks for a kind of anomaly in some inputs with the same state and calls, with some
// reads FOR UPDATE, until a run shows it, and returns after how many runs.
func (c *campaign) seenIn(inputs []*mutate.Input, reads []read, kind Kind, level corpus.Level) (out came, runs int) {
	var refs *serials
	for _, in := range inputs {
		x := *in
		x.Calls = slices.Clone(in.Calls)
		for i := range x.Calls {
			x.Calls[i].Transaction = locking(x.Calls[i].Transaction, reads)
		}
		if refs == nil {
			refs = c.stage.serials(&x, level)
		}
		o, err := c.stage.Run(c.reduction, &x, level)
		if err != nil || o.Calls == nil || len(o.Before) > 0 {
			continue
		}
		a, err := refs.judge(c.reduction, o)
		if err != nil {
			continue
		}
		runs++
		if o.aborted() {
			out.aborted++
		}
		if a != nil && a.kind == kind && check(o).Outcome != oracle.Violation {
			out.seen = &shown{in: &x, outcome: o, found: a}
			return out, runs
		}
	}
	return out, runs
}

// subsets returns single reads, then pairs, then all.
func subsets(reads []read) [][]read {
	var out [][]read
	for i := range reads {
		out = append(out, reads[i:i+1])
	}
	for i := range reads {
		for j := i + 1; j < len(reads) && len(reads) > 2; j++ {
			out = append(out, []read{reads[i], reads[j]})
		}
	}
	if len(reads) > 1 {
		out = append(out, reads)
	}
	return out
}

// String tells which read is meant and what becomes of it.
func (r read) String() string {
	return fmt.Sprintf("line %d, %s: %s FOR UPDATE", r.line, r.transaction, r.text)
}
