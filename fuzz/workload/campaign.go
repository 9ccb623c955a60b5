package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// SettingError says that a workload and the settings do not go together.
type SettingError struct{ Msg string }

func (e *SettingError) Error() string { return e.Msg }

// campaign is a run of many inputs.
type campaign struct {
	Settings
	w     *workload.Workload
	stage *Stage
	// smallest are the sets of Min transactions, larger those of more; dangerous are in
	// one of these, too.
	smallest, larger, dangerous ring
	// mends says that the workload is a mended one.
	mends bool
	begun time.Time
	// reduction outlives the cases by a little: endReduction ends it.
	reduction    context.Context
	endReduction context.CancelFunc
	casesDone    sync.Once
	casesTook    time.Duration

	mu     sync.Mutex
	next   int
	cells  map[string]*Cell
	order  []string
	known  map[string]*Finding
	helped map[string]help  // by cause
	small  map[string]shown // by cause: what it was reduced to at some level
	// calls counts those of each transaction, ran in how many each statement ran.
	calls  map[string]int
	ran    map[workload.Place]int
	report *Report
	failed error
	// queue holds what is explained when the cases have run, trials what was begun;
	// explained counts what was taken from the queue.
	queue     []*pending
	trials    []*trial
	explained int
	// finished counts those of them whose explanation was not cut off.
	finished int
	// choices counts how often a trial and a finding could come next.
	choices int
	// explainSince is when explaining begins, explainUntil when the time for it ends.
	explainSince, explainUntil time.Time
}

// reductionTime is what may be spent on findings when the cases have run, by default; half
// of what those took is, if that is more.
const reductionTime = 30 * time.Second

// boundReduction gives the reduction of findings its time. What is not done by then stays
// as it was found.
func (c *campaign) boundReduction() {
	c.casesTook = time.Since(c.begun)
	c.explainSince = time.Now()
	d := c.Explain
	if d <= 0 {
		d = max(reductionTime, c.casesTook/2)
	}
	c.explainUntil = time.Now().Add(d)
	if c.Tries > 0 {
		d = d * 3 / 4 // the mended workload has the rest: see allotted
	}
	end := time.AfterFunc(d, c.endReduction)
	context.AfterFunc(c.reduction, func() { end.Stop() })
}

// allotted is the time for explaining of which so much is for making findings small and
// trying FOR UPDATE.
func (c *campaign) allotted(d time.Duration) time.Duration {
	if c.Tries > 0 {
		d = d * 4 / 3
	}
	return d
}

// Run tests a workload on a backend. With an error that ends it early there may be a
// report of what was found until then.
func Run(ctx context.Context, w *workload.Workload, b harness.Backend, s Settings) (report *Report, err error) {
	if err := s.Fit(w); err != nil {
		return nil, err
	}
	if len(s.Levels) == 0 {
		s.Levels = harness.LevelsOf(b)
	}
	for _, l := range s.Levels {
		if !slices.Contains(harness.LevelsOf(b), l) {
			return nil, &SettingError{fmt.Sprintf("%s has no level %s", s.Target, l)}
		}
	}
	c := newCampaign(w, s, nil, filepath.Base(w.File))
	c.addSets()
	if len(c.smallest.sets)+len(c.larger.sets) == 0 {
		which := "no transactions of the workload"
		if len(s.Only) > 0 {
			which = "no transactions that --only names"
		}
		return nil, &SettingError{which + " touch what another one writes"}
	}
	pool, err := harness.NewPool(ctx, b, harness.PoolOptions{Workers: s.Workers})
	if err != nil {
		return nil, fmt.Errorf("prepare target %s: %w", s.Target, err)
	}
	defer func() {
		if e := pool.Leave(); e != nil && err == nil {
			err = e
		}
	}()
	c.stage, c.report.ServerVersion = NewStage(w, pool), pool.Server().Version
	c.addDangerous(firstWins(pool.Server()))
	if err := c.stage.checkInvariants(ctx, slices.Concat(c.smallest.sets, c.larger.sets), s.Levels[0]); err != nil {
		return nil, err
	}
	if err := c.stage.checkStatements(ctx, c.taking(), s.Levels[0]); err != nil {
		return nil, err
	}
	c.begun = time.Now()
	timed := ctx
	if s.Duration > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(ctx, s.Duration)
		defer cancel()
	}
	c.reduction, c.endReduction = context.WithCancel(ctx)
	defer c.endReduction()
	err = c.work(timed)
	c.finish()
	if err == nil && ctx.Err() == nil && c.report.Cases == 0 && len(c.report.Findings) == 0 {
		return c.report, &SettingError{"no transactions ran against each other, so nothing was tested" + c.whyRejected()}
	}
	if err = errors.Join(err, c.failed); err != nil {
		return c.report, err
	}
	return c.report, c.mended(ctx)
}

