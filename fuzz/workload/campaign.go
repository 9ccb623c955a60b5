package workload

import (
	"context"
	"errors"
	"fmt"
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
	c.report.w, c.report.dbms = w, pool.Server().DBMS
	c.stage, c.report.ServerVersion = NewStage(w, pool), pool.Server().Version
	c.stage.Protocol = s.Protocol
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
	c.report.group()
	if err = errors.Join(err, c.failed); err != nil {
		return c.report, errors.Join(err, c.saveExplanations())
	}
	err = c.mended(ctx)
	c.report.group() // what the mended workloads refute is proposed no more
	return c.report, errors.Join(err, c.saveExplanations())
}

func newCampaign(w *workload.Workload, s Settings, stage *Stage, name string) *campaign {
	c := &campaign{Settings: s, w: w, stage: stage, begun: time.Now(), cells: map[string]*Cell{}, known: map[string]*Finding{}, helped: map[string]help{}, small: map[string]shown{}, calls: map[string]int{}, ran: map[workload.Place]int{}}
	c.report = &Report{
		Workload: name, Target: s.Target, Seed: s.Seed, Protocol: s.Protocol.Name(),
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
	if c.Live != nil {
		go c.live(stop)
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

// live hands on the report so far until stop is closed.
func (c *campaign) live(stop chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			c.mu.Lock()
			c.report.Seconds = time.Since(c.begun).Seconds()
			c.Live(c.report, c.explained, c.explained+len(c.queue))
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

// server tells what the campaign runs on.
func (c *campaign) server() history.Server { return c.stage.Pool.Server() }
