package mvcc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plan"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
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

// Replay replays a history on version chains under one profile and compares
// each statement's answer with what the profile predicts. Use it once.
type Replay struct {
	c       *corpus.Case
	h       *history.History
	profile rules.Profile
	// consulted holds the dimensions of the profile that the replay looked at.
	consulted rules.Consulted
	dialect   solve.Dialect
	solver    *solve.Solver
	store     Store
	// told is the store of the world that was taken over.
	told     *Store
	sessions map[int]*session
	// Steps holds what was predicted, by index into the history's statements.
	Steps []Step
	// keepGoing makes the replay go on behind the first difference.
	keepGoing bool
	touched   []touch
	// views holds the choices between the views of statements that waited.
	views *choices
	// moved holds when statements took effect whose order was not seen.
	moved map[*history.Stmt]history.Tick
	// lookup is how the statement that was predicted last finds its rows, nil
	// where no rule asks.
	lookup *keyLookup
	// ownKeysOnly limits duplicate checks to the transaction's own rows.
	ownKeysOnly bool
	// units holds the committed transactions of an InnoDB history; partial says
	// that one of them was rolled back in part.
	units     []*Txn
	partial   bool
	planCache map[int]plan.Plan
	// unmetBy holds of queries and conditions whether no row is known that they find.
	unmetBy map[ast.Node]bool
	// bare holds locking reads without their conditions, uncut queries without their LIMIT.
	bare, uncut map[*ast.SelectStmt]*ast.SelectStmt
	// unmodelled holds the statements that no part of the replay understands, by
	// their indexes.
	unmodelled map[int]error
	// testedBy holds the columns that conditions mention.
	testedBy map[conditionOn]map[int]bool
	// asking holds what the server answers where the solver refuses.
	asking *solve.Asking
	// budget is what may be spent on the verdict, nil for no end.
	budget *solve.Budget
	// loose lets a statement on InnoDB have waited anywhere; see Loose.
	loose bool
	// places holds where the server told that statements wait, if it told any; anywhere
	// says that paths need not keep to it.
	places   [][]*place
	anywhere bool
	// round says which paths are tried; see In.
	round Round
	// patient raises the bound on sequences of choices; see Patient.
	patient bool
	// loaded says that the tables are there, loading what they cost the budget.
	loaded  bool
	loading int
	// tried holds the paths that did not fit, by their choices.
	tried map[string][]*gone
	// counting says that it is wanted what else is allowed.
	counting bool
	// onlyFits says that the steps of a replay that does not fit are not wanted.
	onlyFits bool
	// observed says that the steps keep what they met; coarse, that a condition was
	// taken to match every row.
	observed, coarse bool
	// inTheWay holds the rows that stood in the way of the statement's, if observed.
	inTheWay []obstacle
}

type session struct {
	level corpus.Level
	characteristics
	txn *Txn
	// next is a level that SET TRANSACTION left for the next transaction.
	next corpus.Level
	// ended counts the transactions that ended.
	ended int
	// reopened says that a deadlock took the transaction and that the session is
	// in another one, which no answer has shown yet: error packets do not.
	reopened bool
}

// Step is the prediction for one statement and how it compares.
type Step struct {
	Kind stmt.Kind
	// Expected is nil where nothing is predicted.
	Expected *Prediction
	// View is what a read saw, or the last view of a write.
	View View
	// Diff is nil where prediction and answer agree.
	Diff *Difference
	// chosen counts the choices of its path by the statement's end; unproved says that it
	// is a deadlock's victim on a cycle that is not proved.
	chosen   int
	unproved bool
	// txn is the statement's transaction, looks what it met, both kept where the replay
	// is observed.
	txn   *Txn
	looks []look
}

