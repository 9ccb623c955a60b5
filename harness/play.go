package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Player decides what one session sends, by what it was answered so far.
type Player interface {
	// Next returns the session's next statement, nil when it has nothing left. last
	// is the answer to the one before, nil at first.
	Next(last *history.Result) (ast.StmtNode, error)
}

// Play is a run whose statements are not known before it.
type Play struct {
	// Init makes tables and rows, as that of a case.
	Init []corpus.Line
	// Players are those of session 1 and so on.
	Players []Player
	// Order tells, by session number, who is next. A session that waits, or has
	// nothing left, is passed over; behind the end the sessions take turns.
	Order  []int
	Levels Levels
	// Protocol is how the statements of the players are sent.
	Protocol protocol.Protocol
	// Probes are read on a connection of their own before the first statement, and
	// again behind the last.
	Probes []ast.StmtNode
}

// Played is what came of a Play.
type Played struct {
	// Case holds the statements in the order in which they were sent, so that it can
	// be run again, judged and saved like any other.
	Case    *corpus.Case
	History *history.History
	// Before and After hold the answers to the probes; After is nil if the run did
	// not end.
	Before, After []history.Result
}

// maxPlayed bounds the statements of a play: a player that never ends is a mistake.
const maxPlayed = 1000

// Play runs sessions whose statements depend on what they are answered. Waits are
// observed and tables refilled as by Run; errors are the same.
func (p *Pool) Play(ctx context.Context, play Play) (*Played, error) {
	w, err := p.borrow(ctx)
	if err != nil {
		return nil, err
	}
	defer p.giveBack(w)
	a, err := newStage(&play, p.server.DBMS)
	if err != nil {
		return nil, err
	}
	h := &history.History{Server: p.server, Levels: map[int]corpus.Level{}, Cluster: p.members.told()}
	for _, n := range a.s.sessions {
		h.Levels[n] = play.Levels.of(n)
	}
	err = w.perform(ctx, a.s, h, play.Levels, a.act)
	h, err = w.conclude(ctx, h, err)
	return &Played{Case: a.c, History: h, Before: a.before, After: a.after}, err
}

// stage is a play under way.
type stage struct {
	*Play
	s             *script
	c             *corpus.Case
	dialect       corpus.Dialect
	probes        string
	before, after []history.Result
	ended         []bool
	// last is the index of the last statement of each session, -1 before the first.
	last []int
}

func newStage(play *Play, dbms history.DBMS) (*stage, error) {
	a := &stage{Play: play, c: &corpus.Case{Init: play.Init}, dialect: dialects[dbms]}
	s, err := newScript(a.c, dbms)
	if err != nil {
		return nil, err
	}
	if s.database != "" {
		return nil, &RefusedError{s.init[0], "it names a database"}
	}
	s.fillsTable = fillsTable(a.c)
	a.c.SetProtocol(play.Protocol)
	if err := s.sendBy(play.Protocol); err != nil {
		return nil, err
	}
	a.s = s
	for i := range play.Players {
		s.sessions = append(s.sessions, i+1)
	}
	a.ended, a.last = make([]bool, len(play.Players)), slices.Repeat([]int{-1}, len(play.Players))
	var probes []string
	for _, stmt := range play.Probes {
		sql, err := said(stmt, a.dialect)
		if err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
		if tr, err := inspect(stmt, sql); err != nil {
			return nil, err
		} else if tr&(locks|ends|taints|altersSchema|namesDatabase|aboutSession) != 0 {
			return nil, &RefusedError{sql, "a probe only reads"}
		}
		probes = append(probes, sql)
	}
	a.probes = strings.Join(probes, ";")
	return a, nil
}

// refillKeyed lets tables with foreign keys be refilled: emptied without a look at
// the keys, they can be filled in the order in which they were made.
func (s *script) refillKeyed(c *corpus.Case) {
	if s.refill || s.tainting {
		return
	}
	var tables []tableSpec
	filling := false
	for _, l := range c.Init {
		switch x := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			if filling || x.Select != nil || x.Partition != nil || x.ReferTable != nil || x.IfNotExists {
				return
			}
			tables = append(tables, tableSpec{name: x.Table.Name.O, auto: autoIncrements(x)})
		case *ast.InsertStmt:
			if x.Select != nil || x.IsReplace || len(x.OnDuplicate) > 0 {
				return
			}
			filling = true
		default:
			return
		}
	}
	s.refill, s.keyed, s.tables = true, true, tables
}

