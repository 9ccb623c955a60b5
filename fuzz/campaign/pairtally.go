package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// PairReport is what one process of a fuzzing engine has done: the engine
// itself counts executions and coverage only.
type PairReport struct {
	Target string `json:"target"`
	// Executions counts inputs, Conflicting those of which at least one case had
	// transactions that touched overlapping rows or predicates, Waiting those
	// with a statement that waited for a lock.
	Executions  int     `json:"executions"`
	Conflicting int     `json:"conflicting"`
	Waiting     int     `json:"waiting"`
	Cases       int     `json:"cases"`
	Statements  int     `json:"statements"`
	Judged      float64 `json:"judged"`
	Seconds     float64 `json:"seconds"`
	// PeakMB is the largest resident size of the process.
	PeakMB int `json:"peak_mb"`
}

// pairTally counts the executions of one process.
type pairTally struct {
	counts Counts
	report PairReport
	begun  time.Time
}

func (t *pairTally) execution(trials []target.Trial) {
	overlapping, blocked := t.counts.overlapping, t.counts.Blocked
	for i := range trials {
		t.counts.add(&trials[i])
	}
	t.report.Executions++
	if t.counts.overlapping > overlapping {
		t.report.Conflicting++
	}
	if t.counts.Blocked > blocked {
		t.report.Waiting++
	}
}

// appendTo adds the report as a line of JSON to a file, which several processes
// share.
func (t *pairTally) appendTo(path, target string) error {
	r := t.report
	r.Target, r.Cases, r.Statements, r.Judged = target, t.counts.Cases, t.counts.Statements, t.counts.Judged()
	r.Seconds = time.Since(t.begun).Seconds()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return fmt.Errorf("ask for the peak memory: %w", err)
	}
	r.PeakMB = int(use.Maxrss >> 10) // Linux counts kilobytes
	line, err := json.Marshal(&r)
	if err != nil {
		return fmt.Errorf("write the tally: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the tally: %w", err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the tally: %w", err)
	}
	return f.Close()
}
