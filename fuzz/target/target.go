package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Target is an open DBMS that runs cases and judges what it saw. It is safe
// for several goroutines.
type Target struct {
	// Name is what the user called it, without a password.
	Name     string
	address  string // Name, and the password
	released bool   // see Options
	Facts    bool   // see Options
	backend  harness.Backend
	server   history.Server
	options  harness.PoolOptions
	mu       sync.RWMutex // held for writing while the server is restarted
	pool     *harness.Pool
	revived  int
	before   harness.Stats // of the pools that revivals replaced
	doubt    doubt
	solver   Solver
}

// Options says how a target is opened.
type Options struct {
	// Workers is how many cases run at a time; 0: one.
	Workers int
	// InFlight is the folder for the texts of running cases; empty: none.
	InFlight string
	// Deadline bounds one case, set-up excluded; 0: caseDeadline.
	Deadline time.Duration
	// Clean empties the tables before each case, so that what it does depends on
	// nothing that ran before; see harness.PoolOptions.
	Clean bool
	// Ahead lets twice as many cases be on their way as run at a time; see
	// harness.PoolOptions.
	Ahead bool
	// Released is that of harness.Options.
	Released bool
	// Facts lets replays ask the server for plans, traces, locks and read views.
	Facts bool
	// Solver says who computes what statements answer.
	Solver Solver
	// Progress receives lines for people while a server is fetched or started.
	Progress io.Writer

	_ struct{}
}

// Default is the TiDB inside this process.
const Default = "embedded"

// Error says that a target cannot be one.
type Error struct {
	Msg string // what is wrong with its name
}

func (e *Error) Error() string { return e.Msg }

// Check tells a wrong name from a server that cannot be reached.
func Check(name string) error {
	if IsDSN(name) {
		if _, err := mysql.ParseDSN(name); err != nil {
			// The driver's message may quote the password.
			return &Error{"malformed DSN: want user:pass@tcp(host:port)/ or user:pass@unix(/path)/"}
		}
		return nil
	}
	family, _, _ := strings.Cut(name, ",")
	family, _, _ = strings.Cut(family, ":")
	known := harness.Targets()
	switch {
	case slices.Contains(known, family) && family != harness.DSN:
		return nil
	case family == Default:
		return &Error{"this txnfuzz was built without the embedded TiDB (build tag notidb); give another target"}
	}
	known = slices.DeleteFunc(known, func(n string) bool { return n == harness.DSN })
	return &Error{fmt.Sprintf("unknown target %q%s; want one of %s, or a DSN such as user:pass@tcp(host:3306)/", Redact(name), meantTarget(name, known), strings.Join(known, ", "))}
}

var targetPattern = regexp.MustCompile(`^([A-Za-z]+)[^A-Za-z,]*?([0-9][^,]*)?(,.*)?$`)

// meantTarget is the end of a message on a name that is not a target's.
func meantTarget(name string, known []string) string {
	m := targetPattern.FindStringSubmatch(name)
	if m == nil || strings.Contains(name, "@") { // what may hold a password is not quoted
		return ""
	}
	family := spelling.Nearest(m[1], append(slices.Clone(known), Default))
	switch {
	case family == "":
		return ""
	case m[2] != "":
		family += ":" + m[2]
	}
	return fmt.Sprintf(" (did you mean %q?)", family+m[3])
}

// IsDSN tells a data source name from a name: only the former has a '/'.
func IsDSN(target string) bool { return strings.Contains(target, "/") }

// Open starts or connects to a target and prepares its workers. A name
// that cannot be a target gives a *Error.
func Open(ctx context.Context, name string, o Options) (*Target, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	b, err := harness.Open(ctx, name, harness.Options{Progress: o.Progress, Released: o.Released})
	if err != nil {
		return nil, openError(err)
	}
	t := &Target{
		Name: Redact(name), address: name, released: o.Released, Facts: o.Facts, solver: o.Solver, backend: b, server: b.Server(),
		options: harness.PoolOptions{Workers: o.Workers, InFlight: o.InFlight, DeadLine: cmp.Or(o.Deadline, caseDeadline), Clean: o.Clean, Ahead: o.Ahead},
	}
	if t.pool, err = harness.NewPool(ctx, b, t.options); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare target %s: %w", t.Name, err), b.Close())
	}
	return t, nil
}

