package load

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// stage is where programs of one workload run: a table of its own, and connections that stay. One goroutine uses it.
type stage struct {
	r       *run
	j       *judge
	members []*member // all connections made so far
	next    kv.Value  // the first key that no execution had
	batches int
	pace    time.Duration // of one execution, as the last batch was
	beside  bystanders    // those of the program that was run last
	txn     atomic.Int64  // nanoseconds that a transaction took lately
}

// member is a client of a stage, which belongs to another group in each batch.
type member struct {
	*client
	executions []int // beside the transactions of its tape
	err        error
}

// openStage prepares the table of a workload for programs. Its close must be called.
func openStage(ctx context.Context, b harness.Backend, s Settings) (*stage, error) {
	s.History, s.Live, s.Faults = nil, nil, nil
	r, err := newRun(ctx, b, s)
	if err != nil {
		return nil, err
	}
	st := &stage{r: r, next: 1}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(err, st.close())
	}
	if st.j, err = newJudge(r); err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

func (st *stage) close() error {
	for _, m := range st.members {
		m.session.close()
	}
	err := st.r.drop()
	st.r.control.close()
	st.r.endLife()
	return err
}

// member returns connection i, which is made when it is first asked for.
func (st *stage) member(i int) *member {
	for len(st.members) <= i {
		n := len(st.members)
		r := st.r
		st.members = append(st.members, &member{client: &client{
			run: r, number: n, process: int64(readerSession + 1 + n),
			session: &session{
				dial: r.clientDial(n, r.dial), timeout: r.settings.Timeout, opening: r.control.opening,
				setup: r.dialect.begin(r.settings.Level, r.database),
			},
			chooser: chooser{
				rand: mathrand.New(mathrand.NewPCG(r.settings.Seed, uint64(n))),
				last: kv.Value(n), step: mostMembers,
			},
		}})
	}
	return st.members[i]
}

// mostMembers bounds the connections of a stage.
const mostMembers = 64

// groups is how many executions of a program run at a time. Values are told apart by the number of the member.
func (st *stage) groups(p *Program) int {
	return max(1, min(16, st.r.settings.Clients/len(p.clients), mostMembers/len(p.clients)))
}

// tried is what came of some executions.
type tried struct {
	Rate
	transactions int64
	undecided    int64
	others       map[string]int64 // executions that show another kind which is forbidden, too
	// The first that shows what is looked for.
	says    []string
	example []kv.Record
}

func (t *tried) add(u tried) {
	t.Shown += u.Shown
	t.Of += u.Of
	t.Seconds += u.Seconds
	t.transactions += u.transactions
	t.undecided += u.undecided
	for k, n := range u.others {
		if t.others == nil {
			t.others = map[string]int64{}
		}
		t.others[k] += n
	}
	if t.example == nil {
		t.example, t.says = u.example, u.says
	}
}

// batchTime is how long a batch should take, mostBatch how many executions it has at most.
const (
	batchTime = 500 * time.Millisecond
	mostBatch = 4000
)

// batch runs a program some times, at most most, and judges each execution. If the context ends it judges what was run.
func (st *stage) batch(ctx context.Context, p *Program, most int64) (tried, error) {
	began := time.Now()
	n := 64
	if st.pace > 0 {
		n = int(batchTime / st.pace)
	}
	n = int(max(1, min(int64(n), most, mostBatch)))
	kind := st.r.workload.kind()
	if kind == kv.Predicate {
		n = min(n, st.r.workload.size().transactions)
	}
	stride := p.stride(kind)
	if kind != kv.Bank {
		r := residue(kind)
		st.next = (st.next + r - 1) / r * r
	}
	groups := min(st.groups(p), n)
	size := groups * len(p.clients)
	e := &epoch{number: st.batches, ended: make(chan struct{}), keys: newKeys(st.next, n*int(stride), 1, 1<<30)}
	e.keys.next.Store(int64(st.next) + int64(n)*int64(stride))
	for range size + 1 {
		e.tapes = append(e.tapes, &tape{})
	}
	if err := st.fill(e); err != nil {
		return tried{}, err
	}
	st.batches++
	st.next += kv.Value(n) * stride

	if err := st.stand(p); err != nil {
		return tried{}, err
	}
	done, err := st.perform(ctx, p, e, groups, n, stride)
	if err != nil {
		return tried{}, err
	}
	if err := st.finish(e); err != nil {
		return tried{}, err
	}
	out := tried{Rate: Rate{Of: int64(done)}}
	for _, t := range e.tapes[:size] {
		out.transactions += int64(len(t.txns))
	}
	if err := st.judge(p, e, done, stride, &out); err != nil {
		return tried{}, err
	}
	took := time.Since(began)
	out.Seconds = took.Seconds()
	st.pace = took / time.Duration(max(1, done))
	return out, nil
}

