package findings

import (
	"context"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// job is what is left to do of a finding that is saved.
type job struct {
	f    *Finding
	r    *target.Trial
	from Origin
	what task
}

// task is a part of what is done with a finding, in the order of urgency.
type task uint8

const (
	toConfirm task = iota
	toReduce       // the finding is confirmed
	toImprove      // it is reduced, too, and this is another case of it
	tasks
)

// String names a task.
func (t task) String() string {
	return [...]string{toConfirm: "confirm", toReduce: "reduce", toImprove: "reduce from another case"}[t]
}

// Job is what is done, or waits to be done, of a finding that is saved.
type Job struct {
	Finding string `json:"finding"`
	// What is such as "confirm" or "reduce"; Since is zero of one that waits.
	What  string    `json:"what"`
	Since time.Time `json:"since,omitzero"`
}

// list returns the job that is being done and those that wait, in their order.
func (p *pending) list() (jobs []Job) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing > 0 {
		jobs = append(jobs, p.current)
	}
	for _, waiting := range p.jobs {
		for _, j := range waiting {
			jobs = append(jobs, Job{Finding: j.f.ID, What: j.what.String()})
		}
	}
	return jobs
}

// maxPending bounds how many jobs wait; each holds a case with its history, 20 to 50
// KB. A finding for which there is no room stays as it was saved. Jobs to improve a
// finding are fewest: they may only make its file smaller.
var maxPending = [tasks]int{toConfirm: 256, toReduce: 256, toImprove: 4}

// pending holds the jobs of a campaign, which one goroutine does: the more urgent
// ones first, equal ones in the order in which they came.
type pending struct {
	mu       sync.Mutex
	jobs     [tasks][]job
	doing    int
	current  Job // what is being done; of none while doing is 0
	leftOver int // findings that did not fit
	ended    bool
	changed  chan struct{}
}

func newPending() *pending { return &pending{changed: make(chan struct{}, 1)} }

func (p *pending) add(j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch list := &p.jobs[j.what]; {
	case p.ended && j.what == toImprove:
	case len(*list) < maxPending[j.what]:
		*list = append(*list, j)
	case j.what != toImprove:
		p.leftOver++
	}
	p.wake()
}

func (p *pending) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// noMore says that the campaign has made its last case. A chance of a smaller file
// is not worth waiting for.
func (p *pending) noMore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.jobs[toImprove] = true, nil
	p.wake()
}

// counts returns how many findings are being confirmed or reduced, and how many
// wait for that.
func (p *pending) counts() (doing, waiting int) {
	if p == nil {
		return 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting = p.leftOver
	for _, list := range p.jobs {
		waiting += len(list)
	}
	return p.doing, waiting
}

// confirmsMore says that a finding waits to be confirmed.
func (p *pending) confirmsMore() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.jobs[toConfirm]) > 0
}

func (p *pending) take() (j job, ok, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = 0
	for i := range p.jobs {
		if list := &p.jobs[i]; len(*list) > 0 {
			j, *list = (*list)[0], (*list)[1:]
			p.doing, p.current = 1, Job{Finding: j.f.ID, What: j.what.String(), Since: time.Now()}
			return j, true, false
		}
	}
	return j, false, p.ended
}

// run does jobs until there will be no more, or the context ends. An error is
// that of a job, and ends it.
func (p *pending) run(ctx context.Context, do func(context.Context, job) error) error {
	for ctx.Err() == nil {
		j, ok, ended := p.take()
		switch {
		case ended:
			return nil
		case ok:
			if err := do(ctx, j); err != nil {
				return err
			}
		default:
			select {
			case <-p.changed:
			case <-ctx.Done():
			}
		}
	}
	return nil
}