// Through returns a target on a backend, by a pool of it. Both stay the caller's to close.
func Through(name string, b harness.Backend, p *harness.Pool) *Target {
	return &Target{Name: name, backend: b, server: b.Server(), pool: p}
}

// openError tells a wrong name from a server that cannot be had.
func openError(err error) error {
	var name *harness.NameError
	if errors.As(err, &name) {
		return &Error{err.Error()}
	}
	return err
}

// Close ends the workers, and the server if it is ours.
func (t *Target) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.pool.Leave
	if IsDSN(t.address) { // the server stays
		end = t.pool.Close
	}
	return errors.Join(t.doubt.close(), end(), t.backend.Close())
}

// Server tells what the target is.
func (t *Target) Server() history.Server { return t.server }

// restarter is a backend whose server can be replaced by a fresh one.
type restarter interface {
	Restart(context.Context) error
}

// revive replaces a dead server that is ours, once for all who saw it die: seen
// is the number of revivals when their case began.
func (t *Target) revive(ctx context.Context, seen int) error {
	b, ok := t.backend.(restarter)
	if !ok {
		return errors.New("the server died and is not ours to start")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revived != seen {
		return nil
	}
	// The new one may die, too, before it has served a case.
	var err error
	for range revivals {
		if err = t.replace(ctx, b); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	t.revived++
	return nil
}

// revivals is how often a fresh server is tried.
const revivals = 3

func (t *Target) replace(ctx context.Context, b restarter) error {
	if err := b.Restart(ctx); err != nil {
		return fmt.Errorf("restart the server: %w", err)
	}
	_ = t.pool.Close() // its databases went down with the server
	t.remember(t.pool.Stats())
	pool, err := harness.NewPool(ctx, t.backend, t.options)
	if err != nil {
		return fmt.Errorf("prepare the restarted server: %w", err)
	}
	t.pool = pool
	return nil
}

// Restarts is how often the server died and was replaced.
func (t *Target) Restarts() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.revived
}

// Levels returns the isolation levels that the target knows, weakest first.
func (t *Target) Levels() []corpus.Level { return harness.LevelsOf(t.backend) }

// Reasons why a case has no verdict that are no fault of the oracle.
const (
	ReasonInit    = "init-error"        // the server refused a set-up line
	ReasonStale   = "stale"             // a statement does not fit the tables
	ReasonLevel   = "unsupported-level" // the server does not take the level
	ReasonRefused = "refused"           // a statement could reach beyond the case's own database
	ReasonHarness = "harness-error"     // the run broke down for another reason
	ReasonPanic   = "oracle-panic"      // the oracle broke down; see Trial.Err
	ReasonCutOff  = "cut-off"           // the process was told to end
	ReasonLost    = "server-lost"       // the connection broke, and the server lives
)

// KindCrash is the kind of a case that takes the server down.
const KindCrash oracle.Kind = "server-crash"

// KindLog is the kind of a case during which a server that lives on wrote of a
// failed assertion or of corruption.
const KindLog oracle.Kind = "server-log"

// logReader is a backend whose server's error log can be read.
type logReader interface {
	// LogProblems returns the lines that no earlier call returned and that a
	// sound server never writes.
	LogProblems() []string
}

// readLog makes a finding of what a living server complained of while a case
// ran: that outranks what the oracle has to say. The server is replaced, since
// its data may be damaged. With several workers the line may be another case's;
// the reruns of the finding tell.
func (t *Target) readLog(ctx context.Context, r *Trial, seen int) {
	b, ok := t.backend.(logReader)
	if !ok {
		return
	}
	lines := b.LogProblems()
	if len(lines) == 0 {
		return
	}
	r.Log, r.Err = t.backend.Log(), nil
	r.Verdict = oracle.Verdict{
		Outcome: oracle.Violation, Kind: KindLog, Stmt: -1,
		Expected: "nothing of that sort in the server's error log", Actual: OneLine(lines[0]),
		Reason:      "the server wrote this while the case ran, and went on",
		Fingerprint: logFingerprint(lines[0]),
	}
	r.Dead = t.revive(ctx, seen)
}

// Trial is one execution of a case and the judgement of it.
type Trial struct {
	Case    *corpus.Case
	Levels  map[int]corpus.Level
	server  history.Server
	History *history.History // nil if the case could not be run
	Verdict oracle.Verdict
	// Counted says that the verdict is to count how much was judged.
	Counted bool
	// RulesOnly says that the rules alone are to judge.
	RulesOnly bool
	// Err says why there is no history, or that the server was lost.
	Err error
	// Log is what a server wrote that went down, as far as it is known.
	Log string
	// Reduction is how Case became what it is, if it was reduced.
	Reduction *timeline.Reduction
	// Also holds other levels at which the case shows the same cause, as far as
	// they were tried.
	Also []corpus.Level
	// Defaults says, of a case found under a server's options, whether it shows
	// with the vendor's defaults, or which options it needs; empty: not tried.
	Defaults string
	// Dead says that the server died and could not be brought back.
	Dead error
	// Against is the run of the same case on the target that is compared with this one;
	// nil: there is none.
	Against *Trial
	// named holds its anomalies once they are known.
	named []oracle.Anomaly
}

// Judge runs a case with the levels given, one for each of its sessions. A
// case that cannot be run has the outcome Unknown and one of the reasons
// above, and the cause in Err.
func (t *Target) Judge(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.JudgeAs(ctx, c, levels, false, false)
}

// JudgeAs is Judge with Trial.Counted and Trial.RulesOnly as given.
func (t *Target) JudgeAs(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level, counted, rulesOnly bool) Trial {
	r := t.Run(ctx, c, levels)
	r.Counted, r.RulesOnly = counted, rulesOnly
	t.Decide(ctx, &r)
	return r
}

// JudgeFresh is Judge in a database that is made for this one run.
func (t *Target) JudgeFresh(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunFresh, c, levels)
}

