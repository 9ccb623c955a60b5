package workload

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// elapsed is how long the campaign has run, in seconds. What a case shows that was under
// way when the time was up is of its last moment.
func (c *campaign) elapsed() float64 {
	d := time.Since(c.begun)
	if c.Duration > 0 {
		d = min(d, c.Duration)
	}
	return d.Seconds()
}

// claim makes a finding known that was seen so many seconds after the start; false: it
// was already, and is counted.
func (c *campaign) claim(class Class, kind Kind, names []string, level corpus.Level, at float64) (*Finding, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names = c.sorted(names)
	key := knownKey(class, kind, names, level)
	if f := c.known[key]; f != nil {
		f.Seen++
		f.FirstSeen = min(f.FirstSeen, at)
		return f, false
	}
	f := &Finding{Class: class, Kind: kind, Level: level.Short(), level: level, Transactions: names, Seen: 1, FirstSeen: at, cellKey: key}
	f.ID = c.id(f)
	c.known[key] = f
	return f, true
}

func knownKey(class Class, kind Kind, names []string, level corpus.Level) string {
	at := level.Short()
	if class == Application {
		at = "" // isolation has no part in it
	}
	return strings.Join(append([]string{string(class), string(kind), at}, names...), "\x00")
}

// covered reports whether some of the transactions show the same at the same level.
func (c *campaign) covered(kind Kind, names []string, level corpus.Level) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(parts(c.sorted(names)), func(part []string) bool {
		return c.known[knownKey(Isolation, kind, part, level)] != nil
	})
}

// id names a finding, for people and as a file name.
func (c *campaign) id(f *Finding) string {
	what := strings.TrimPrefix(string(f.Kind), "invariant ")
	if f.Class == Application {
		what = "application-" + what
	}
	sum := sha256.Sum256([]byte(c.report.Workload + string(c.server().DBMS) + f.cellKey))
	name := strings.Join([]string{strings.TrimSuffix(c.report.Workload, filepath.Ext(c.report.Workload)), what, f.Level, string(c.server().DBMS), hex.EncodeToString(sum[:4])}, "-")
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name))
}

// keep saves a finding and adds it to the report.
func (c *campaign) keep(f *Finding, in *mutate.Input, o *Outcome) error {
	path, err := c.save(f, in, o)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.File = path
	if !slices.Contains(c.report.Findings, f) {
		c.report.Findings = append(c.report.Findings, f)
	}
	return nil
}

// save describes a finding by the run that shows it, and writes that as a case.
func (c *campaign) save(f *Finding, in *mutate.Input, o *Outcome) (path string, err error) {
	f.Calls = nil
	for i := range in.Calls {
		f.Calls = append(f.Calls, fmt.Sprintf("tx%d %s", i+1, in.Calls[i].String()))
	}
	f.kept = keptLines(in)
	f.Statements, f.LeftOut, f.Checks = statements(o), leftOut(c.w, in), checks(in)
	f.Schedule, f.Unjudged = schedule(o), unjudged(o)
	return corpus.Save(c.Out, f.ID, c.described(f, o))
}

// keyInvariant is the header's key for the invariant that a case breaks.
const keyInvariant = "invariant"

// described is the case of a finding with a header that tells of it.
func (c *campaign) described(f *Finding, o *Outcome) *corpus.Case {
	out := o.Case.Clone()
	levels := map[int]corpus.Level{}
	for _, s := range out.Sessions() {
		levels[s] = f.level
	}
	out.SetLevels(levels)
	set := func(key, value string) {
		if value != "" {
			out.Set(key, value)
		}
	}
	set("source", "txnfuzz workload")
	set("target", c.Target)
	set("server_version", c.server().Version)
	set("workload", c.report.Workload)
	set("calls", strings.Join(f.Calls, ", "))
	set("kind", string(f.Class)+": "+string(f.Kind))
	set("anomaly", f.Anomaly)
	set("named by", f.NamedBy)
	set("not judged", f.Unjudged)
	set("left out of the calls", strings.Join(f.LeftOut, "; "))
	set("transactions needed", f.Needed)
	if name, ok := strings.CutPrefix(string(f.Kind), "invariant "); ok {
		for _, v := range c.stage.invariants {
			if v.Name == name {
				set(keyInvariant, v.String())
			}
		}
	}
	set("observe", oneLine(f.Detail)+"; "+f.Again())
	if len(f.Mend) > 0 {
		set("not seen with", strings.Join(f.Mend, "; "))
	}
	return out
}

