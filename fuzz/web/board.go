package web

import "time"

// Board is what a command tells of its work at one moment.
type Board struct {
	// Command is what runs, such as "run", Target what it runs on, with its version.
	Command, Target, Version string
	// Bound is when it ends by itself, such as "after 10m0s"; empty: it does not.
	Bound string
	Begun time.Time
	// Figures are its numbers. Their Metrics are those of one family of metrics, txnfuzz_….
	Figures []Figure
	// Verdicts counts what was said of the cases, by name.
	Verdicts []Count
	// Phases are the parts of the work and what they cost.
	Phases []Phase
	// Workers are those who work now, Jobs what is done with findings.
	Workers []Worker
	Jobs    []Job
	// Findings are in order of discovery.
	Findings []Finding
}

// Figure is a number.
type Figure struct {
	// Name is for people, Metric for Prometheus, without the prefix; Help is a sentence.
	Name, Metric, Help string
	Value              float64
	// Grows says that it counts events, so that its rate is of interest. Charted ones are drawn over time.
	Grows, Charted bool
	// Unit stands behind the value, such as "%".
	Unit string
}

// Count is how many of something there were.
type Count struct {
	Name string
	N    int
}

// Phase is a part of the work: Share is in [0, 1] of all phases, Mean in microseconds a run.
type Phase struct {
	Name        string
	Share, Mean float64
}

// Worker is one that runs cases.
type Worker struct {
	Number int
	Doing  string
	Since  time.Time
}

// Job is what is done with a finding, or waits to be done.
type Job struct {
	Finding, What string
	// Since is zero of one that waits.
	Since time.Time
}

// Finding is one, as far as it is known.
type Finding struct {
	ID, Kind, Level, Expected, Actual, Reason string
	// Reproduced is such as "10/10", empty while nobody has tried. File holds a case that can be run again; empty: none.
	Reproduced, File string
	// New says that the folder of findings did not hold it before.
	New  bool
	Seen int
	// At is when it was found; zero where that is not told.
	At time.Time
}

// Percent is the share as people read it.
func (p Phase) Percent() float64 { return 100 * p.Share }
