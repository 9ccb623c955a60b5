package races

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

const (
	// coarse is at how many places that stand far apart a statement is held first.
	coarse = 24
	// mostHolds bounds the holds of one case; between two places whose outcomes differ lie some twenty.
	mostHolds = 240
	// mostRecorded bounds the instructions that are recorded of a statement; an UPDATE takes 80,000.
	mostRecorded = 400_000
	// enoughTrails is from how many recordings on no more than half of the time goes into new ones: each
	// takes seconds. Where functions are known by name, it is from the first.
	enoughTrails = 8
	// fromMemory is how many remembered places are tried in a case.
	fromMemory = 24
	// fromFunctions is at how many instructions of the functions of remembered places it is held, too, and
	// fromCritical at how many of those that are critical.
	fromFunctions = 24
	fromCritical  = 48
	// fromEntries is at how many beginnings of functions it is held before it is recorded, each at one of the
	// first mostWithin executions.
	fromEntries = 24
)

// In a case that somebody gave, the statement is held at more places, and at each instruction that is at
// most nearby from one where the outcome changed.
const (
	coarseGiven    = 96
	mostHoldsGiven = 6000
	nearby         = 150
)

// search is that of one case.
type search struct {
	*run
	r      *raced
	levels map[int]corpus.Level
	random *rand.Rand
	seen   map[string]bool // outcomes that were judged
	holds  int
	trail  harness.Trail
	at     map[int]string // outcome by the number of an instruction of the trail
	shape  string
	given  bool // by somebody
	// ofRequests says that what is recorded are requests to a store: few, and those of this statement on its rows alone.
	ofRequests bool
	coarse     int
	most       int // holds
}

// shapeOf is equal for statements that go much the same way through a server: what it takes to record
// one anew is better spent on holds, and a place that a statement does not come to costs little.
func (r *raced) shapeOf() string {
	n := r.c.Steps[r.held].Stmt
	shape := string(stmt.KindOf(n))
	switch n := n.(type) {
	case *ast.InsertStmt:
		switch {
		case n.IsReplace:
			shape = "replace"
		case len(n.OnDuplicate) > 0:
			shape = "upsert"
		case n.IgnoreErr:
			shape = "insert ignore"
		}
	case *stmt.RawStmt:
		shape = n.Words()[0]
		if slices.Contains(n.Words(), "conflict") {
			shape = "upsert"
		}
	}
	if slices.ContainsFunc(r.c.Init, func(l corpus.Line) bool {
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		return ok && len(stmt.References(s)) > 0
	}) {
		shape += ", foreign key"
	}
	for _, l := range r.c.Steps[:r.held] {
		if l.Session == r.c.Steps[r.held].Session {
			shape += ", inside"
			break
		}
	}
	if r.level == corpus.Serializable { // a plain SELECT locks
		shape += ", serializable"
	}
	return shape
}