// stand opens the transactions of as many bystanders as a program has.
func (st *stage) stand(p *Program) error {
	if n := min(p.Bystanders, len(st.r.beside.sessions)); n != len(st.beside.sessions) {
		if err := st.beside.end(); err != nil {
			return err
		}
		st.beside = st.r.beside.first(n)
	}
	return st.beside.renew(st.r)
}

// fill loads the rows of a batch; the accounts of a bank are there for each execution.
func (st *stage) fill(e *epoch) error {
	r := st.r
	if r.operations() {
		return r.fillByOperations(e, true)
	}
	if r.workload.kind() != kv.Bank {
		return r.begin(e)
	}
	const most = 500 // rows a statement
	last := e.keys.last()
	for k := e.keys.first; k <= last; {
		b := []byte("INSERT INTO account (k, balance) VALUES ")
		for i := 0; i < most && k <= last; i, k = i+1, k+1 {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "(%d,%d)", k, balance)
		}
		if err := r.persist(func(s *session) error { return s.exec(string(b)) }); err != nil {
			return fmt.Errorf("load the accounts of a batch: %w", err)
		}
	}
	discard := fmt.Sprintf("DELETE FROM account WHERE k < %d", e.keys.first)
	if err := r.persist(func(s *session) error { return s.exec(discard) }); err != nil {
		return fmt.Errorf("delete the accounts of earlier batches: %w", err)
	}
	return nil
}

// finish reads all keys of a batch, when its clients have stopped.
func (st *stage) finish(e *epoch) error {
	if st.r.workload.kind() != kv.Bank {
		return st.r.finish(e)
	}
	return st.r.finishWith(e, step{kind: kv.Read, whole: true, key: e.keys.first, val: e.keys.last()})
}

// gate lets the clients of a group go at the same moment, or tells all of them to stop.
type gate struct {
	mu      sync.Mutex
	size    int
	waiting int
	open    chan struct{}
	going   bool
	stop    func() bool
}

func newGate(size int, stop func() bool) *gate {
	return &gate{size: size, open: make(chan struct{}), stop: stop}
}

// pass waits for the others; false: the last one that came found that it is time to stop.
func (g *gate) pass() bool {
	g.mu.Lock()
	if g.waiting++; g.waiting == g.size {
		g.waiting, g.going = 0, !g.stop()
		close(g.open)
		g.open = make(chan struct{})
		defer g.mu.Unlock()
		return g.going
	}
	open := g.open
	g.mu.Unlock()
	<-open
	// Nobody comes to the next gate before everybody has left this one and arrived there.
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.going
}

