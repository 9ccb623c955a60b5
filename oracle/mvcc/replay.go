package mvcc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// Loss is a reason why a history cannot be judged, through a limit of the
// oracle's own. Slug is short and fixed, fit for counting.
type Loss struct {
	Slug   string
	Detail string
}

func (l *Loss) Error() string {
	if l.Detail == "" {
		return l.Slug
	}
	return l.Slug + ": " + l.Detail
}

// Engine replays histories of one way of isolation.
type Engine interface {
	// Run replays the history of r. It returns the first difference from it, that of the
	// way through the history that goes furthest, or nil; the error is a *Loss. What was
	// predicted is in r.Steps then.
	Run(r *Replay) (*Difference, error)
	// Relevant returns those of some rules that can change what it predicts for a history
	// at all, so that an explanation need not be searched among the others: a difference
	// costs one replay for each pair of them.
	Relevant(c *corpus.Case, h *history.History, candidates []*rules.Rule) []*rules.Rule
	// LeavesPlaces says that what it knows of locks does not always tell where a statement
	// waits: then it heeds what the server told of that, and replays can be Loose.
	LeavesPlaces() bool
}

// Replay replays a history on version chains under one profile and compares
// each statement's answer with what the profile predicts. Use it once.
type Replay struct {
	engine  Engine
	Case    *corpus.Case
	History *history.History
	Profile rules.Profile
	// Consulted holds the dimensions of the profile that the replay looked at.
	Consulted rules.Consulted
	Dialect   solve.Dialect
	Solver    *solve.Solver
	Store     versions.Store
	// Replayed is the store of the world that was taken over.
	Replayed *versions.Store
	Sessions map[int]*Session
	// Steps holds what was predicted, by index into the history's statements.
	Steps []Step
	// KeepGoing makes the replay go on behind the first difference.
	KeepGoing bool
	Touched   []Touch
	// Moved holds when statements took effect whose order was not seen.
	Moved map[*history.Stmt]history.Tick
	// Kept is what the engine keeps for all replays of one verdict, nil if these share
	// nothing.
	Kept any
	// Uncut holds queries without their LIMIT.
	Uncut map[*ast.SelectStmt]*ast.SelectStmt
	// Unmodelled holds the statements that no part of the replay understands, by
	// their indexes.
	Unmodelled map[int]error
	// asking holds what the server answers where the solver refuses.
	asking *solve.Asking
	// Budget is what may be spent on the verdict, nil for no end.
	Budget *solve.Budget
	// AnyWait lets a statement have waited anywhere; see Loose.
	AnyWait bool
	// AgainstPlaces says that the way that was found does not keep to the places of waiting
	// that the server told.
	AgainstPlaces bool
	// Trying says which paths are tried; see In.
	Trying Round
	// Persistent raises the bound on sequences of choices; see Patient.
	Persistent bool
	// EveryAnswer says that it is wanted what else is allowed.
	EveryAnswer bool
	// OnlyFits says that the steps of a replay that does not fit are not wanted.
	OnlyFits bool
	// KeepsLooks says that the steps keep what they met; coarse, that a condition was
	// taken to match every row.
	KeepsLooks, coarse bool
	// InTheWay holds the rows that stood in the way of the statement's, if observed.
	InTheWay []Obstacle
}

type Session struct {
	Level corpus.Level
	characteristics
	Txn *versions.Txn
	// next is a level that SET TRANSACTION left for the next transaction.
	next corpus.Level
	// Ended counts the transactions that ended.
	Ended int
	// Reopened says that a deadlock took the transaction and that the session is
	// in another one, which no answer has shown yet: error packets do not.
	Reopened bool
}

// Step is the prediction for one statement and how it compares.
type Step struct {
	Kind stmt.Kind
	// Level is that of its transaction, 0 where the replay did not come to it.
	Level corpus.Level
	// Expected is nil where nothing is predicted.
	Expected *Prediction
	// View is what a read saw, or the last view of a write.
	View versions.View
	// Diff is nil where prediction and answer agree.
	Diff *Difference
	// Chosen counts the choices of its path by the statement's end; unproved says that it
	// is a deadlock's victim on a cycle that is not proved.
	Chosen   int
	Unproved bool
	// txn is the statement's transaction, looks what it met, both kept where the replay
	// is observed.
	txn   *versions.Txn
	looks []look
}

// LevelOf is the level of the transaction in which a statement was replayed, that of its
// session at first where that is not known.
func (r *Replay) LevelOf(stmt int) corpus.Level {
	if l := r.Steps[stmt].Level; l != 0 {
		return l
	}
	return r.History.Levels[r.History.Stmts[stmt].Session]
}

// Prediction is the answer that the rules predict.
type Prediction struct {
	Rows    [][]sqlvalue.Value
	Ordered bool
	// Matched and Changed count the rows of a write; -1: not predicted.
	Matched, Changed int64
	// Err is the error's code, 0 for none.
	Err uint16
	// Or holds the other answers that the rules allow, as String writes them; Open says why
	// there may be more than can be listed, "" if there are none. What other paths allow is
	// in them where the replay is Counting.
	Or   []string
	Open string
	// Read holds the chains whose rows the statement matched.
	Read []*versions.Chain
}