// one searches a case. An error is one of the harness, or a finding that could not be written.
func (s *search) one(ctx context.Context) error {
	for _, unheld := range []*corpus.Case{s.r.c, s.r.late()} {
		kind, h, err := s.unheld(ctx, unheld)
		if err != nil {
			return err
		}
		if kind != "" { // whatever this is, it needs no hold
			s.count.wrongUnheld++
			return nil
		}
		s.seen[outcome(h)] = true
	}
	if s.ofRequests {
		if err := s.record(ctx); err != nil || s.trail == nil {
			return err
		}
		return s.atEach(ctx)
	}
	for _, place := range s.memory.some(s.shape, fromMemory, s.random) {
		if _, err := s.hold(ctx, place); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if err := s.atEntries(ctx); err != nil {
		return err
	}
	if err := s.record(ctx); err != nil || s.trail == nil || s.trail.Len() < 2 {
		return err
	}
	if !s.given {
		in := s.inside()
		if err := s.some(ctx, in.at, fromFunctions); err != nil {
			return err
		}
		if err := s.some(ctx, in.critical, fromCritical); err != nil {
			return err
		}
	}
	last := s.trail.Len() - 1
	offset := 0
	if step := last / s.coarse; step > 0 {
		offset = s.random.IntN(step)
	}
	before := 0
	for i := 1; i <= s.coarse; i++ {
		at := min(last, offset+i*last/s.coarse)
		if err := s.between(ctx, before, at); err != nil {
			return err
		}
		if s.at[at] != "" { // else the next interval begins where this one does
			before = at
		}
	}
	if s.given {
		return s.within(ctx)
	}
	return ctx.Err()
}

// atEntries holds the statement where functions begin whose names are known, those that the program has.
func (s *search) atEntries(ctx context.Context) error {
	most := min(fromEntries, len(s.entries))
	if s.given {
		most = len(s.entries)
	}
	for _, i := range s.random.Perm(len(s.entries))[:most] {
		place := *s.entries[i]
		place.Hit = 1 + s.random.IntN(mostWithin)
		if _, err := s.hold(ctx, &place); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// mostWithin bounds the executions of an instruction that within tries.
const mostWithin = 2

// within holds the statement at each instruction of the functions in which outcomes changed, and then, as long as
// it may, at those of the critical ones.
func (s *search) within(ctx context.Context) error {
	in := s.inside()
	for _, i := range in.at {
		if _, err := s.holdAt(ctx, i); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return s.some(ctx, in.critical, len(in.critical))
}

// some holds the statement at so many of some instructions, drawn.
func (s *search) some(ctx context.Context, at []int, n int) error {
	for _, k := range s.random.Perm(len(at))[:min(n, len(at))] {
		if _, err := s.holdAt(ctx, at[k]); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return ctx.Err()
}

// inside are the instructions of the trail in functions in which outcomes of statements of this shape changed, and in
// critical ones, in the first executions of each.
func (s *search) inside() *insides {
	functions := map[string]bool{}
	for _, one := range s.memory[s.shape] {
		functions[one.Place.Function] = true
	}
	if k := s.kept[s.shape]; k != nil && k.trail == s.trail && k.functions == len(functions) {
		return k
	}
	k := &insides{trail: s.trail, functions: len(functions)}
	dbms, named := s.target.Server().DBMS, map[string]bool{}
	for i := range s.trail.Len() {
		at := s.trail.At(i)
		is, known := named[at.Function]
		if !known {
			is = isCritical(dbms, at.Function)
			named[at.Function] = is
		}
		switch {
		case at.Hit > mostWithin:
		case functions[at.Function]:
			k.at = append(k.at, i)
		case is:
			k.critical = append(k.critical, i)
		}
	}
	s.kept[s.shape] = k
	return k
}

// insides keeps what inside found in a trail for some number of functions, as indexes into the trail.
type insides struct {
	trail        harness.Trail
	functions    int
	at, critical []int
}

// record makes the trail of the statement, or takes that of one of the same shape. There may be none: then
// the case has been held at remembered places only.
func (s *search) record(ctx context.Context) error {
	if s.trail = s.trails[s.shape]; s.trail != nil && !s.ofRequests {
		return nil
	}
	if enough := len(s.trails) >= enoughTrails || len(s.entries) > 0 && !s.given; enough && !s.ofRequests &&
		s.recording > time.Since(s.begun)/2 {
		return nil
	}
	begun := time.Now()
	trail, err := s.target.Trace(ctx, s.r.c, s.levels, s.r.held, mostRecorded)
	if err != nil {
		return err
	}
	s.count.recorded++
	s.recording += time.Since(begun)
	if trail != nil && !s.ofRequests {
		s.trails[s.shape] = trail
	}
	s.trail = trail
	return nil
}

// between holds the statement between two places whose outcomes differ, until neighbours are left.
func (s *search) between(ctx context.Context, a, b int) error {
	x, err := s.holdAt(ctx, a)
	if err != nil {
		return err
	}
	y, err := s.holdAt(ctx, b)
	if err != nil || x == y || x == "" || y == "" || b <= a || s.holds >= s.most || ctx.Err() != nil {
		return err
	}
	if b == a+1 {
		s.memory.changed(s.shape, s.trail.At(b))
		if s.given {
			for i := max(0, a-nearby); i < min(s.trail.Len(), b+nearby); i++ {
				if _, err := s.holdAt(ctx, i); err != nil || ctx.Err() != nil {
					return err
				}
			}
		}
		return nil
	}
	m, err := s.middle(ctx, a, b)
	if err != nil || m < 0 {
		return err
	}
	if err := s.between(ctx, a, m); err != nil {
		return err
	}
	return s.between(ctx, m, b)
}

// middle returns a place between two others that the statement comes to, the nearer to their middle the better; -1
// if it comes to none that is tried. What was recorded by single steps may have gone another way there, as a loop
// does that waits.
func (s *search) middle(ctx context.Context, a, b int) (int, error) {
	m := (a + b) / 2
	for d := 0; m-d > a || m+d < b; d = 2*d + 1 {
		for _, i := range []int{m + d, m - d} {
			if i <= a || i >= b {
				continue
			}
			o, err := s.holdAt(ctx, i)
			if err != nil || o != "" {
				return i, err
			}
		}
	}
	return -1, nil
}

func (s *search) holdAt(ctx context.Context, i int) (string, error) {
	if o, ok := s.at[i]; ok {
		return o, nil
	}
	o, err := s.hold(ctx, s.trail.At(i))
	if err == nil {
		s.at[i] = o
	}
	return o, err
}

// hold runs the case with its statement held at a place and returns the outcome, "" if the
// statement did not come there.
func (s *search) hold(ctx context.Context, place *corpus.Hold) (string, error) {
	if ctx.Err() != nil || s.holds >= s.most {
		return "", nil
	}
	s.holds++
	s.count.holds++
	s.live()
	c := s.r.at(place)
	t := s.target.RunOnly(ctx, c, s.levels)
	switch {
	case ctx.Err() != nil:
		return "", nil
	case t.History == nil || t.Err != nil && t.Verdict.Outcome != oracle.Violation:
		return "", t.Err
	case t.Err == nil && !t.History.Held():
		s.count.missed++
		return "", nil
	}
	o := outcome(t.History)
	if s.seen[o] {
		return o, nil
	}
	s.seen[o] = true
	s.count.outcomes++
	return o, s.judge(ctx, &t)
}

// judge looks at an outcome that the case did not show before.
func (s *search) judge(ctx context.Context, t *target.Trial) error {
	if t.Verdict.Outcome == "" {
		s.target.AskAlone(ctx, t)
	}
	s.target.Decide(ctx, t)
	s.count.verdicts[t.Verdict.Outcome]++
	if t.Verdict.Outcome == oracle.Unknown {
		s.count.reasons[t.Verdict.Reason]++
	}
	if s.s.Observe != nil {
		s.s.Observe(t)
	}
	if t.Verdict.Outcome == oracle.Violation {
		if unheld, err := s.showsUnheld(ctx, t); err != nil || unheld {
			return err
		}
		t = s.steadier(ctx, t)
	}
	return s.keep(ctx, t)
}

// showsUnheld says that a violation needs no hold: the case shows the same with the statement sent between two of those
// that ran while it was held.
func (s *search) showsUnheld(ctx context.Context, t *target.Trial) (bool, error) {
	for _, c := range s.r.between() {
		kind, _, err := s.unheld(ctx, c)
		if err != nil {
			return false, err
		}
		if kind == t.Verdict.Kind {
			s.count.wrongUnheld++
			s.holds = s.most // the rest of the case is left alone, too
			return true, nil
		}
	}
	return false, nil
}

// unheld runs a case without a hold and returns what is wrong with that, "" if nothing is known to be: that the server
// does not survive it, too, and then there is no history.
func (s *search) unheld(ctx context.Context, c *corpus.Case) (oracle.Kind, *history.History, error) {
	t := s.target.Run(ctx, c, s.levels)
	switch {
	case t.Dead != nil:
		return "", nil, t.Dead
	case t.Err != nil && t.Verdict.Outcome == oracle.Violation:
		return t.Verdict.Kind, nil, nil
	case t.Err != nil:
		return "", nil, t.Err
	}
	g, err := s.target.RuleByPromise(ctx, c, t.History)
	if err != nil || !g.Broken {
		return "", t.History, err
	}
	return oracle.Kind(g.Kind), t.History, nil
}

// mostSteadier bounds the places that are tried for a steadier one.
const mostSteadier = 60

// steadier looks nearby for a place that shows the same and that the statement comes to once: which execution
// of an instruction in a loop it is depends on what the server holds beside. It returns the run that is to be kept.
func (s *search) steadier(ctx context.Context, t *target.Trial) *target.Trial {
	held, _ := t.Case.Held()
	if held < 0 || t.Case.Steps[held].Hold.Hit == 1 || s.trail == nil || s.ofRequests {
		return t
	}
	at, tried := -1, map[corpus.Hold]bool{}
	for i := range s.trail.Len() {
		if *s.trail.At(i) == *t.Case.Steps[held].Hold {
			at = i
			break
		}
	}
	for d := 0; at >= 0 && d < 2*nearby && len(tried) < mostSteadier && ctx.Err() == nil; d++ {
		for _, i := range []int{at + d, at - d} {
			if i < 0 || i >= s.trail.Len() || s.trail.At(i).Hit != 1 || tried[*s.trail.At(i)] {
				continue
			}
			tried[*s.trail.At(i)] = true
			s.count.holds++
			if again := s.target.Judge(ctx, s.r.at(s.trail.At(i)), s.levels); judging.SameCause(&t.Verdict, &again.Verdict) {
				return &again
			}
		}
	}
	return t
}

// outcome is what anybody saw of a run, as a text.
func outcome(h *history.History) string {
	var b strings.Builder
	for i := range h.Stmts {
		st := &h.Stmts[i]
		b.WriteString(strconv.Itoa(st.Line))
		if e := st.Result.Err; e != nil {
			b.WriteString(" e" + strconv.Itoa(int(e.Code)))
		}
		b.WriteString(" " + strconv.FormatInt(st.Result.Affected, 10))
		for _, r := range history.RowTexts(st.Result.Rows) {
			b.WriteString(" " + r)
		}
		b.WriteByte('\n')
	}
	for _, t := range h.Final {
		for _, r := range history.RowTexts(t.Rows) {
			b.WriteString(t.Name + r)
		}
	}
	return b.String() + string(h.End) + h.Disagreement
}