// LevelOf is the level of the transaction in which a statement was replayed, that of its
// session at first where that is not known.
func (r *Replay) LevelOf(stmt int) corpus.Level {
	if t := r.Steps[stmt].View.Own; t != nil && t.Level != 0 {
		return t.Level
	}
	return r.h.Levels[r.h.Stmts[stmt].Session]
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
	// read holds the chains whose rows the statement matched.
	read []*Chain
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

// New prepares a replay. keepGoing makes it go on behind the first difference,
// so that every step has its prediction.
func New(c *corpus.Case, h *history.History, p rules.Profile, keepGoing bool) *Replay {
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
	return &Replay{c: c, h: h, profile: p, dialect: d, solver: solver, asking: asking, store: Store{solver: solver},
		sessions: make(map[int]*session), Steps: make([]Step, len(h.Stmts)), keepGoing: keepGoing}
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
	r.budget = b
	r.solver.Within(b)
	return r
}

// Counting makes a replay that fits fill in what else is allowed of all its steps, for
// which it tries the other paths, too.
func (r *Replay) Counting() *Replay {
	r.counting = true
	return r
}

// Counts reports whether the replay is Counting.
func (r *Replay) Counts() bool { return r.counting }

// errWork is the loss of a case that is too large.
var errWork = &Loss{Slug: "work"}

// cost is what one way through the history costs: each statement passes all rows,
// and some compare those that they meet with each other.
func (r *Replay) cost() int {
	rows := 1
	for i := range r.h.Initial {
		rows += len(r.h.Initial[i].Rows)
	}
	return (len(r.h.Stmts) + 1) * (rows + rows*(rows/64))
}

// Run replays the whole history. It returns the first difference, or nil; the
// error is a *Loss.
func (r *Replay) Run() (*Difference, error) {
	if d := r.waitedInSpite(); d != nil && !r.keepGoing {
		return d, nil
	}
	run := r.runTiDB
	if r.h.Server.DBMS != history.TiDB {
		run = r.runInnoDB
	}
	d, err := run()
	if d != nil && r.solver.Unkeyed() != nil {
		return nil, lossOf("key", r.solver.Unkeyed())
	}
	return d, err
}

// replay replays the history along one path of choices.
func (r *Replay) replay() (*Difference, error) {
	var first *Difference
	note := func(d *Difference) bool {
		if d == nil {
			return false
		}
		if d.Stmt >= 0 {
			r.Steps[d.Stmt].Diff = d
		}
		if first == nil {
			first = d
		}
		return !r.keepGoing
	}
	for _, i := range r.order() {
		d, err := r.step(i)
		if err != nil {
			return nil, err
		}
		if note(d) {
			return first, nil
		}
	}
	d, err := r.finish()
	if err != nil {
		return nil, err
	}
	note(d)
	return first, nil
}

// order returns the statements in the order in which they took effect: one
// that did not wait at its submission, since submission is serial; one that
// waited when it returned, since its last view is later than all its waits.
// What a BEGIN commits is committed before the BEGIN waits for anything.
func (r *Replay) order() []int {
	idx := make([]int, len(r.h.Stmts))
	for i := range idx {
		idx[i] = i
	}
	at := func(i int) history.Tick {
		s := &r.h.Stmts[i]
		if s.Return == 0 {
			return 1 << 60
		}
		if k := KindOf(r.c.Steps[s.Line].Stmt); k == stmt.Begin || k == stmt.BeginSnapshot {
			return s.Submit
		}
		return r.effect(s)
	}
	slices.SortStableFunc(idx, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	return idx
}

// load makes the tables and their first versions from what the harness read back.
func (r *Replay) load() error {
	if !r.budget.Spend(r.cost()) {
		return errWork
	}
	r.unmetBy, r.testedBy = map[ast.Node]bool{}, map[conditionOn]map[int]bool{}
	r.bare, r.uncut = map[*ast.SelectStmt]*ast.SelectStmt{}, map[*ast.SelectStmt]*ast.SelectStmt{}
	if err := r.loadTables(); err != nil {
		return err
	}
	for i := range r.h.Stmts {
		if err := unmodelledLoss(r.c.Steps[r.h.Stmts[i].Line].Stmt); err != nil {
			if r.unmodelled == nil {
				r.unmodelled = map[int]error{}
			}
			r.unmodelled[i] = err
		}
	}
	var given solve.Floats
	for i := range r.h.Initial {
		if t := r.table(r.h.Initial[i].Name); t != nil && t.Def.HasFloats() {
			if given == nil {
				given = solve.GivenFloats(initStmts(r.c))
			}
			t.Def.Given = given
		}
		if err := r.loadRows(&r.h.Initial[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadTables takes the tables' definitions from the server where it was asked for
// them, else from the set-up.
func (r *Replay) loadTables() error {
	if len(r.h.Initial) > 0 && r.h.Initial[0].Create != "" {
		for i := range r.h.Initial {
			def, engine, err := solve.ReadTable(r.h.Initial[i].Create, r.dialect)
			if err := r.define(def, engine, err); err != nil {
				return err
			}
		}
		return nil
	}
	for _, l := range r.c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			def, err := solve.NewTable(s, r.dialect)
			if err := r.define(def, solve.Engine(s), err); err != nil {
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
	case !solve.Transactional(engine, r.h.Server.DBMS):
		return &Loss{Slug: "engine", Detail: engine}
	case err != nil:
		return lossOf("schema", err)
	}
	r.store.NewTable(def, clusteredKey(def, r.h.Server.DBMS))
	return nil
}

// loadRows takes a table's first versions from what was read back, rather than
// from the INSERTs: the harness read it on an idle server, so this is the
// truth, generated values included.
func (r *Replay) loadRows(obs *history.Table) error {
	t := r.table(obs.Name)
	if t == nil {
		return &Loss{Slug: "table that no set-up line creates", Detail: obs.Name}
	}
	if len(obs.Columns) != len(t.Def.Columns) {
		return &Loss{Slug: "other columns than the server's", Detail: obs.Name}
	}
	for _, cells := range obs.Rows {
		row, err := t.Def.ParseRow(cells)
		if err != nil {
			return lossOf("value that cannot be read", err)
		}
		r.store.Insert(t, row, nil)
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

func (r *Replay) table(name string) *Table {
	if t, ok := r.store.Tables[name]; ok {
		return t
	}
	for n, t := range r.store.Tables {
		if strings.EqualFold(n, name) {
			return t
		}
	}
	return nil
}

// clusteredKey returns the key that identifies rows: the primary key; on
// InnoDB else the first UNIQUE key of whole columns that are all NOT NULL; nil for
// a hidden row id.
// https://dev.mysql.com/doc/refman/en/innodb-index-types.html
func clusteredKey(t *solve.Table, dbms history.DBMS) *solve.Key {
	for i := range t.Keys {
		if t.Keys[i].Primary {
			return &t.Keys[i]
		}
	}
	if dbms == history.TiDB {
		return nil
	}
	for i := range t.Keys {
		if k := &t.Keys[i]; k.Unique && !t.Partial(k) && !slices.ContainsFunc(k.Columns, func(c int) bool { return !t.Columns[c].NotNull }) {
			return k
		}
	}
	return nil
}

func (r *Replay) session(n int) *session {
	s, ok := r.sessions[n]
	if !ok {
		s = &session{level: r.h.Levels[n]}
		r.sessions[n] = s
	}
	return s
}

// begin opens a transaction.
func (r *Replay) begin(n int, at history.Tick) *Txn {
	s := r.session(n)
	level := s.nextLevel()
	t := &Txn{Session: n, Level: level, Rules: r.rulesAt(level), Begin: at}
	if t.Rules.of(rules.SnapshotPoint) == rules.AtBegin {
		t.Snapshot = at
	}
	return t
}

func (r *Replay) commit(t *Txn, at history.Tick) {
	t.Commit, t.Ended = at, at
}

func (r *Replay) rollback(t *Txn, at history.Tick) {
	r.store.undo(t, 0)
	t.Ended = at
}

// stored gives the solver what one view sees.
type stored struct {
	store *Store
	view  View
}

// Table implements solve.Views.
func (v *stored) Table(name string) (*solve.Table, []solve.Row, error) {
	for n, t := range v.store.Tables {
		if strings.EqualFold(n, name) {
			rows, _ := t.Rows(v.view)
			return t.Def, rows, nil
		}
	}
	return nil, nil, &solve.SQLError{Code: 1146, Message: fmt.Sprintf("Table '%s' doesn't exist", name)}
}

// lossOf turns the solver's refusal into a loss.
func lossOf(slug string, err error) error {
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