// JudgeForFacts is JudgeFresh, but that the server is asked on the way for plans, traces,
// locks and read views; the verdict goes by what it told.
func (t *Target) JudgeForFacts(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunFreshForFacts, c, levels)
}

func (t *Target) judgeBy(ctx context.Context, run poolRun, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := t.executeBy(ctx, run, c, levels)
	t.Decide(ctx, &r)
	return r
}

// JudgeForFactsInPlace is JudgeForFacts in the database whose tables are filled again and
// again.
func (t *Target) JudgeForFactsInPlace(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.judgeBy(ctx, (*harness.Pool).RunForFacts, c, levels)
}

// JudgeRecorded judges a history that was recorded on a server like this one. The server
// answers what the oracle has to ask; nothing of the case is run again.
func (t *Target) JudgeRecorded(ctx context.Context, c *corpus.Case, h *history.History) Trial {
	r := Trial{Case: c, Levels: h.Levels, History: h}
	h.ServerComputes = t.solver == ByServer
	JudgeByOracle(ctx, &r)
	t.letServerCompute(ctx, &r)
	disagreeing(ctx, &r)
	return r
}

// Decide judges a case that was executed, and asks the server where the oracle alone
// cannot tell, or may be wrong.
func (t *Target) Decide(ctx context.Context, r *Trial) {
	if r.History != nil {
		r.History.ServerComputes = t.solver == ByServer
	}
	JudgeByOracle(ctx, r)
	t.letServerCompute(ctx, r)
	disagreeing(ctx, r)
	t.MakeSure(ctx, r)
}

// JudgeByOracle lets the oracle judge a case that was executed, unless that has judged
// it. Where the context ends first, the verdict is unknown.
func JudgeByOracle(ctx context.Context, r *Trial) {
	if r.Verdict.Outcome != "" {
		return
	}
	type answer struct {
		v   oracle.Verdict
		err error
	}
	done := make(chan answer, 1)
	c, h, by := r.Case, r.History, judgeAll
	switch {
	case r.RulesOnly && r.Counted:
		by = oracle.CheckAndCount
	case r.RulesOnly:
		by = oracle.Check
	case r.Counted:
		by = func(c *corpus.Case, h *history.History) oracle.Verdict { return oracle.Judge(c, h, true) }
	}
	go func() {
		v, err := check(by, c, h)
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		r.Verdict, r.Err = a.v, a.err
	case <-ctx.Done():
		// The oracle may need long for a large case, and whoever ends the process
		// wants it to end.
		r.Verdict = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonCutOff, Actual: context.Cause(ctx).Error()}
		r.Err = fmt.Errorf("judge a case: %w", ctx.Err())
	}
}