func newCampaign(w *workload.Workload, s Settings, stage *Stage, name string) *campaign {
	c := &campaign{Settings: s, w: w, stage: stage, begun: time.Now(), cells: map[string]*Cell{}, known: map[string]*Finding{}, helped: map[string]help{}, small: map[string]shown{}, calls: map[string]int{}, ran: map[workload.Place]int{}}
	c.report = &Report{
		Workload: name, Target: s.Target, Seed: s.Seed,
		Rejected: map[string]int{}, Unknown: map[string]int{}, Verdicts: map[oracle.Outcome]int{}, Findings: []*Finding{}, NotRun: [][]string{}, Apart: [][]string{}, HardlyRun: []string{}, proposes: s.Tries > 0,
	}
	for _, l := range s.Levels {
		c.report.Levels = append(c.report.Levels, l.Short())
	}
	return c
}

// taking returns the transactions that take part.
func (c *campaign) taking() []*workload.Transaction {
	return slices.DeleteFunc(slices.Clone(c.w.Transactions), func(t *workload.Transaction) bool {
		return len(c.Only) > 0 && !slices.Contains(c.Only, t.Name)
	})
}

// work runs inputs until the time is up or all cases were run.
func (c *campaign) work(ctx context.Context) error {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	if c.Progress != nil && c.Every > 0 {
		go c.tell(stop)
	}
	for range max(c.Workers, 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				var explain func() error
				i, ok := c.take(ctx)
				if !ok {
					c.casesDone.Do(c.boundReduction)
					if explain = c.due(); explain == nil {
						return
					}
				}
				var err error
				if explain != nil {
					err = explain()
				} else if err = c.input(ctx, i); ctx.Err() != nil {
					err = nil
				}
				c.mu.Lock()
				c.failed = errors.Join(c.failed, err)
				c.mu.Unlock()
			}
		}()
	}
	wg.Wait()
	close(stop)
	err := c.failed
	c.failed = nil
	return err
}

func (c *campaign) take(ctx context.Context) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil || c.failed != nil || c.Cases > 0 && c.report.Cases >= c.Cases {
		return 0, false
	}
	c.next++
	return c.next - 1, true
}

func (c *campaign) tell(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(c.Every):
			c.mu.Lock()
			fmt.Fprintf(c.Progress, "%.0f s: %s\n", time.Since(c.begun).Seconds(), c.progress())
			c.mu.Unlock()
		}
	}
}

// progress counts what only grows: when the cases have run, findings become one.
func (c *campaign) progress() string {
	if c.explained > 0 {
		return fmt.Sprintf("%d of %s explained", c.explained, spelling.Count(c.explained+len(c.queue), "finding"))
	}
	return fmt.Sprintf("%s, %s", spelling.Count(c.report.Cases, "case"), spelling.Count(len(c.report.Findings), "finding"))
}

// bytes returns those of the i-th input.
func (c *campaign) bytes(i, part int) []byte {
	r := rand.New(rand.NewPCG(c.Seed, uint64(i)<<8|uint64(part)))
	out := make([]byte, inputLen)
	for k := range out {
		out[k] = byte(r.Uint32())
	}
	return out
}