// perform runs the executions of a batch, several at a time, and tells how many were begun, which are the first ones
// of each group.
func (st *stage) perform(ctx context.Context, p *Program, e *epoch, groups, n int, stride kv.Value) (done int,
	err error) {
	var failed atomic.Bool
	var wait sync.WaitGroup
	stop := func() bool { return failed.Load() || ctx.Err() != nil }
	var begun atomic.Int64
	for g := range groups {
		gate := newGate(len(p.clients), stop)
		for i, txns := range p.clients {
			at := g*len(p.clients) + i
			m := st.member(at)
			m.executions, m.err = m.executions[:0], nil
			wait.Add(1)
			go func() {
				defer wait.Done()
				for x := g; x < n; x += groups {
					// A connection that was lost is made anew before the others wait at the gate.
					if m.session.conn == nil && m.err == nil {
						if m.err = m.session.untilConnected(ctx, st.r.patience()); m.err != nil {
							failed.Store(true)
						}
					}
					if !gate.pass() {
						return
					}
					if i == 0 {
						begun.Add(1)
					}
					if m.err = m.execute(st, e.tapes[at], txns, x, e.keys.first+kv.Value(x)*stride, stride); m.err != nil {
						failed.Store(true)
					}
				}
			}()
		}
	}
	wait.Wait()
	for _, m := range st.members {
		if m.err != nil && ctx.Err() == nil {
			return 0, fmt.Errorf("client %d: %w", m.number, m.err)
		}
		m.err = nil
	}
	return int(begun.Load()), nil
}

// execute runs the transactions of one client in one execution. In every second one the client begins a little later,
// up to the time of a transaction: which of two comes first, and by how much, is left to chance.
func (m *member) execute(st *stage, t *tape, txns []programTxn, number int, first, stride kv.Value) error {
	if m.chooser.rand.IntN(2) == 0 {
		if typical := st.txn.Load(); typical > 0 {
			time.Sleep(time.Duration(m.chooser.rand.Int64N(typical)))
		}
	}
	for _, x := range txns {
		m.plan = plan{steps: m.plan.steps[:0], opening: openingOf(x.opening), save: -1, back: -1}
		if x.save > 0 {
			m.plan.save, m.plan.back = x.save, x.back
		}
		m.chooser.several = m.chooser.several[:0]
		for _, s := range x.steps {
			m.plan.steps = append(m.plan.steps, m.placed(s, first, stride))
		}
		end := "COMMIT"
		switch {
		case x.opening == OpenAutocommit:
			end = ""
		case x.rolledBack:
			end = "ROLLBACK"
		}
		began := time.Now()
		if err := m.perform(t, end); err != nil {
			return err
		}
		for len(m.executions) < len(t.txns) { // what was rolled back to a savepoint stands as a transaction of its own
			m.executions = append(m.executions, number)
		}
		took := int64(time.Since(began))
		old := st.txn.Load()
		st.txn.Store(old + (took-old)/16)
		if m.session.conn == nil {
			return nil // the rest of this execution is left out
		}
	}
	return nil
}

// placed gives a step of a program its keys and values.
func (m *member) placed(s step, first, stride kv.Value) step {
	kind := m.run.workload.kind()
	if kind == kv.Bank {
		first-- // accounts are numbered from 1
	}
	s.key += first
	from := len(m.chooser.several)
	for _, k := range s.also {
		m.chooser.several = append(m.chooser.several, k+first)
	}
	s.also = slices.Clip(m.chooser.several[from:])
	switch {
	case s.kind == kv.ReadPredicate:
		s.key, s.val = first, first+stride-1
	case s.whole:
		s.val += first
	case s.kind == kv.Append || s.kind == kv.Write || s.kind == kv.Insert:
		v := m.chooser.value()
		if kind == kv.Predicate {
			v = v*classes + s.val%classes
		}
		s.val = v
	}
	return s
}