// Run is Judge without the oracle: it leaves the verdict empty of a case
// that has run, on a server that has no complaint.
func (t *Target) Run(ctx context.Context, c *corpus.Case, levels map[int]corpus.Level) Trial {
	return t.executeBy(ctx, (*harness.Pool).Run, c, levels)
}

// History runs a case at the first of the target's levels and returns what was seen;
// nothing judges it.
func (t *Target) History(ctx context.Context, c *corpus.Case) (*history.History, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	h, err := t.pool.Run(ctx, c, harness.At(t.Levels()[0]))
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", t.Name, err)
	}
	return h, nil
}

// poolRun is one of the ways in which a pool runs a case.
type poolRun func(*harness.Pool, context.Context, *corpus.Case, harness.Levels) (*history.History, error)

func (t *Target) executeBy(ctx context.Context, run poolRun, c *corpus.Case, levels map[int]corpus.Level) Trial {
	r := Trial{Case: c, Levels: levels, server: t.server}
	t.mu.RLock()
	seen := t.revived
	r.History, r.Err = run(t.pool, ctx, c, harness.Levels{By: levels})
	if r.History != nil && r.Err == nil {
		r.Err = askAlone(ctx, c, r.History, levels, t.pool.Run)
	}
	t.mu.RUnlock()
	if r.History != nil && r.Err == nil {
		t.readLog(ctx, &r, seen)
		return r
	}
	var (
		lost    *harness.LostError
		init    *harness.InitError
		level   *harness.LevelError
		refused *harness.RefusedError
	)
	r.Verdict = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonHarness}
	switch {
	case errors.As(r.Err, &lost):
		r.Verdict, r.Dead = t.judgeLost(ctx, &r, seen)
	case errors.As(r.Err, &init):
		r.Verdict.Reason = ReasonInit
	case errors.As(r.Err, &level):
		r.Verdict.Reason = ReasonLevel
	case errors.As(r.Err, &refused):
		r.Verdict.Reason = ReasonRefused
	}
	if r.Err != nil && r.Verdict.Actual == "" {
		r.Verdict.Actual = PlainSQL(OneLine(r.Err.Error()))
	}
	return r
}

// ExplainPlans adds the plans of some statements to the history of a case that ran.
func (t *Target) ExplainPlans(ctx context.Context, c *corpus.Case, h *history.History, stmts []int) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.pool.ExplainPlans(ctx, c, h, stmts)
}

// judgeAll asks all judges, and counts nothing.
func judgeAll(c *corpus.Case, h *history.History) oracle.Verdict { return oracle.Judge(c, h, false) }

// check is the oracle's for a campaign, which a defect of the oracle must not
// end, and in which it must not look like a crash of the server.
func check(by func(*corpus.Case, *history.History) oracle.Verdict, c *corpus.Case, h *history.History) (v oracle.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			v = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonPanic, Actual: fmt.Sprint(p)}
			err = fmt.Errorf("the oracle broke down: %v\n%s", p, debug.Stack())
		}
	}()
	return by(c, h), nil
}

// judgeLost tells a server that died, or a session that it dropped on an
// internal error, from a connection that broke for a reason of its own.
//
// A dead server that is ours is replaced; else dead says that no case can be
// run any more.
func (t *Target) judgeLost(ctx context.Context, r *Trial, seen int) (v oracle.Verdict, dead error) {
	v = oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: ReasonLost}
	alive := t.backend.Alive(ctx)
	cause := crashLines(t.backend.Log())
	if alive != nil && ctx.Err() == nil {
		dead = t.revive(ctx, seen)
	}
	if alive == nil && cause == "" || ctx.Err() != nil {
		return v, dead
	}
	r.Log = t.backend.Log()
	v = CrashVerdict(cause)
	if cause == "" {
		v.Actual = "the connection broke: " + OneLine(r.Err.Error())
	}
	if alive == nil {
		v.Reason = "the server ended the session on an internal error"
	}
	return v, dead
}