// Difference is a disagreement between a prediction and an answer.
type Difference struct {
	// Stmt is the index into the history's statements, -1 for the final state.
	Stmt             int
	Kind             string
	Expected, Actual string
	Reason           string
	// Or holds what else could have been expected there, by other ways through the history.
	Or []string
}

// Relevant is that of the replay's engine.
func (r *Replay) Relevant(candidates []*rules.Rule) []*rules.Rule {
	return r.engine.Relevant(r.Case, r.History, candidates)
}

// LeavesPlaces is that of the replay's engine.
func (r *Replay) LeavesPlaces() bool { return r.engine.LeavesPlaces() }

// New prepares a replay. keepGoing makes it go on behind the first difference,
// so that every step has its prediction.
func New(engine Engine, c *corpus.Case, h *history.History, p rules.Profile, keepGoing bool) *Replay {
	h = h.TimedOut()
	d := solve.DialectOf(h.Server)
	solver := solve.New(d)
	asking := solve.NewAsking(h.Answers)
	if h.ServerComputes {
		asking.All()
	}
	if !setsVariables(c) {
		solver.Asking(asking)
	}
	return &Replay{engine: engine, Case: c, History: h, Profile: p, Dialect: d, Solver: solver, asking: asking, Store: versions.Store{Solver: solver},
		Sessions: make(map[int]*Session), Steps: make([]Step, len(h.Stmts)), KeepGoing: keepGoing}
}

// setsVariables reports whether a session sets a variable: then an answer may be another
// one in a session that has not.
func setsVariables(c *corpus.Case) bool {
	return slices.ContainsFunc(c.Steps, func(l corpus.Line) bool { return KindOf(l.Stmt) == stmt.SetVariable })
}

// Asking returns what was asked of the server in the replays of one verdict.
func (r *Replay) Asking() *solve.Asking { return r.asking }

// Work is what one verdict may cost, in rows that a statement passes. A case of ten
// rows and a dozen statements whose every explanation is tried costs 1 % of it, one
// of 10,000 rows nearly all.
const Work = 200_000_000

// Within makes the replay stop when a budget is spent, with a *Loss.
func (r *Replay) Within(b *solve.Budget) *Replay {
	r.Budget = b
	r.Solver.Within(b)
	return r
}

// Counting makes a replay that fits fill in what else is allowed of all its steps, for
// which it tries the other paths, too.
func (r *Replay) Counting() *Replay {
	r.EveryAnswer = true
	return r
}

// Counts reports whether the replay is Counting.
func (r *Replay) Counts() bool { return r.EveryAnswer }

// ErrWork is the loss of a case that is too large.
var ErrWork = &Loss{Slug: "work"}

// Cost is what one way through the history costs: each statement passes all rows,
// and some compare those that they meet with each other.
func (r *Replay) Cost() int {
	rows := 1
	for i := range r.History.Initial {
		rows += len(r.History.Initial[i].Rows)
	}
	return (len(r.History.Stmts) + 1) * (rows + rows*(rows/64))
}

// Run replays the whole history. It returns the first difference, or nil; the
// error is a *Loss.
func (r *Replay) Run() (*Difference, error) {
	if d := r.waitedInSpite(); d != nil && !r.KeepGoing {
		return d, nil
	}
	d, err := r.engine.Run(r)
	if d != nil && r.Solver.Unkeyed() != nil {
		return nil, LossOf("key", r.Solver.Unkeyed())
	}
	return d, err
}