// maxRejected is how many inputs in a row may be refused before the workload is at
// fault.
const maxRejected = 200

// input runs one input: its calls in every serial order, then each of several orders of
// its statements at one level, and at the other levels, too, if that shows something. Most
// inputs show nothing in any order, so that many inputs are worth more than many runs of
// one; and what a schedule shows at a level it mostly shows at the neighbours.
func (c *campaign) input(ctx context.Context, i int) error {
	t := c.turn(i)
	in := mutate.Make(c.w, [][]*workload.Transaction{t.set}, c.bytes(i, 0))
	refs := c.stage.serials(in, c.Levels[len(c.Levels)-1])
	runs, err := refs.of(ctx, all(in))
	if why, ok := rejected(err); ok {
		return c.reject(why, "")
	} else if err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Serial += len(runs)
	c.mu.Unlock()
	for _, s := range runs {
		if err := misspelt(c.w, serially(in, s.order).Calls, s.outcome); err != nil {
			return err
		}
		if len(s.outcome.Before) > 0 {
			b := s.outcome.Before[0]
			return c.reject("invariant "+b.Invariant.Name+" does not hold in the beginning", fmt.Sprintf(" (line %d; in the last one its SELECT gives %s)", b.Invariant.Place.Line, orNothing(b.Answer)))
		}
		// What a server does wrong with one transaction after the other is not to be laid
		// at the application's door, nor to be what others are compared with.
		if v := check(s.outcome); v.Outcome == oracle.Violation {
			return c.serverFinding(s.outcome, serially(in, s.order), c.Levels[len(c.Levels)-1], &v)
		}
		for _, b := range s.outcome.Broken {
			if err := c.applicationBug(in, s, b); err != nil {
				return err
			}
		}
	}
	orders, at, stands := t.orders, t.before*t.orders, 1.0
	if !meet(runs) {
		orders, at, stands = 1, 0, float64(t.orders)/float64(len(t.levels))
		c.mu.Lock()
		for _, level := range t.levels[1:] {
			c.cell(namesOf(in), level).drawn += stands
		}
		c.mu.Unlock()
	}
	for k := range orders {
		x := in
		if k > 0 {
			x = in.Reorder(c.bytes(i, k))
		}
		first := t.levels[(at+k)%len(t.levels)]
		shown, err := c.concurrent(ctx, x, refs, first, stands)
		for _, level := range t.levels {
			if shown && level != first && err == nil {
				_, err = c.concurrent(ctx, x, refs, level, 0)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whyRejected says why most of the states could not be used, and what helps.
func (c *campaign) whyRejected() string {
	most, all := "", 0
	for why, n := range c.report.Rejected {
		if all += n; most == "" || n > c.report.Rejected[most] || n == c.report.Rejected[most] && why < most {
			most = why
		}
	}
	if all == 0 {
		return ": give it more time"
	}
	return fmt.Sprintf(": %d states were made and %d of them cannot be used, since %s; \"rows\" and \"sample\" say which states to make", all, c.report.Rejected[most], most)
}

// rejected tells a state that the server refuses.
func rejected(err error) (string, bool) {
	var init *harness.InitError
	if errors.As(err, &init) {
		return fmt.Sprintf("the server refused the state with error %d: %s", init.Err.Code, init.Err.Message), true
	}
	return "", false
}

// reject counts a state that cannot be used; what it holds is told of the last one.
func (c *campaign) reject(why, holds string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Messages name values.
	if len(c.report.Rejected) < 20 || c.report.Rejected[why] > 0 {
		c.report.Rejected[why]++
	} else {
		c.report.Rejected["other reasons"]++
	}
	n := 0
	for _, k := range c.report.Rejected {
		n += k
	}
	if n >= maxRejected && c.report.Cases == 0 {
		return &SettingError{fmt.Sprintf("%d states were made and none can be used: %s%s", n, why, holds)}
	}
	return nil
}

// concurrent runs an input at a level and judges it: shown says that it is no run of a
// serial order. The run stands for so many of a random input in a random order at this
// level; for none if it was chosen because of what another one showed.
func (c *campaign) concurrent(ctx context.Context, in *mutate.Input, refs *serials, level corpus.Level, stands float64) (shown bool, err error) {
	o, err := c.stage.Run(ctx, in, level)
	if err != nil {
		return false, err
	}
	if o.Calls == nil {
		c.mu.Lock()
		c.report.Unfinished++
		c.mu.Unlock()
		return false, nil
	}
	if err := misspelt(c.w, in.Calls, o); err != nil {
		return false, err
	}
	names := namesOf(in)
	v := check(o)
	a, err := refs.judge(ctx, o)
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	cell := c.cell(names, level)
	cell.Runs++
	cell.drawn += stands
	if o.aborted() {
		cell.aborted++
	}
	c.count(in, o)
	c.report.Cases++
	c.report.Verdicts[v.Outcome]++
	if v.Outcome == oracle.Unknown {
		c.report.Unknown[v.Reason]++
	}
	for i := range o.Calls {
		for _, code := range o.Calls[i].Aborts {
			cell.Aborts[code]++
		}
		if o.Calls[i].End == Refused {
			cell.Refused[o.Calls[i].Code]++
		}
	}
	if a != nil && v.Outcome != oracle.Violation {
		cell.Anomalies[a.kind]++
		cell.shown[a.kind] += stands
		cell.keep(a.kind, in)
	}
	c.mu.Unlock()
	switch {
	case v.Outcome == oracle.Violation:
		return true, c.serverFinding(o, in, level, &v)
	case a != nil:
		return true, c.anomaly(in, o, a, level)
	}
	return false, nil
}

// keep remembers an input that shows something. Another order of the same is no other
// input.
func (c *Cell) keep(k Kind, in *mutate.Input) {
	if kept := c.kept[k]; len(kept) < maxKept && !slices.ContainsFunc(kept, func(x *mutate.Input) bool { return x.State == in.State }) {
		c.kept[k] = append(kept, in)
	}
}

func namesOf(in *mutate.Input) []string {
	out := make([]string, len(in.Calls))
	for i := range in.Calls {
		out[i] = in.Calls[i].Transaction.Name
	}
	return out
}

// cell returns the cell of some transactions; their order does not matter.
func (c *campaign) cell(names []string, level corpus.Level) *Cell {
	key := c.cellKey(names, level)
	cell := c.cells[key]
	if cell == nil {
		names = c.sorted(names)
		cell = &Cell{Transactions: names, Level: level.Short(), level: level, Aborts: map[uint16]int{}, Refused: map[uint16]int{}, Anomalies: map[Kind]int{}, As: map[Kind]string{}, Findings: []string{}, shown: map[Kind]float64{}, kept: map[Kind][]*mutate.Input{}}
		c.cells[key] = cell
		c.order = append(c.order, key)
	}
	return cell
}

func (c *campaign) cellKey(names []string, level corpus.Level) string {
	return strings.Join(c.sorted(names), "\x00") + "\x00" + level.Short()
}

// sorted returns names in the order of the file.
func (c *campaign) sorted(names []string) []string {
	out := slices.Clone(names)
	index := func(name string) int {
		return slices.IndexFunc(c.w.Transactions, func(t *workload.Transaction) bool { return t.Name == name })
	}
	slices.SortStableFunc(out, func(a, b string) int { return index(a) - index(b) })
	return out
}

// finish puts the report together.
func (c *campaign) finish() {
	r := c.report
	r.Runs = int(c.stage.runs.Load())
	r.Seconds = time.Since(c.begun).Seconds()
	r.CasesSeconds = c.casesTook.Seconds()
	r.CasesPerMinute = float64(r.Cases) / max(r.CasesSeconds, 0.001) * 60
	c.fold()
	for _, f := range r.Findings {
		f.settle(c)
		if f.Class == Isolation && !f.Reduced {
			r.Pending++
		}
	}
	if took := time.Since(c.explainSince); r.Pending > 0 {
		if c.finished > 0 {
			took = took * time.Duration(c.finished+r.Pending) / time.Duration(c.finished)
			r.explainNeeded = c.allotted(took)
		} else {
			r.explainedInVain = c.allotted(took)
		}
	}
	for _, key := range c.order {
		r.Cells = append(r.Cells, c.cells[key])
	}
	position := func(x *Cell) int {
		n := len(x.Transactions) << 40
		for k, name := range x.Transactions {
			n += slices.IndexFunc(c.w.Transactions, func(t *workload.Transaction) bool { return t.Name == name }) << (8 * (3 - k))
		}
		return n<<3 + int(x.level)
	}
	slices.SortStableFunc(r.Cells, func(a, b *Cell) int { return position(a) - position(b) })
	for _, cell := range r.Cells {
		cell.refer(r)
	}
	c.listUnrun()
	c.listApart()
	c.listHardlyRun()
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int {
		if a.Class != b.Class {
			return classRank(a.Class) - classRank(b.Class)
		}
		if d := a.Kind.rank() - b.Kind.rank(); a.Class == Isolation && d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// fold drops a finding where some of its transactions show the same at the same level:
// it adds nothing to that. The counts of the cells stay.
func (c *campaign) fold() {
	for _, f := range slices.Clone(c.report.Findings) {
		if f.Class == Isolation && c.report.within(f.Kind, f.Level, f.Transactions) != nil {
			c.failed = errors.Join(c.failed, c.drop(f))
		}
	}
}

// within returns an anomaly that some of the transactions show at a level, nil if there is
// none.
func (r *Report) within(kind Kind, level string, names []string) *Finding {
	for _, f := range r.Findings {
		if f.Class == Isolation && f.Kind == kind && f.Level == level && len(f.Transactions) < len(names) && within(f.Transactions, names) {
			return f
		}
	}
	return nil
}

// refer says of the anomalies of a cell that are no findings of their own which ones stand
// for them.
func (cell *Cell) refer(r *Report) {
	for kind := range cell.Anomalies {
		if f := r.within(kind, cell.Level, cell.Transactions); f != nil {
			cell.As[kind] = f.ID
		}
	}
}

// listUnrun lists the sets that never had a run.
func (c *campaign) listUnrun() {
	for _, set := range slices.Concat(c.smallest.sets, c.larger.sets) {
		names := namesOfSet(set)
		c.report.Sets++
		if !slices.ContainsFunc(c.Levels, func(l corpus.Level) bool {
			cell := c.cells[c.cellKey(names, l)]
			return cell != nil && cell.Runs > 0
		}) {
			c.report.NotRun = append(c.report.NotRun, names)
		}
	}
}

// within reports whether a list holds all of another one, each as often.
func within(part, whole []string) bool {
	left := slices.Clone(whole)
	for _, x := range part {
		i := slices.Index(left, x)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func classRank(c Class) int { return slices.Index([]Class{Server, Application, Isolation}, c) }

// settle adds what is known of a finding at the end only.
func (f *Finding) settle(c *campaign) {
	cell := c.cell(f.Transactions, f.level)
	if f.Class == Isolation {
		if n := cell.Anomalies[f.Kind]; n > 0 { // what larger sets were reduced to is counted there
			f.Seen = n
		}
	}
	if !slices.Contains(cell.Findings, f.ID) {
		cell.Findings = append(cell.Findings, f.ID)
	}
	if f.trial != nil {
		f.trial.tell(c)
	}
}

// server tells what the campaign runs on.
func (c *campaign) server() history.Server { return c.stage.Pool.Server() }
