package campaign

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// Doing is what a worker does.
type Doing struct {
	// Worker counts from 1.
	Worker int       `json:"worker"`
	What   string    `json:"what"`
	Since  time.Time `json:"since"`
}

// flown is the case that a worker has set on its way last.
type flown struct {
	input  int
	levels map[int]corpus.Level
	since  time.Time
}

// atWork tells what the workers do.
func (c *campaign) atWork() (list []Doing) {
	for i := range c.doing {
		if f := c.doing[i].Load(); f != nil {
			what := fmt.Sprintf("runs a case of input %d at %s", f.input, target.LevelName(f.levels))
			list = append(list, Doing{Worker: i + 1, What: what, Since: f.since})
		}
	}
	return list
}

// relay hands on what a child has written of its report so far, every second until done is closed.
func (v *supervisor) relay(dir string, done <-chan struct{}) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		var so campaignResult
		if target.ReadJSON(filepath.Join(dir, target.FileResult), &so) != nil || so.Report == nil {
			continue // it has not written any yet
		}
		so.Report.restore(so.Sums)
		r := merged(v.total, so.Report)
		r.Doing, r.Jobs, r.Seconds = so.Doing, so.Jobs, time.Since(v.begun).Seconds()
		v.s.Live(r)
	}
}