// LevelsFor gives every session of a case the level that its header gives it,
// or else fallback.
func LevelsFor(c *corpus.Case, fallback corpus.Level) map[int]corpus.Level {
	out := map[int]corpus.Level{}
	for _, s := range c.Sessions() {
		if l, ok := c.LevelOf(s); ok {
			out[s] = l
		} else {
			out[s] = fallback
		}
	}
	return out
}

// LevelName names the levels of a run: one short name if they are all the
// same, else tx1=RC, tx2=RR.
func LevelName(levels map[int]corpus.Level) string {
	sessions := make([]int, 0, len(levels))
	for s := range levels {
		sessions = append(sessions, s)
	}
	slices.Sort(sessions)
	parts := make([]string, 0, len(sessions))
	same := true
	for _, s := range sessions {
		same = same && levels[s] == levels[sessions[0]]
		parts = append(parts, fmt.Sprintf("tx%d=%s", s, levels[s].Short()))
	}
	if same && len(sessions) > 0 {
		return levels[sessions[0]].Short()
	}
	return strings.Join(parts, ", ")
}

// Redact hides the password of a target that is a data source name.
func Redact(target string) string {
	if !strings.ContainsAny(target, "@/") {
		return target
	}
	cfg, err := mysql.ParseDSN(target)
	if err != nil {
		// Not even the driver can tell where the password ends.
		if at := strings.LastIndexByte(target, '@'); at >= 0 {
			return "***" + target[at:]
		}
		return target
	}
	if cfg.Passwd == "" {
		return target
	}
	return strings.Replace(target, ":"+cfg.Passwd+"@", ":***@", 1)
}

// OneLine puts a text on one line, as header lines and tables want it.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Anomalies tells what the literature calls what a run shows. It is found out once, and
// only for runs that are kept or looked at: it takes a replay.
func (t *Trial) Anomalies() (out []oracle.Anomaly) {
	if t.named != nil {
		return t.named
	}
	defer func() {
		// A name is an extra; without one a finding is still to be saved.
		if recover() != nil {
			out = []oracle.Anomaly{}
		}
		t.named = out
	}()
	return oracle.Anomalies(t.Case, t.History, &t.Verdict)
}

// caseDeadline bounds one case: a worker of native fuzzing gives up after 10 s.
const caseDeadline = 7 * time.Second

// Offered returns the levels asked for, all of which the target must know;
// none asked for: all it knows.
func Offered(t *Target, asked []corpus.Level) ([]corpus.Level, error) {
	have := t.Levels()
	if len(asked) == 0 {
		return have, nil
	}
	for _, l := range asked {
		if !slices.Contains(have, l) {
			return nil, &LevelError{t.Name, l, have}
		}
	}
	return asked, nil
}

// LevelError says that a target does not know a level that was asked for.
type LevelError struct {
	Target string
	Level  corpus.Level
	Have   []corpus.Level // those that it knows
}

// Error names the levels that there are.
func (e *LevelError) Error() string {
	names := ""
	for i, l := range e.Have {
		if i > 0 {
			names += ", "
		}
		names += l.Short()
	}
	return fmt.Sprintf("target %s has no level %s; it has %s", e.Target, e.Level.Short(), names)
}

// Missing returns a level of a run that the target does not know.
func (t *Target) Missing(levels map[int]corpus.Level) (corpus.Level, bool) {
	have := map[corpus.Level]bool{}
	for _, l := range t.Levels() {
		have[l] = true
	}
	for _, l := range corpus.Levels {
		for _, want := range levels {
			if want == l && !have[l] {
				return l, true
			}
		}
	}
	return 0, false
}

// LevelNames returns the short names of levels, such as RC.
func LevelNames(levels []corpus.Level) []string {
	out := make([]string, len(levels))
	for i, l := range levels {
		out[i] = l.Short()
	}
	return out
}

// ParseLevels reads a list such as RC,RR. An empty text gives none.
func ParseLevels(text string) ([]corpus.Level, error) {
	var out []corpus.Level
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		l, err := corpus.ParseLevel(name)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