// Load makes the tables and their first versions from what the harness read back.
func (r *Replay) Load() error {
	if !r.Budget.Spend(r.Cost()) {
		return ErrWork
	}
	r.Uncut = map[*ast.SelectStmt]*ast.SelectStmt{}
	if err := r.loadTables(); err != nil {
		return err
	}
	for i := range r.History.Stmts {
		if err := unmodelledLoss(r.Case.Steps[r.History.Stmts[i].Line].Stmt); err != nil {
			if r.Unmodelled == nil {
				r.Unmodelled = map[int]error{}
			}
			r.Unmodelled[i] = err
		}
	}
	var given solve.Floats
	for i := range r.History.Initial {
		if t := r.Table(r.History.Initial[i].Name); t != nil && t.Def.HasFloats() {
			if given == nil {
				given = solve.GivenFloats(initStmts(r.Case))
			}
			t.Def.Given = given
		}
		if err := r.loadRows(&r.History.Initial[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadTables takes the tables' definitions from the server where it was asked for
// them, else from the set-up.
func (r *Replay) loadTables() error {
	for _, l := range r.Case.Init {
		switch s := l.Stmt.(type) {
		case *stmt.TriggerStmt: // no definition of a table tells of it
			return &Loss{Slug: "set-up of unknown effect", Detail: "a trigger"}
		case *stmt.RawStmt:
			return &Loss{Slug: "set-up of unknown effect", Detail: s.SQL}
		}
	}
	if len(r.History.Initial) > 0 && r.History.Initial[0].Create != "" {
		for i := range r.History.Initial {
			def, engine, err := solve.ReadTable(r.History.Initial[i].Create, r.Dialect)
			if err := r.define(def, engine, err); err != nil && !r.apart(&r.History.Initial[i]) {
				return err
			}
		}
		return nil
	}
	for _, l := range r.Case.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			def, err := solve.NewTable(s, r.Dialect)
			if err := r.define(def, stmt.Engine(s), err); err != nil {
				return err
			}
		case *ast.CreateDatabaseStmt, *ast.DropDatabaseStmt: // the database is ours
		case ast.DDLNode:
			return &Loss{Slug: "set-up of unknown effect", Detail: solve.NodeWords(fmt.Sprintf("%T", s))}
		}
	}
	return nil
}

// define makes a table of its definition, err being what kept it from being read.
func (r *Replay) define(def *solve.Table, engine string, err error) error {
	switch {
	case !r.History.Server.DBMS.Transactional(engine):
		return &Loss{Slug: "engine", Detail: engine}
	case err != nil:
		return LossOf("schema", err)
	}
	r.Store.NewTable(def, clusteredKey(def, r.Profile.Has(rules.UniqueKeyClusters)))
	return nil
}

// loadRows takes a table's first versions from what was read back, rather than
// from the INSERTs: the harness read it on an idle server, so this is the
// truth, generated values included.
func (r *Replay) loadRows(obs *history.Table) error {
	t := r.Table(obs.Name)
	switch {
	case t == nil && r.apart(obs):
		return nil
	case t == nil:
		return &Loss{Slug: "table that no set-up line creates", Detail: obs.Name}
	}
	if len(obs.Columns) != len(t.Def.Columns) {
		return &Loss{Slug: "other columns than the server's", Detail: obs.Name}
	}
	for _, cells := range obs.Rows {
		row, err := t.Def.ParseRow(cells)
		if err != nil {
			return LossOf("value that cannot be read", err)
		}
		r.Store.Insert(t, row, nil)
	}
	return nil
}

func initStmts(c *corpus.Case) []ast.StmtNode {
	out := make([]ast.StmtNode, len(c.Init))
	for i, l := range c.Init {
		out[i] = l.Stmt
	}
	return out
}

func (r *Replay) Table(name string) *versions.Table {
	if t, ok := r.Store.Tables[name]; ok {
		return t
	}
	for n, t := range r.Store.Tables {
		if strings.EqualFold(n, name) {
			return t
		}
	}
	return nil
}

// clusteredKey returns the key that identifies rows: the primary key; else, where that may
// do, the first UNIQUE key of whole columns that are all NOT NULL; nil for a hidden row id.
// https://dev.mysql.com/doc/refman/en/innodb-index-types.html
func clusteredKey(t *solve.Table, unique bool) *solve.Key {
	for i := range t.Keys {
		if t.Keys[i].Primary {
			return &t.Keys[i]
		}
	}
	if !unique {
		return nil
	}
	for i := range t.Keys {
		if k := &t.Keys[i]; k.Unique && !t.Partial(k) && !slices.ContainsFunc(k.Columns, func(c int) bool { return !t.Columns[c].NotNull }) {
			return k
		}
	}
	return nil
}

func (r *Replay) Session(n int) *Session {
	s, ok := r.Sessions[n]
	if !ok {
		s = &Session{Level: r.History.Levels[n]}
		r.Sessions[n] = s
	}
	return s
}

// Begin opens a transaction.
func (r *Replay) Begin(n int, at history.Tick) *versions.Txn {
	s := r.Session(n)
	level := s.NextLevel()
	t := &versions.Txn{Session: n, Level: level, Rules: r.RulesAt(level), Begin: at}
	if t.Rules.Of(rules.SnapshotPoint) == rules.AtBegin {
		t.Snapshot = at
	}
	return t
}

func (r *Replay) Commit(t *versions.Txn, at history.Tick) {
	t.Commit, t.Ended = at, at
}

func (r *Replay) Rollback(t *versions.Txn, at history.Tick) {
	r.Store.Undo(t, 0)
	t.Ended = at
}

// Stored gives the solver what one view sees.
type Stored struct {
	Store *versions.Store
	View  versions.View
}

// Table implements solve.Views.
func (v *Stored) Table(name string) (*solve.Table, []solve.Row, error) {
	for n, t := range v.Store.Tables {
		if strings.EqualFold(n, name) {
			rows, _ := t.Rows(v.View)
			return t.Def, rows, nil
		}
	}
	return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
}

// LossOf turns the solver's refusal into a loss.
func LossOf(slug string, err error) error {
	var l *Loss
	if errors.As(err, &l) {
		return l
	}
	var u *solve.Unsupported
	if errors.As(err, &u) {
		return &Loss{Slug: "unsupported: " + u.What}
	}
	return &Loss{Slug: slug, Detail: err.Error()}
}