// schedule draws a run: the rows that it begins with, then one column for each session.
func schedule(o *Outcome) string {
	var b strings.Builder
	for _, l := range o.Case.Init {
		if writes(l.Stmt) {
			fmt.Fprintf(&b, "         %s\n", corpus.SQL(l.Stmt, corpus.Text))
		}
	}
	for i := range o.History.Stmts {
		st := &o.History.Stmts[i]
		answer := ""
		switch r := &st.Result; {
		case r.Err != nil:
			answer = fmt.Sprintf("error %d", r.Err.Code)
		case r.Columns != nil:
			answer = orNothing(rowsText(r, true))
		case writes(o.Case.Steps[st.Line].Stmt):
			answer = fmt.Sprintf("%d affected", r.Affected)
		}
		if len(st.Waits) > 0 {
			answer = strings.TrimSuffix("waits; "+answer, "; ")
		}
		if answer != "" {
			answer = "  -- " + answer
		}
		fmt.Fprintf(&b, "    tx%d  %s%s\n", st.Session, corpus.SQL(o.Case.Steps[st.Line].Stmt, corpus.Text), answer)
	}
	return b.String()
}

func writes(n ast.StmtNode) bool {
	switch n.(type) {
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		return true
	}
	return false
}

// applicationBug keeps a serial run that breaks an invariant.
func (c *campaign) applicationBug(in *mutate.Input, s serialRun, b Broken) error {
	level := c.Levels[len(c.Levels)-1]
	one := &mutate.Input{State: in.State}
	for _, i := range s.order {
		one.Calls = append(one.Calls, in.Calls[i])
	}
	kind, at := invariantKind(b.Invariant.Name), c.elapsed()
	small, o := c.reduceSerial(one, kind, level)
	if o == nil {
		small, o = one, s.outcome
	}
	f, fresh := c.claim(Application, kind, namesOf(small), level, at)
	if !fresh {
		return nil
	}
	f.Detail = "one after the other, in this order, " + mutate.Numbered(small.Calls) + " break the invariant: its SELECT gives " + orNothing(o.answer(b.Invariant.Name))
	f.rerun(c, func() bool {
		again, err := c.stage.Serial(c.reduction, small, all(small), level)
		return err == nil && again.Calls != nil && again.breaks(b.Invariant.Name)
	})
	return c.keep(f, small, o)
}

// rerun counts in how many of ten more runs a finding shows, as far as there is time.
func (f *Finding) rerun(c *campaign, shows func() bool) {
	for range 10 {
		again := shows()
		if c.reduction.Err() != nil {
			return
		}
		f.Reruns++
		if again {
			f.Reproduced++
		}
	}
}

// Again says what came of running a finding again.
func (f *Finding) Again() string {
	if f.Reruns == 0 {
		return "not run again for want of time"
	}
	return fmt.Sprintf("seen again in %d of %d runs", f.Reproduced, f.Reruns)
}

func (o *Outcome) answer(invariant string) string {
	for _, b := range o.Broken {
		if b.Invariant.Name == invariant {
			return b.Answer
		}
	}
	return ""
}

// serverFinding keeps a run that the oracle calls wrong.
func (c *campaign) serverFinding(o *Outcome, in *mutate.Input, level corpus.Level, v *oracle.Verdict) error {
	f, fresh := c.claim(Server, Kind(v.Kind), namesOf(in), level, c.elapsed())
	if !fresh {
		return nil
	}
	f.Detail = fmt.Sprintf("expected %s, got %s: %s", v.Expected, v.Actual, v.Reason)
	f.rerun(c, func() bool {
		again, err := c.stage.Run(c.reduction, in, level)
		if err != nil || again.Calls == nil {
			return false
		}
		w := check(again)
		return w.Outcome == oracle.Violation && w.Kind == v.Kind
	})
	return c.keep(f, in, o)
}

// anomaly keeps what no serial order gives, to be explained later.
func (c *campaign) anomaly(in *mutate.Input, o *Outcome, a *anomaly, level corpus.Level) error {
	if c.covered(a.kind, namesOf(in), level) {
		return nil // the cell counts it
	}
	f, fresh := c.claim(Isolation, a.kind, namesOf(in), level, c.elapsed())
	if !fresh {
		return nil
	}
	f.Detail = a.detail
	f.Unexplained = level == corpus.Serializable && !slices.ContainsFunc(o.Calls, func(c CallOutcome) bool { return c.apart })
	if err := c.keep(f, in, o); err != nil { // at once: what follows may be cut off
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, &pending{f, in, o, a, level})
	return nil
}

