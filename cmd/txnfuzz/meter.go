package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// meter shows how far a replay has come: bars on a terminal, elsewhere one line for
// each target that is done.
type meter struct {
	w    io.Writer
	bars progress.Writer // nil where there is no terminal
	done chan struct{}
}

// redraw is the time between two drawings of the bars.
const redraw = 50 * time.Millisecond

func newMeter(w io.Writer, targets int) *meter {
	m := &meter{w: w, done: make(chan struct{})}
	if !isTerminal(w) {
		return m
	}
	m.bars = progress.NewWriter()
	m.bars.SetOutputWriter(w)
	m.bars.SetNumTrackersExpected(targets)
	m.bars.SetTrackerLength(25)
	m.bars.SetUpdateFrequency(redraw)
	m.bars.ShowTime(true)
	m.bars.ShowOverallTracker(false)
	go func() {
		defer close(m.done)
		m.bars.Render()
	}()
	return m
}

// log is where messages about servers go: a line between bars would tear them.
func (m *meter) log() io.Writer {
	if m.bars != nil {
		return nil
	}
	return m.w
}

// stop ends the drawing, so that what follows has the terminal for itself.
func (m *meter) stop() {
	if m.bars == nil {
		return
	}
	for !m.bars.IsRenderInProgress() {
		select { // Render has yet to begin, and forgets a Stop before it
		case <-m.done:
			return
		case <-time.After(time.Millisecond):
		}
	}
	time.Sleep(2 * redraw) // Stop does not draw what came last
	m.bars.Stop()
	<-m.done
}

// stretch is the part of a replay that runs on one target.
type stretch struct {
	m       *meter
	target  string
	cases   int
	runs    int
	begun   time.Time
	tracker *progress.Tracker
}

func (m *meter) begin(target string, cases int) *stretch {
	s := &stretch{m: m, target: target, cases: cases, begun: time.Now()}
	if m.bars != nil {
		s.tracker = &progress.Tracker{Message: target, Total: int64(cases)}
		m.bars.AppendTracker(s.tracker)
	}
	return s
}

// step says that one more case is through; runs counts all so far.
func (s *stretch) step(runs int) {
	s.runs = runs
	if s.tracker != nil {
		s.tracker.Increment(1)
	}
}

func (s *stretch) end() {
	if s.tracker != nil {
		s.tracker.MarkAsDone()
		return
	}
	took := time.Since(s.begun).Seconds()
	fmt.Fprintf(s.m.w, "%s: %s, %s in %.1f s (%.0f cases a second)\n", s.target, campaign.Count(s.cases, "case"), campaign.Count(s.runs, "run"), took, float64(s.cases)/max(took, 1e-3))
}

// isTerminal reports whether somebody looks at what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