// judge checks each execution by itself, as a load's epoch is checked. Where all of them together show nothing none
// does, which is found out in one check.
func (st *stage) judge(p *Program, e *epoch, done int, stride kv.Value, out *tried) error {
	as := promise{views: whole}
	if !st.j.asked {
		as = st.j.promise
	}
	kind := st.r.workload.kind()
	events := inOrder(e.tapes)
	if done == 0 {
		return nil
	}
	reader := e.reader()
	final := event{reader, &reader.txns[len(reader.txns)-1]}
	if (kind == kv.ListAppend || kind == kv.Register) && p.Shows != KindLost {
		result, err := st.j.check(st.j.pieces(events, as), st.j.models, reduceConflicts)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(st.j.models, func(m model.Model) bool { return result.Verdicts[m] != infer.Holds }) {
			return nil
		}
	}
	numbers := map[*recorded]int{}
	for i, m := range st.members[:len(e.tapes)-1] {
		for x := range m.executions {
			numbers[&e.tapes[i].txns[x]] = m.executions[x]
		}
	}
	of := make(map[int][]event, done)
	for _, x := range events {
		if number, ok := numbers[x.recorded]; ok {
			of[number] = append(of[number], x)
		}
	}
	for number, own := range of {
		first := e.keys.first + kv.Value(number)*stride
		last := within(final, first, first+stride-1)
		all := own
		if len(reader.txns) > 1 { // what was there at first
			all = append([]event{within(event{reader, &reader.txns[0]}, first, first+stride-1)}, own...)
		}
		if err := st.judgeOne(p, append(all, last), last, as, out); err != nil {
			return err
		}
	}
	return nil
}

// within leaves of a transaction what it did to the keys of a range.
func within(e event, first, last kv.Value) event {
	t := &tape{}
	for i, o := range e.ops() {
		switch {
		case o.Kind == kv.ReadPredicate:
			var list []kv.Value
			for at := 0; at+1 < len(o.List); at += 2 {
				if first <= o.List[at] && o.List[at] <= last {
					list = append(list, o.List[at], o.List[at+1])
				}
			}
			o.List = list
		case o.Key < first || o.Key > last:
			continue
		}
		t.ops, t.how = append(t.ops, o), append(t.how, e.how()[i])
	}
	r := *e.recorded
	r.from, r.to = 0, len(t.ops)
	return event{t, &r}
}

// judgeOne checks one execution and counts what it shows.
func (st *stage) judgeOne(p *Program, events []event, final event, as promise, out *tried) error {
	j := st.j
	kinds := map[string][]string{}
	if says := st.lostOf(events, final); says != "" {
		kinds[KindLost] = []string{says}
	}
	records := j.pieces(events, as)
	result, err := j.check(records, j.models, reduceConflicts)
	if err != nil {
		return err
	}
	undecided := false
	for _, m := range j.models {
		undecided = undecided || result.Verdicts[m] == infer.Undecided
	}
	for _, g := range result.Anomalies {
		if _, bad := j.forbids(g.Kind); bad {
			kinds[string(g.Kind)] = nil
			if len(g.Examples) > 0 {
				kinds[string(g.Kind)] = g.Examples[0].Steps
			}
		}
	}
	if m, fails := j.failsUnnamed(result); fails {
		kinds[string(model.Unorderable)] = []string{"no order of the writes satisfies " + string(m)}
	}
	if says, ok := kinds[p.Shows]; ok {
		out.Shown++
		if out.example == nil {
			out.example, out.says = cloneRecords(records), says
		}
		return nil
	}
	if undecided {
		out.undecided++
	}
	for k := range kinds {
		if out.others == nil {
			out.others = map[string]int64{}
		}
		out.others[k]++
	}
	return nil
}

// lostOf tells what was acknowledged in an execution and is missing in the read after the batch; empty: nothing.
func (st *stage) lostOf(events []event, final event) string {
	kind := st.r.workload.kind()
	if kind == kv.Bank {
		before, after := map[kv.Value]kv.Value{}, map[kv.Value]kv.Value{}
		for _, o := range final.ops() {
			before[o.Key], after[o.Key] = balance, o.Val
		}
		says, _, _ := lostTransfers(events, nil, before, after)
		return says
	}
	if found := lost(kind, events, final); len(found) > 0 {
		return found[0].Says
	}
	return ""
}

func cloneRecords(records []kv.Record) []kv.Record {
	out := slices.Clone(records)
	for i := range out {
		out[i].Ops = slices.Clone(out[i].Ops)
	}
	return out
}