// pending is a finding that has yet to be reduced and explained.
type pending struct {
	f     *Finding
	in    *mutate.Input
	o     *Outcome
	a     *anomaly
	level corpus.Level
}

// before reports whether a finding is explained before another: broken invariants before
// final states before answers; then findings of few transactions, whose causes those of
// more may share, and among them those of strong levels, which matter most.
func (p *pending) before(q *pending) bool {
	return cmp.Or(p.a.kind.rank()-q.a.kind.rank(), len(p.in.Calls)-len(q.in.Calls), int(q.level)-int(p.level)) < 0
}

// due takes what is to be explained next: a trial that takes few more runs, else a finding.
// Long trials take turns with findings that smaller ones may stand for, or that matter less.
func (c *campaign) due() func() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reduction.Err() != nil || c.failed != nil || len(c.queue)+len(c.trials) == 0 {
		return nil
	}
	best := 0
	for i, p := range c.queue {
		if p.before(c.queue[best]) {
			best = i
		}
	}
	if len(c.trials) > 0 {
		next := 0
		for i, t := range c.trials {
			n := c.trials[next]
			if cmp.Or(t.f.Kind.rank()-n.f.Kind.rank(), cmp.Compare(t.left(), n.left())) < 0 {
				next = i
			}
		}
		c.choices++
		t := c.trials[next]
		first := len(c.queue) == 0 || t.left() <= float64(4*c.Tries)
		if !first && c.choices%2 == 1 {
			f := c.queue[best].f
			first = t.f.Kind.rank() < f.Kind.rank() || c.report.within(f.Kind, f.Level, f.Transactions) != nil
		}
		if first {
			c.trials = slices.Delete(c.trials, next, next+1)
			return func() error { return c.proceed(t) }
		}
	}
	p := c.queue[best]
	c.queue = slices.Delete(c.queue, best, best+1)
	c.explained++
	return func() error { return c.explain(p) }
}

// explain reduces a finding and looks for what mends it.
func (c *campaign) explain(p *pending) error {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.reduction.Err() == nil {
			c.finished++
		}
	}()
	f, in, o, a, level := p.f, p.in, p.o, p.a, p.level
	if c.covered(a.kind, f.Transactions, level) {
		return c.drop(f)
	}
	small := c.smaller(f, level)
	if small == nil {
		x := c.reduce(in, o, a, level)
		small = &x
	}
	if len(small.in.Calls) < len(in.Calls) {
		// It is a finding of fewer transactions.
		g, fresh := c.claim(Isolation, a.kind, namesOf(small.in), level, f.FirstSeen)
		if err := c.drop(f); err != nil {
			return err
		}
		if !fresh {
			return nil
		}
		g.Unexplained = f.Unexplained
		f = g
	}
	f.Detail = small.found.detail
	named := name(*small, c.stage.tablesOf(a.kind))
	f.Anomaly, f.NamedBy, f.Conflicts = named.name, named.by, named.conflicts
	f.Needed = c.needed(small.in, a.kind, level)
	if f.Needed != "" && named.cycle > 2 {
		f.Needed += fmt.Sprintf("; the shortest cycle of their dependencies goes through %d", named.cycle)
	}
	f.rerun(c, func() bool { return c.shows(small.in, a.kind, level, 1) != nil })
	f.Reduced = c.reduction.Err() == nil
	c.mu.Lock()
	c.small[f.cause()] = *small
	c.mu.Unlock()
	if err := c.keep(f, small.in, small.outcome); err != nil {
		return err
	}
	if f.Reduced {
		return c.mend(f, *small)
	}
	return nil
}

// cause is equal for findings that differ in their level only.
func (f *Finding) cause() string {
	return strings.Join(append([]string{string(f.Kind)}, f.Transactions...), "\x00")
}

// smaller tries what a finding was reduced to at another level; nil: it does not show
// here.
func (c *campaign) smaller(f *Finding, level corpus.Level) *shown {
	c.mu.Lock()
	known, ok := c.small[f.cause()]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	s := c.shows(known.in, f.Kind, level, 3)
	if s != nil {
		s.whole = known.whole
	}
	return s
}
