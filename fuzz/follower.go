package fuzz

// follower does one part of the work on each case, in the order of the cases,
// while its owner is busy with the next ones: the oracle judges what a server
// did while the server does something else.
type follower struct {
	jobs chan func() error
	done chan struct{}
	err  error // of the first job that failed; read behind done or a drain
	bad  chan struct{}
}

// ahead is how many cases the owner may be ahead: judging takes from 0.1 to
// several milliseconds, and what waits is memory.
const ahead = 4

func newFollower() *follower {
	f := &follower{jobs: make(chan func() error, ahead), done: make(chan struct{}), bad: make(chan struct{})}
	go func() {
		defer close(f.done)
		for job := range f.jobs {
			if f.err != nil {
				continue
			}
			if f.err = job(); f.err != nil {
				close(f.bad)
			}
		}
	}()
	return f
}

// do hands over a job. Jobs behind one that failed are not done, and ok is false
// from some time on.
func (f *follower) do(job func() error) (ok bool) {
	select {
	case <-f.bad:
		return false
	default:
	}
	select {
	case f.jobs <- job:
		return true
	case <-f.bad:
		return false
	}
}

// drain waits until all jobs are done.
func (f *follower) drain() {
	done := make(chan struct{})
	if !f.do(func() error { close(done); return nil }) {
		return
	}
	select {
	case <-done:
	case <-f.bad:
	}
}

// end waits for the jobs and returns the first error of one.
func (f *follower) end() error {
	close(f.jobs)
	<-f.done
	return f.err
}
