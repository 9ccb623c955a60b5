package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// stateFile, in the folder of a campaign's corpus, says how far a campaign
// came. It is replaced in one step every second and at the end, so a campaign
// that was killed loses counts of a second, and no finding: those are files
// before they are counted.
const stateFile = "campaign.json"

// campaignState is the content of that file.
type campaignState struct {
	Target  string `json:"target"`
	Seed    uint64 `json:"seed"`
	Workers int    `json:"workers"`
	// Next is the first input of each worker that has not been run.
	Next   []int   `json:"next"`
	Report *Report `json:"report"`
	Sums   sums    `json:"sums"`
	// Before holds the IDs of the findings that were stored when it began.
	Before []string `json:"before"`

	base *Report // of the parts before this one
}

// loadState reads how far the campaign of a folder came; nil: there is none.
func loadState(dir string) (*campaignState, error) {
	var st campaignState
	err := target.ReadJSON(filepath.Join(dir, stateFile), &st)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if st.Report != nil {
		st.Report.restore(st.Sums)
	}
	return &st, nil
}

func (st *campaignState) save(dir string) error {
	st.Sums = st.Report.sums()
	return target.WriteJSON(filepath.Join(dir, stateFile), st)
}

// begin opens what a campaign keeps from run to run.
func (c *campaign) begin(store *findings.Store) error {
	c.next, c.litters = make([]atomic.Int64, c.s.Workers), make([]litter, c.s.Workers)
	c.doing = make([]atomic.Pointer[flown], c.s.Workers)
	if c.s.Corpus == "" {
		return nil
	}
	server := c.target.Server()
	var err error
	if c.guide, err = openGuide(c.s.Corpus, string(server.DBMS)+" "+server.Version); err != nil {
		return err
	}
	c.guide.blind = c.s.Blind
	if c.s.Resume {
		if c.state, err = loadState(c.s.Corpus); err != nil {
			return err
		}
	}
	if c.state == nil {
		c.state = &campaignState{Before: store.IDs()}
	}
	st := c.state
	st.Target, st.Seed = c.target.Name, c.s.Seed
	st.Workers = max(st.Workers, c.s.Workers)
	for len(st.Next) < st.Workers {
		st.Next = append(st.Next, 0)
	}
	for w := range c.next {
		c.next[w].Store(int64(st.Next[w]))
	}
	st.base = st.Report
	return nil
}

// keepState writes how far the campaign came; r is the report of this part of
// it. It is for one goroutine at a time.
func (c *campaign) keepState(r *Report) error {
	if c.state == nil {
		return nil
	}
	for w := range c.next {
		c.state.Next[w] = int(c.next[w].Load())
	}
	c.state.Report = joined(c.state.base, r)
	return c.state.save(c.s.Corpus)
}

// explainEvery is the rate at which the access paths of a case are asked for:
// that fills its tables again, so it costs about as much as the case.
const explainEvery = 64

// explainSome adds the plans of a few statements to the history of a case now
// and then. That it fails is no fault of the case: a server that died shows with
// the next one.
func (c *campaign) explainSome(ctx context.Context, r *target.Trial, n int) {
	if n%explainEvery != 0 || r.History == nil || r.Dead != nil {
		return
	}
	const most = 4
	var some []int
	for i := range r.History.Stmts {
		if len(some) < most && touchesTables(r.Case.Steps[r.History.Stmts[i].Line]) {
			some = append(some, i)
		}
	}
	_ = c.target.ExplainPlans(ctx, r.Case, r.History, some)
}

// ResumeError says that a campaign cannot be gone on with as asked.
type ResumeError struct{ Msg string }

func (e *ResumeError) Error() string { return e.Msg }

// resumed runs what is left of the campaign of a folder, and returns the report
// of the whole.
func resumed(ctx context.Context, s Settings, run func(context.Context, Settings) (*Report, error)) (*Report, error) {
	st, err := loadState(s.Corpus)
	if err != nil {
		return nil, err
	}
	if st == nil {
		s.logf("seed %d\nnothing to resume in %s: a new campaign begins", s.Seed, s.Corpus)
		s.Resume = false
		return run(ctx, s)
	}
	if st.Target != target.Redact(s.Target) {
		return nil, &ResumeError{fmt.Sprintf("the campaign in %s is one on %s, not on %s", s.Corpus, st.Target, target.Redact(s.Target))}
	}
	if st.Report != nil && st.Report.Unique != s.Unique {
		return nil, &ResumeError{fmt.Sprintf("the campaign in %s was one %s: go on with it as it was, or give another --corpus", s.Corpus, map[bool]string{true: "with --unique-values", false: "without --unique-values"}[st.Report.Unique])}
	}
	if st.Report != nil && st.Report.protocol() != s.Protocol.Name() {
		return nil, &ResumeError{fmt.Sprintf(
			"the campaign in %s was one with --protocol '%s', not '%s': go on with it as it was, or give another --corpus",
			s.Corpus, st.Report.protocol(), s.Protocol.Name())}
	}
	s.Seed, s.Workers = st.Seed, st.Workers
	s.logf("seed %d", s.Seed)
	base := st.Report
	if err := st.missed(s.Out, base); err != nil {
		return nil, err
	}
	if s.Cases > 0 {
		if s.Cases -= base.Cases; s.Cases <= 0 {
			return base, nil
		}
	}
	if s.Duration > 0 {
		if s.Duration -= time.Duration(base.Seconds * float64(time.Second)); s.Duration <= 0 {
			return base, nil
		}
	}
	s.logf("going on after %s and %.0f s, %s", Count(base.Cases, "case"), base.Seconds, Count(len(base.Findings), "finding"))
	more, err := run(ctx, s)
	if errors.Is(err, ErrNothingJudged) && base.judgedAny() && ctx.Err() != nil {
		err = nil // cut off again at once; there is something to show all the same
	}
	return joined(base, more), err
}

// joined adds the report of a later part of a campaign to that of the earlier.
func joined(base, more *Report) *Report {
	if base == nil || more == nil {
		return merged(base, more)
	}
	out := merged(base, more)
	out.Seconds = base.Seconds + more.Seconds
	for i := range out.Findings {
		// Later parts saw what the earlier had stored.
		if j := indexOfFinding(base.Findings, out.Findings[i].ID); j < 0 {
			out.Findings[i].FirstSeen += base.Seconds
		}
	}
	out.rates()
	return out
}

// missed adds findings that were stored by a campaign which was killed before
// it could count them.
func (st *campaignState) missed(out string, r *Report) error {
	stored, err := corpus.LoadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resume: findings: %w", err)
	}
	for _, f := range stored {
		id := strings.TrimSuffix(filepath.Base(f.Path), corpus.Ext)
		at, _ := f.Case.Get(findings.KeyTarget)
		if at != st.Target || filepath.Dir(f.Path) != filepath.Clean(out) || slices.Contains(st.Before, id) || indexOfFinding(r.Findings, id) >= 0 {
			continue
		}
		r.Findings = append(r.Findings, findings.FromFile(id, f))
	}
	return nil
}