// fillsTable tells which table each INSERT of a set-up is for; nil where it is not only
// INSERT … VALUES. Several plays on the same rows change a few tables each, and the others
// need no refill.
func fillsTable(c *corpus.Case) map[int]string {
	out := map[int]string{}
	for i, l := range c.Init {
		switch x := l.Stmt.(type) {
		case *ast.CreateTableStmt:
		case *ast.InsertStmt:
			name := stmt.Of(x).Table()
			if name == nil || x.Select != nil || x.IsReplace || len(x.OnDuplicate) > 0 {
				return nil
			}
			out[i] = name.Name.O
		default:
			return nil
		}
	}
	return out
}

// act submits the statements of all players.
func (a *stage) act(r *run, ctx context.Context) error {
	var err error
	if a.before, err = a.probe(r); err != nil {
		return err
	}
	for _, n := range a.Order {
		if l := r.lane(n); l.stmt < 0 && !a.ended[n-1] {
			if err := a.step(ctx, r, l); err != nil || r.stuck {
				return err
			}
		}
	}
	for turn := 0; ; turn++ {
		idle := a.free(r, turn)
		switch {
		case idle != nil:
			if err := a.step(ctx, r, idle); err != nil || r.stuck {
				return err
			}
		case r.outstanding() > 0:
			// All who are left wait: the server itself must end that.
			if l, err := r.hopeless(ctx); err != nil {
				return err
			} else if l != nil {
				if err := r.interrupt(l); err != nil {
					return err
				}
			}
			if err := r.settle(ctx, nil); err != nil || r.stuck {
				return err
			}
		default:
			a.after, err = a.probe(r)
			return err
		}
	}
}

// free returns a session that can be sent a statement, nil if there is none; turn
// decides where the search begins.
func (a *stage) free(r *run, turn int) *lane {
	for i := range r.lanes {
		l := r.lanes[(turn+i)%len(r.lanes)]
		if l.stmt < 0 && !a.ended[l.number-1] {
			return l
		}
	}
	return nil
}

// step asks a player for its next statement and submits that.
func (a *stage) step(ctx context.Context, r *run, l *lane) error {
	var last *history.Result
	if i := a.last[l.number-1]; i >= 0 {
		last = &r.h.Stmts[i].Result
	}
	stmt, err := a.Players[l.number-1].Next(last)
	if err != nil {
		return fmt.Errorf("session %d: %w", l.number, err)
	}
	if stmt == nil {
		a.ended[l.number-1] = true
		return nil
	}
	if len(a.c.Steps) >= maxPlayed {
		return fmt.Errorf("session %d: more than %d statements were sent", l.number, maxPlayed)
	}
	sql, err := said(stmt, a.dialect)
	if err != nil {
		return fmt.Errorf("session %d: %w", l.number, err)
	}
	tr, err := inspect(stmt, sql)
	if err != nil {
		return err
	}
	if tr&(namesDatabase|uses|altersSchema|aboutSession) != 0 {
		return &RefusedError{sql, "it reaches beyond the rows of the workload's tables"}
	}
	i := len(a.s.steps)
	a.s.traits |= tr
	a.s.steps = append(a.s.steps, step{session: l.number, sql: sql, node: stmt, traits: tr})
	a.c.Steps = append(a.c.Steps, corpus.Line{Session: l.number, Stmt: stmt})
	a.last[l.number-1] = len(r.h.Stmts)
	// Nobody can have lines parked, so there is nothing to unpark.
	err = r.advance(ctx, l, i, false)
	r.ready = r.ready[:0]
	return err
}

// probe reads the probes in one round trip.
func (a *stage) probe(r *run) ([]history.Result, error) {
	if a.probes == "" {
		return []history.Result{}, nil
	}
	if err := r.w.use(r.w.ctl, r.lanes[0].db); err != nil {
		return nil, err
	}
	reply, err := r.w.control(a.probes)
	if err != nil {
		return nil, err
	}
	if reply.Err != nil {
		return nil, &ProbeError{Index: len(reply.Earlier), Err: *reply.Err}
	}
	out := make([]history.Result, 0, len(a.Probes))
	for _, set := range append(reply.Earlier, RowSet{reply.Columns, reply.Rows}) {
		out = append(out, history.Result{Columns: set.Columns, Rows: set.Rows})
	}
	if len(out) != len(a.Probes) {
		return nil, fmt.Errorf("%d probes: the server gave the rows of %d", len(a.Probes), len(out))
	}
	return out, nil
}

// ProbeError says that the server refused a probe.
type ProbeError struct {
	Index int
	Err   history.Error
}

func (e *ProbeError) Error() string {
	return fmt.Sprintf("probe %d: error %d (%s): %s", e.Index+1, e.Err.Code, e.Err.State, e.Err.Message)
}
