package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// A program counts as one that shows its anomaly when it did so enough times. A smaller one may do it less often, but
// not less than a third as often.
const (
	enough  = 3
	atLeast = 3
)

// makePrograms makes a program of each finding of which one can be made, within the time of the settings for all of
// them. A program is saved before it is tried, and again whenever a smaller one shows the same.
func (j *judge) makePrograms(ctx context.Context, report *Report) (err error) {
	s := j.run.settings
	if s.Programs <= 0 {
		return nil
	}
	left := 0
	for i := range report.Findings {
		if len(j.drafts[report.Findings[i].Kind]) > 0 {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	end := time.Now().Add(s.Programs)
	maker := &maker{settings: s, dialect: j.run.dialect}
	if j.run.operations() {
		maker.dialect = nil // there is no SQL
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		drafts := j.drafts[f.Kind]
		if len(drafts) == 0 {
			continue
		}
		maker.file = strings.TrimSuffix(f.File, ".jsonl") + ProgramExtension
		for _, p := range drafts {
			p.Load = Rate{Shown: int64(f.Count), Of: report.Transactions, Seconds: report.Seconds}
		}
		if ctx.Err() == nil && maker.stage == nil {
			if maker.stage, err = openStage(ctx, j.run.backend, s); err != nil {
				return fmt.Errorf("make programs of what was found: %w", err)
			}
			defer func() { err = errors.Join(err, maker.stage.close()) }()
		}
		until := time.Now().Add(time.Until(end) / time.Duration(left))
		left--
		p, err := maker.make(ctx, drafts, until)
		f.Program, f.ProgramRate, f.ProgramSize = maker.file, &p.Rate, p.Describe()
		if err != nil {
			return fmt.Errorf("make a program of %s: %w", f.Kind, err)
		}
	}
	return nil
}

// maker makes one program.
type maker struct {
	settings Settings
	dialect  *dialect
	file     string
	stage    *stage
}

// make returns the smallest program that was found to show what its drafts are of, with its rate, or the first draft.
// When the context ends it returns what it has.
func (m *maker) make(ctx context.Context, drafts []*Program, until time.Time) (best *Program, err error) {
	best = drafts[0]
	if err := m.save(best); err != nil || ctx.Err() != nil {
		return best, err
	}
	whole := time.Until(until)
	// The drafts take turns, each a longer one, in half of the time.
	shown := tried{}
	all := make([]tried, len(drafts))
	for turn := time.Second; shown.Shown == 0 && time.Until(until) > whole/2 && ctx.Err() == nil; turn *= 2 {
		for i, p := range drafts {
			t, err := m.try(ctx, p, limits{shown: enough, until: soonest(time.Now().Add(turn), until.Add(-whole/2))})
			if err != nil {
				return best, err
			}
			all[i].add(t)
			if q, r := another(drafts[i:i+1], all[i:i+1], p); p.update && r.Shown >= enough && all[i].Shown == 0 {
				best, shown = q, r
				break
			}
			if all[i].Shown >= enough || all[i].Shown > 0 && time.Until(until) <= whole/2 {
				best, shown = p, all[i]
				break
			}
		}
	}
	for i, p := range drafts { // the time is up, and one has shown it at least once
		if shown.Shown == 0 && all[i].Shown > 0 {
			best, shown = p, all[i]
		}
	}
	best = best.clone()
	if shown.Shown == 0 {
		best, shown = another(drafts, all, best)
	}
	if shown.Shown == 0 {
		best.Rate = all[0].Rate
		if best.Rate.Of > 0 {
			m.say("no program of %s showed it again: %s", best.Shows, best.Rate.spell("executions"))
		}
		return best, m.save(best)
	}
	best.Rate = shown.Rate
	if err := m.save(best); err != nil {
		return best, err
	}
	m.say("a program shows %s: %s; %s", best.Shows, best.Describe(), best.Rate.spell("executions"))
	if best, err = m.reduce(ctx, best, until.Add(-whole/6)); err != nil {
		return best, err
	}
	// What the rate of the smallest one is, is measured anew: of many that were tried one was chosen.
	t, err := m.try(ctx, best, limits{shown: 100, until: until})
	if err != nil {
		return best, err
	}
	if t.Shown > 0 {
		best.Rate = t.Rate
	}
	m.say("a program shows %s: %s; %s", best.Shows, best.Describe(), best.Rate.spell("executions"))
	return best, m.save(best)
}

// another returns the draft that showed another anomaly, which is forbidden as well, most often, as a program of that
// one, or what it was given. Of one race there are several names: who saw what it did is by chance.
func another(drafts []*Program, all []tried, best *Program) (*Program, tried) {
	var shown tried
	for i, t := range all {
		for _, kind := range slices.Sorted(maps.Keys(t.others)) {
			if n := t.others[kind]; n > shown.Shown {
				best, shown = drafts[i].clone(), tried{Rate: Rate{Shown: n, Of: t.Of, Seconds: t.Seconds}}
				best.Shows = kind
			}
		}
	}
	return best, shown
}

func soonest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (m *maker) say(format string, args ...any) {
	if p := m.settings.Progress; p != nil {
		fmt.Fprintf(p, format+"\n", args...)
	}
}

func (m *maker) save(p *Program) error {
	if err := wholefile.Write(m.file, p.Text(m.dialect, filepath.Base(m.file))); err != nil {
		return fmt.Errorf("save a program: %w", err)
	}
	return nil
}

// limits end a try at whatever comes first.
type limits struct {
	shown      int64
	executions int64 // 0: any number
	until      time.Time
}

// try runs a program until a limit is met or the context ends.
func (m *maker) try(ctx context.Context, p *Program, l limits) (tried, error) {
	return m.stage.try(ctx, p, l, nil)
}

// try runs a program until a limit is met or the context ends; told, if not nil, is called after each batch.
func (st *stage) try(ctx context.Context, p *Program, l limits, told func(tried)) (tried, error) {
	var out tried
	st.pace = 0
	for ctx.Err() == nil && out.Shown < l.shown && (l.until.IsZero() || time.Now().Before(l.until)) {
		most := int64(math.MaxInt64)
		if l.executions > 0 {
			if most = l.executions - out.Of; most <= 0 {
				break
			}
		}
		t, err := st.batch(ctx, p, most)
		if err != nil {
			return out, err
		}
		if out.add(t); told != nil {
			told(out)
		}
	}
	return out, nil
}

// reduce leaves out clients, transactions and statements, and makes one key of two, as long as what is left shows the
// same at least a third as often. It saves each smaller program.
func (m *maker) reduce(ctx context.Context, p *Program, until time.Time) (*Program, error) {
	for changed := true; changed; {
		changed = false
		for _, less := range p.smaller() {
			if ctx.Err() != nil || time.Now().After(until) {
				return p, nil
			}
			t, err := m.try(ctx, less, limits{
				shown: enough, executions: int64(math.Ceil(enough * atLeast * p.Rate.OneIn())), until: until,
			})
			if err != nil {
				return p, err
			}
			if t.Shown >= enough {
				less.Rate = t.Rate
				p, changed = less, true
				m.say("smaller: %s; %s", p.Describe(), p.Rate.spell("executions"))
				if err := m.save(p); err != nil {
					return p, err
				}
				break
			}
		}
	}
	return p, nil
}

// smaller returns what can be made of a program by leaving out one thing, the largest first.
func (p *Program) smaller() []*Program {
	var out []*Program
	add := func(change func(q *Program)) {
		q := p.clone()
		change(q)
		if q.tidied(); len(q.clients) > 0 && q.valid() == nil {
			out = append(out, q)
		}
	}
	for c := range p.clients {
		add(func(q *Program) { q.clients[c] = nil })
	}
	for c, txns := range p.clients {
		if len(txns) == 1 {
			continue
		}
		for t := range txns {
			add(func(q *Program) { q.clients[c] = slices.Delete(q.clients[c], t, t+1) })
		}
	}
	for c, txns := range p.clients {
		for t, x := range txns {
			for s := range x.steps {
				// A half of a transfer is invalid; transfers go as a whole, above.
				add(func(q *Program) { q.clients[c][t].without(s) })
				for k := range x.steps[s].also {
					add(func(q *Program) {
						also := &q.clients[c][t].steps[s].also
						*also = slices.Delete(*also, k, k+1)
					})
				}
				if also := x.steps[s].also; len(also) > 0 {
					add(func(q *Program) {
						q.clients[c][t].steps[s].key, q.clients[c][t].steps[s].also = also[0], slices.Clone(also[1:])
					})
				}
			}
		}
	}
	for c, txns := range p.clients {
		for t, x := range txns {
			for _, simpler := range x.simpler() {
				add(func(q *Program) { q.clients[c][t] = simpler })
			}
		}
	}
	if p.Bystanders > 0 {
		add(func(q *Program) { q.Bystanders = 0 })
	}
	if p.Workload == "bank" {
		return out // whose reads are of all accounts
	}
	keys := p.keys()
	for _, from := range slices.Backward(keys) {
		for _, to := range keys {
			if to < from {
				add(func(q *Program) {
					q.eachStep(func(s *step) {
						if s.kind != kv.ReadPredicate {
							s.merge(from, to)
						}
					})
				})
			}
		}
	}
	return out
}

// Replayed is what came of a program that was run again.
type Replayed struct {
	File   string `json:"file"`
	Target string `json:"target"`
	Level  string `json:"level"`
	Shows  string `json:"shows"`
	// Recorded is the rate that the file names; OneIn of it is told, too.
	Recorded Rate `json:"recorded"`
	// Now is what was seen, Needed how many executions without it would have a chance below 1 % at the recorded rate; 0:
	// no rate is recorded.
	Now    Rate  `json:"now"`
	Needed int64 `json:"needed"`
	// Others counts the executions that showed another anomaly which is forbidden; Undecided those that nobody knows of.
	Others    map[string]int64 `json:"others,omitempty"`
	Undecided int64            `json:"undecided,omitempty"`
	Says      []string         `json:"says,omitempty"`
	// History holds the transactions that show it, for txnfuzz check.
	History string `json:"history,omitempty"`
}

// sendable says why a program has a read that a backend does not have; nil: it has none.
func (p *Program) sendable(b harness.Backend) error {
	_, adapter := b.(*Adapter)
	for _, txns := range p.clients {
		for _, t := range txns {
			for _, s := range t.steps {
				switch says := lacking(s.lock, b.Server()); {
				case adapter && int(s.lock) >= len(adapterLocks):
					return fmt.Errorf("a read%s: an adapter is asked for no such read", lockWords[s.lock])
				case adapter && len(s.also) > 0:
					return errors.New("a read of several keys, which an adapter is not asked for")
				case says != "":
					return fmt.Errorf("a read%s: %s", lockWords[s.lock], says)
				}
			}
		}
	}
	return nil
}

// ReplayProgram runs a program until it shows its anomaly, or until the chance to miss that is below 1 % at the rate
// that it has recorded, or until the duration of the settings or the context ends. The settings' workload, level and
// models are the program's. An error is one of the harness or the server.
func ReplayProgram(ctx context.Context, b harness.Backend, s Settings, p *Program, file string) (_ *Replayed,
	err error) {
	s.Workload, s.Level, s.Models, s.Declared, s.Reads = p.Workload, p.Level, p.Models, p.Declared, PlainReads
	s.Protocol = p.Protocol
	s.Openings, s.Bystanders = p.openings(), p.Bystanders
	if err := p.sendable(b); err != nil {
		return nil, &SettingError{err}
	}
	st, err := openStage(ctx, b, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	out := &Replayed{File: file, Target: s.Target, Level: p.Level.Short(), Shows: p.Shows, Recorded: p.Rate}
	l := limits{shown: 1}
	if p.Rate.Shown > 0 {
		out.Needed = int64(math.Ceil(math.Log(100) * p.Rate.OneIn()))
		l.executions = out.Needed
	}
	if s.Duration == 0 && out.Needed == 0 {
		s.Duration = time.Minute
	}
	if s.Duration > 0 {
		l.until = time.Now().Add(s.Duration)
	}
	next := time.Now().Add(s.Every)
	t, err := st.try(ctx, p, l, func(t tried) {
		if s.Progress != nil && s.Every > 0 && time.Now().After(next) {
			of := ""
			if out.Needed > 0 {
				of = fmt.Sprintf(" of at most %d", out.Needed)
			}
			fmt.Fprintf(s.Progress, "%4.0fs  %d executions%s, %.0f/s\n", t.Seconds, t.Of, of, float64(t.Of)/t.Seconds)
			next = time.Now().Add(s.Every)
		}
	})
	out.Now, out.Others, out.Undecided, out.Says = t.Rate, t.others, t.undecided, t.says
	if err == nil && t.example != nil && s.Found != "" {
		out.History = strings.TrimSuffix(filepath.Join(s.Found, filepath.Base(file)), ProgramExtension) + ".shown.jsonl"
		err = st.saveExample(out.History, p.Shows, t.example)
	}
	return out, err
}

// saveExample writes the transactions of one execution as a history that names the models it is held against.
func (st *stage) saveExample(file, kind string, records []kv.Record) error {
	header := st.j.header
	for _, m := range st.j.models {
		header.Promised = append(header.Promised, string(m))
	}
	if err := writeHistory(file, header, records); err != nil {
		return fmt.Errorf("save what shows %s: %w", kind, err)
	}
	return nil
}

// Found tells whether the program showed its anomaly.
func (r *Replayed) Found() bool { return r.Now.Shown > 0 }

// Problem says why a program that showed nothing is no pass; nil: it is one.
func (r *Replayed) Problem() error {
	switch {
	case r.Found():
		return nil
	case len(r.Others) > 0:
		return fmt.Errorf("%s: it did not show %s, but %s", r.File, r.Shows, joined(r.Others))
	case r.Undecided > 0:
		return fmt.Errorf("%s: %d executions could not be decided", r.File, r.Undecided)
	case r.Needed == 0:
		return fmt.Errorf("%s: it showed nothing, and no rate is recorded that says what this means", r.File)
	case r.Now.Of < r.Needed:
		return fmt.Errorf("%s: it ended after %d executions; %d are needed to tell", r.File, r.Now.Of, r.Needed)
	}
	return nil
}

// String tells it to people.
func (r *Replayed) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s at %s: ", r.File, r.Target, r.Level)
	switch {
	case r.Found():
		fmt.Fprintf(&b, "shows %s after %s in %.1f s", r.Shows, spelling.Count(int(r.Now.Of), "execution"), r.Now.Seconds)
	case r.Needed > 0 && r.Now.Of >= r.Needed:
		fmt.Fprintf(&b, "does not show %s in %d executions (%.1f s); were it still one in %s, the chance of that were below 1 %%",
			r.Shows, r.Now.Of, r.Now.Seconds, spellOneIn(r.Recorded.OneIn()))
	default:
		fmt.Fprintf(&b, "did not show %s in %d executions (%.1f s), which tells nothing", r.Shows, r.Now.Of, r.Now.Seconds)
	}
	b.WriteByte('\n')
	for _, l := range r.Says {
		b.WriteString("  " + l + "\n")
	}
	if len(r.Others) > 0 {
		fmt.Fprintf(&b, "  executions that show something else: %s\n", joined(r.Others))
	}
	if r.History != "" {
		fmt.Fprintf(&b, "  saved as %s\n", r.History)
	}
	return b.String()
}

// programLine tells of a finding's program.
func (f *Finding) programLine() string {
	switch {
	case f.ProgramRate.Of == 0:
		return fmt.Sprintf("program, not tried: %s", f.Program)
	case f.ProgramRate.Shown == 0:
		return fmt.Sprintf("program that did not show it again in %d executions: %s", f.ProgramRate.Of, f.Program)
	}
	return fmt.Sprintf("program that shows it (%s), %s: %s", f.ProgramSize, f.ProgramRate.spell("executions"), f.Program)
}
