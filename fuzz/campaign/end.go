package campaign

import (
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// End says how a run ended. Its JSON keys are part of the command line's contract.
type End struct {
	At time.Time `json:"at"`
	// Status is the exit status, by what FailOn says.
	Status int    `json:"status"`
	FailOn FailOn `json:"fail_on,omitempty"`
	// Error is what failed, of the server or of this program.
	Error string `json:"error,omitempty"`
	// Interrupted says that somebody ended it before its time.
	Interrupted bool `json:"interrupted,omitempty"`
}

// NewEnd is the End of a run that ends now. failed is nil for one that is complete, interrupted not nil for one that
// was ended before its time.
func NewEnd(status int, failOn FailOn, failed, interrupted error) *End {
	e := &End{At: time.Now().UTC().Truncate(time.Second), Status: status, FailOn: failOn, Interrupted: interrupted != nil}
	if failed != nil {
		e.Error = failed.Error()
	}
	return e
}

// NotRun is the report of a campaign whose server did not even start.
func NotRun(s Settings, begun time.Time) *Report {
	r := &Report{
		Target: target.Redact(s.Target), Settings: map[string]string{}, Levels: []string{}, Conflict: string(s.Conflict),
		Workers: s.Workers, Seed: s.Seed, Begun: begun.UTC().Truncate(time.Second), Seconds: time.Since(begun).Seconds(),
		Counts: newCounts(), Phases: PhaseTimes{}, Findings: []findings.Finding{},
	}
	r.rates()
	return r
}
