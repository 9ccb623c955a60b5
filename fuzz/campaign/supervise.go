package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// maxDeaths is how often a campaign starts anew after its process died.
const maxDeaths = 10

// Run is RunHere, in a child process where the server lives in the process:
// when the server dies, the cases that ran are looked into, and the campaign
// goes on in a new child. Cases that an earlier process left behind when it
// died come first.
//
// A campaign with a corpus can be gone on with after its end, or its death.
func Run(ctx context.Context, s Settings) (*Report, error) {
	if s.Resume {
		return resumed(ctx, s, runAfresh)
	}
	return runAfresh(ctx, s)
}

func runAfresh(ctx context.Context, s Settings) (*Report, error) {
	if s.Target != target.Default || target.Check(s.Target) != nil {
		return RunHere(ctx, s)
	}
	// What can be wrong with files is told before a server starts.
	if _, err := LoadKnown(s.Known); err != nil {
		return nil, err
	}
	if _, _, err := LoadSchema(s.Schema); err != nil {
		return nil, err
	}
	if _, err := findings.LoadBaseline(s.Baseline); err != nil {
		return nil, err
	}
	v := &supervisor{s: s, begun: time.Now()}
	return v.run(ctx)
}

type supervisor struct {
	s       Settings
	begun   time.Time
	total   *Report
	crashes []findings.Finding
}

func (v *supervisor) run(ctx context.Context) (*Report, error) {
	if err := v.orphans(ctx, ""); err != nil {
		return nil, err
	}
	s := v.s
	for deaths := 0; ; deaths++ {
		report, err := v.child(ctx, s)
		v.total = merged(v.total, report)
		var dead *target.Died
		if !errors.As(err, &dead) {
			if errors.Is(err, ErrNothingJudged) && v.total.judgedAny() {
				err = nil // an earlier child judged some
			}
			return v.finish(), err
		}
		if target.Ours(dead.Text) {
			return v.finish(), fmt.Errorf("a defect of txnfuzz itself: %w\n%s", err, dead.Text)
		}
		v.s.logf("the process with the server died: %s", target.FirstLines(dead.Text, 1))
		before := len(v.crashes)
		if err := v.orphans(ctx, dead.Text); err != nil {
			return v.finish(), err
		}
		if len(v.crashes) == before && ctx.Err() == nil {
			return v.finish(), fmt.Errorf("no case was running: %w", err)
		}
		if deaths+1 == maxDeaths {
			return v.finish(), fmt.Errorf("gave up after %d deaths: %w", maxDeaths, err)
		}
		var more bool
		if s, more = v.remaining(s); !more || ctx.Err() != nil {
			report := v.finish()
			if report == nil { // the child was killed before it wrote one
				return NotRun(v.s, v.begun), ErrNothingJudged
			}
			if len(v.crashes) == 0 && !report.judgedAny() {
				return report, ErrNothingJudged
			}
			return report, nil
		}
	}
}

// remaining returns the settings for what is left to do, with a seed of their
// own: the cases up to the death are not run again.
func (v *supervisor) remaining(s Settings) (Settings, bool) {
	s.Seed = inputSeed(s.Seed, -1, 0)
	s.Resume = s.Corpus != ""
	if s.Cases > 0 {
		if v.total != nil {
			s.Cases = v.s.Cases - v.total.Cases
		}
		return s, s.Cases > 0
	}
	if s.Duration > 0 {
		s.Duration = v.s.Duration - time.Since(v.begun)
		return s, s.Duration > 0
	}
	return s, true
}

func (v *supervisor) orphans(ctx context.Context, text string) error {
	found, err := Orphans(ctx, v.s, text)
	v.crashes = append(v.crashes, found...)
	return err
}

func (v *supervisor) finish() *Report {
	if v.total == nil && len(v.crashes) == 0 {
		return nil
	}
	// No count of the dead process has the case that killed it.
	crashes := Report{Counts: newCounts(), Findings: v.crashes}
	crashes.Cases, crashes.Verdicts[oracle.Violation] = len(v.crashes), len(v.crashes)
	r := merged(v.total, &crashes)
	r.Seconds = time.Since(v.begun).Seconds()
	r.Target, r.Seed, r.Begun = v.s.Target, v.s.Seed, v.begun.UTC().Truncate(time.Second)
	r.rates()
	return r
}

// campaignResult is what a child writes every now and then, and at its end.
type campaignResult struct {
	Report   *Report            `json:"report"`
	Sums     sums               `json:"sums"`
	Error    string             `json:"error,omitempty"`
	Unjudged bool               `json:"unjudged,omitempty"`
	Level    *target.LevelError `json:"level,omitempty"`
	Done     bool               `json:"done"`
	Doing    []Doing            `json:"doing,omitempty"`
	Jobs     []findings.Job     `json:"jobs,omitempty"`
}

