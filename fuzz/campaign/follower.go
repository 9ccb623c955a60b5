package campaign

// follower does one part of the work on each case, in the order of the cases,
// while its owner is busy with the next ones: the oracle judges what a server
// did while the server does something else.
type follower struct {
	next []func() error // taken and not handed over
	jobs chan []func() error
	done chan struct{}
	err  error // of the first job that failed; read behind done or a drain
	bad  chan struct{}
}

// batch is how many jobs are handed over at once: to wake a goroutine for each
// takes the processor from the server at a bad moment. An owner is up to three
// batches ahead; what waits is memory, and milliseconds until it is judged.
const batch = 8

func newFollower() *follower {
	f := &follower{jobs: make(chan []func() error, 1), done: make(chan struct{}), bad: make(chan struct{})}
	go func() {
		defer close(f.done)
		for jobs := range f.jobs {
			f.work(jobs)
		}
	}()
	return f
}

func (f *follower) work(jobs []func() error) {
	for _, job := range jobs {
		if f.err != nil {
			return
		}
		if f.err = job(); f.err != nil {
			close(f.bad)
		}
	}
}

// do takes a job. Jobs behind one that failed are not done, and ok is false from
// some time on.
func (f *follower) do(job func() error) (ok bool) {
	select {
	case <-f.bad:
		return false
	default:
	}
	if f.next = append(f.next, job); len(f.next) < batch {
		return true
	}
	return f.handOver()
}

func (f *follower) handOver() (ok bool) {
	jobs := f.next
	f.next = nil
	select {
	case f.jobs <- jobs:
		return true
	case <-f.bad:
		return false
	}
}

// drain waits until all jobs are done.
func (f *follower) drain() {
	done := make(chan struct{})
	if !f.do(func() error { close(done); return nil }) || !f.handOver() {
		return
	}
	select {
	case <-done:
	case <-f.bad:
	}
}

// end waits for the jobs and returns the first error of one.
func (f *follower) end() error {
	f.handOver()
	close(f.jobs)
	<-f.done
	return f.err
}