// child runs a campaign in a process of its own.
func (v *supervisor) child(ctx context.Context, s Settings) (*Report, error) {
	dir, err := os.MkdirTemp("", "txnfuzz-child-*")
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := target.WriteJSON(filepath.Join(dir, target.FileRequest), s); err != nil {
		return nil, err
	}
	if s.Live != nil {
		done, relayed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(relayed)
			v.relay(dir, done)
		}()
		defer func() {
			close(done)
			<-relayed
		}()
	}
	err = (&target.ChildProcess{Role: target.RoleCampaign, Dir: dir, Stderr: s.Progress}).Run(ctx)
	var result campaignResult
	if e := target.ReadJSON(filepath.Join(dir, target.FileResult), &result); e != nil {
		return nil, errors.Join(err, e)
	}
	if result.Report != nil {
		result.Report.restore(result.Sums)
	}
	switch {
	case err != nil:
	case result.Level != nil:
		err = result.Level
	case result.Unjudged:
		err = ErrNothingJudged
	case result.Error != "":
		err = errors.New(result.Error)
	}
	return result.Report, err
}

// RunChild does the part of a child process, if this is one. Programs and
// tests that open targets call it first thing.
func RunChild() (code int, ran bool) { return target.RunChild(campaignChild) }

func campaignChild(ctx context.Context, dir string) error {
	var s Settings
	if err := target.ReadJSON(filepath.Join(dir, target.FileRequest), &s); err != nil {
		return err
	}
	s.Progress = os.Stderr
	path := filepath.Join(dir, target.FileResult)
	s.keepReport = func(r *Report) error {
		return target.WriteJSON(path, campaignResult{Report: r, Sums: r.sums(), Doing: r.Doing, Jobs: r.Jobs})
	}
	r, err := RunHere(ctx, s)
	result := campaignResult{Report: r, Done: true}
	if r != nil {
		result.Sums = r.sums()
	}
	if err != nil {
		result.Error = err.Error()
		errors.As(err, &result.Level)
		result.Unjudged = errors.Is(err, ErrNothingJudged)
	}
	return target.WriteJSON(path, result)
}

// sums are what the shares of a report are made of.
type sums struct{ Judgeable, Judged, Overlapping int }

func (r *Report) sums() sums { return sums{r.judgeable, r.judged, r.overlapping} }

func (r *Report) restore(s sums) {
	r.judgeable, r.judged, r.overlapping = s.Judgeable, s.Judged, s.Overlapping
}

// merged adds the counts and findings of b to those of a; either may be nil.
func merged(a, b *Report) *Report {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	r := *a
	r.End = b.End
	if r.ServerVersion == "" {
		r.ServerVersion, r.DBMS, r.Settings = b.ServerVersion, b.DBMS, b.Settings
	}
	r.Replicas = a.Replicas.Plus(b.Replicas)
	r.Restarts, r.Runs, r.Phases = a.Restarts+b.Restarts, a.Runs+b.Runs, a.Phases.plus(b.Phases)
	r.Counts = newCounts()
	for _, c := range []*Counts{&a.Counts, &b.Counts} {
		r.Cases += c.Cases
		r.Statements += c.Statements
		r.Blocked += c.Blocked
		r.Deadlocks += c.Deadlocks
		r.Sent.merge(c.Sent)
		r.Elsewhere += c.Elsewhere
		r.Computed += c.Computed
		r.ComputedJudged += c.ComputedJudged
		r.Asked += c.Asked
		r.Refuted += c.Refuted
		r.ByPromise += c.ByPromise
		r.Seconded += c.Seconded
		r.Disagreed += c.Disagreed
		r.judgeable += c.judgeable
		r.judged += c.judged
		r.overlapping += c.overlapping
		addTo(r.Verdicts, c.Verdicts)
		addTo(r.Known, c.Known)
		addTo(r.Unknown, c.Unknown)
		r.ByLevel.Merge(c.ByLevel)
		r.Features.merge(c.Features)
	}
	if b.Guide != nil {
		r.Guide = b.Guide
	}
	r.Baseline = a.Baseline.Merged(b.Baseline)
	r.Series = a.Series.then(b.Series, len(r.Known))
	r.Patterns = a.Patterns.merged(b.Patterns)
	r.Against = a.Against.merged(b.Against)
	r.Findings = append([]findings.Finding{}, a.Findings...)
	for _, f := range b.Findings {
		if i := indexOfFinding(r.Findings, f.ID); i >= 0 {
			r.Findings[i].Seen += f.Seen
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	r.rates()
	return &r
}

func indexOfFinding(list []findings.Finding, id string) int {
	for i := range list {
		if list[i].ID == id {
			return i
		}
	}
	return -1
}

func addTo[K comparable](sum, m map[K]int) {
	for k, n := range m {
		sum[k] += n
	}
}
