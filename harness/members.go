package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// barrier is how a member is asked to have applied what the others have committed.
type barrier struct {
	// wait ends when the session's member shows all that any member had committed before wait was sent.
	wait string
	// promised tells by a name of package oracle/promise what transactions on different members are promised at a level,
	// if each begins when its member has applied what was committed before.
	promised map[corpus.Level]string
	// keyless says why a table needs a primary key.
	keyless string
}

// Locks are not known to other members, so that what a transaction reads to change it may be changed by another one: the
// plain reads of a transaction are of one snapshot, and its writes are on the newest rows, as on one server; whoever
// commits last of two that change a row fails. Nothing is promised at SERIALIZABLE.
var byViews = map[corpus.Level]string{corpus.ReadCommitted: "statement", corpus.RepeatableRead: "snapshot"}

// FreshReads is what a session of a node says, once, to have its reads wait for all that other nodes had committed before;
// a topology that is not in it has no such words.
// https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables#wsrep_sync_wait
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-consistency-guarantees.html
var FreshReads = map[TopologyKind]string{
	Galera:      "SET SESSION wsrep_sync_wait = 1",
	GroupSingle: beforeReads,
	GroupMulti:  beforeReads,
}

const beforeReads = "SET SESSION group_replication_consistency = 'BEFORE'"

// barriers are those of the topologies whose members all take writes. A wait reads a table: neither kind of cluster has
// a SELECT without one wait.
var barriers = map[TopologyKind]barrier{
	Galera: {
		wait: anyTable, promised: byViews,
		keyless: "a Galera cluster does not support DELETE on a table without a primary key, and may order its rows " +
			"differently on each node " +
			"(https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations)",
	},
	GroupMulti: {
		wait: anyTable, promised: byViews,
		keyless: "Group Replication wants a primary key of each table " +
			"(https://dev.mysql.com/doc/refman/9.7/en/group-replication-requirements.html)",
	},
}

const anyTable = "SELECT COUNT(*) FROM mysql.plugin"

// PromisedAcross tells by names of package oracle/promise what transactions of a case are promised if they run on
// different members of a cluster; nil: all run on one server, whose rules are known.
func PromisedAcross(b Backend) map[corpus.Level]string {
	if c, ok := b.(Clustered); ok {
		return barriers[c.Topology().Kind].promised
	}
	return nil
}

// members is how a pool reaches the members of a cluster.
type members struct {
	barrier barrier
	fresh   string // see FreshReads
	form    string
	names   []string
	dbs     []Database
}

// membersOf returns nil where cases run on one server.
func membersOf(b Backend) (*members, error) {
	c, ok := b.(Clustered)
	if !ok {
		return nil, nil
	}
	t := c.Topology()
	out := &members{form: t.Form, fresh: FreshReads[t.Kind]}
	if out.barrier, ok = barriers[t.Kind]; !ok {
		return nil, nil
	}
	for _, n := range t.Nodes {
		if n.Role != Member {
			continue
		}
		db, err := DatabaseOf(n.Backend)
		if err != nil {
			return nil, fmt.Errorf("use member %s: %w", n.Name, err)
		}
		out.names, out.dbs = append(out.names, n.Name), append(out.dbs, db)
	}
	return out, nil
}

// told is what a history says of the members.
func (m *members) told() *history.Cluster {
	if m == nil {
		return nil
	}
	return &history.Cluster{Form: m.form, Members: m.names}
}

// LeftError says that a member of a cluster is none any more.
type LeftError struct{ Err error }

func (e *LeftError) Error() string { return "a member of the cluster has left it: " + e.Err.Error() }

// Unwrap returns what the member answered.
func (e *LeftError) Unwrap() error { return e.Err }

// asLeft makes an error one of a member that has left, if its code says so.
func asLeft(code uint16, err error) error {
	if OutsideCluster(code) {
		return &LeftError{err}
	}
	return err
}

// OutsideCluster reports whether an error is that of a member which is none any more: WSREP is not ready, the server only
// reads, is offline, or cannot wait for what the others commit.
// https://mariadb.com/docs/server/reference/error-codes/mariadb-error-codes-1000-to-1099/e1047
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-responses-failure-exit.html
func OutsideCluster(code uint16) bool {
	switch code {
	case 1047, 1290, 1836, 3032, 3796, 3797:
		return true
	}
	return false
}

// of returns which member a session of a case, which is numbered from 1, is on.
func (m *members) of(session int) int { return (session - 1) % len(m.dbs) }

// memberShift keeps the connections of different members apart, each of which counts its own from 1.
const memberShift = 40

// open connects a session of a case. Session 0 is the worker's own.
func (p *Pool) open(ctx context.Context, number int) (Session, uint64, error) {
	if p.members == nil || number == 0 {
		s, err := p.db.Open(ctx, number == 0)
		return s, 0, err
	}
	at := p.members.of(number)
	s, err := p.members.dbs[at].Open(ctx, false)
	return s, uint64(at) << memberShift, err
}

// prober is one that sees no waits where the sessions are on different members: these hold no locks for each other.
func (p *Pool) prober(ctx context.Context) (Prober, error) {
	if p.members != nil {
		return blindProber{}, nil
	}
	return p.db.Prober(ctx)
}

type blindProber struct{}

func (blindProber) Waiting(context.Context, []uint64) ([]Waiting, error) { return nil, nil }
func (blindProber) Wake() <-chan struct{}                                { return nil }
func (blindProber) Close() error                                         { return nil }

// everywhere returns when all members show what each of them has committed.
func (w *worker) everywhere(ctx context.Context) error {
	if w.pool.members == nil {
		return nil
	}
	for i := range w.pool.members.dbs {
		if _, err := w.onMember(ctx, i, "", w.pool.members.barrier.wait); err != nil {
			return lostUnlessCancelled(ctx, fmt.Errorf("wait until member %s has applied all: %w", w.pool.members.names[i], err))
		}
	}
	return nil
}

// onMember runs a text of ours on a member, in a database unless that is empty, on a connection of the worker's own. A
// member that has left is an error.
func (w *worker) onMember(ctx context.Context, i int, db, sql string) (Reply, error) {
	m := w.pool.members
	if w.sides == nil {
		for _, d := range m.dbs {
			w.sides = append(w.sides, &remote{db: d, setup: m.fresh})
		}
	}
	r, err := w.sides[i].execute(ctx, w.pool.speech.use, db, sql)
	if err == nil && r.Err != nil && (db == "" || OutsideCluster(r.Err.Code)) {
		err = refusedBy(&r, sql)
	}
	return r, err
}

// refusedBy makes an error of the one that a member answers with.
func refusedBy(r *Reply, sql string) error {
	return asLeft(r.Err.Code, fmt.Errorf("%s: %s", sql, r.Err))
}

func (w *worker) leaveMembers() error {
	var errs []error
	for _, s := range w.sides {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// mayHaveCommitted says that an answer that has come in may be that of a statement that committed something, which the
// other members have to hear of: BEGIN and DDL commit what was open, too.
func (r *run) mayHaveCommitted() bool {
	for i := range r.got {
		l := r.lane(r.got[i].session.number)
		if did := r.last(l).traits; did&plainRead == 0 && (!l.inTxn || did&locks == 0) {
			return true
		}
	}
	return false
}

// last is the step that a session was sent last.
func (r *run) last(l *lane) *step {
	for i := len(r.h.Stmts) - 1; ; i-- {
		if st := &r.h.Stmts[i]; st.Session == l.number {
			return &r.s.steps[st.Line]
		}
	}
}

// compareMembers tells in the history which member holds other tables than the first one, when all have applied all.
func (w *worker) compareMembers(ctx context.Context, o outcome, h *history.History) error {
	m := w.pool.members
	for i := 1; i < len(m.dbs); i++ {
		trouble, err := o.elsewhere(w.pool.speech, func(sql string) (Reply, error) {
			r, err := w.onMember(ctx, i, o.p.db, sql)
			if err != nil {
				err = lostUnlessCancelled(ctx, fmt.Errorf("read the tables of member %s: %w", m.names[i], err))
			}
			return r, err
		})
		if err != nil {
			return fmt.Errorf("compare the members of a cluster: %w", err)
		}
		if trouble != nil {
			trouble.Form, trouble.Node, trouble.First = m.form, m.names[i], m.names[0]
			h.Replica = trouble
			return nil
		}
	}
	return nil
}

// spreads refuses a case whose sessions cannot be on members of their own, or that uses what clusters do not support.
func (p *Pool) spreads(c *corpus.Case, s *script) error {
	m := p.members
	if m == nil {
		return nil
	}
	if held, _ := c.Held(); held >= 0 {
		return errUnheldAcross
	}
	switch {
	case len(s.sessions) > 0 && s.sessions[len(s.sessions)-1] > len(m.dbs):
		why := fmt.Sprintf("each session is to be on a member of its own, and there are %d", len(m.dbs))
		return &RefusedError{s.steps[0].sql, why}
	case s.kill != "":
		return &RefusedError{s.kill, "a session of another member cannot be killed"}
	}
	keys := primaryKeys{}
	for i, l := range c.Init {
		if keys.lost(l.Stmt) {
			return &RefusedError{s.init[i], m.barrier.keyless}
		}
	}
	for i, l := range c.Steps {
		if keys.lost(l.Stmt) {
			return &RefusedError{s.steps[i].sql, m.barrier.keyless}
		}
	}
	return nil
}

// errUnheldAcross: of a cluster one server alone would be traced.
var errUnheldAcross = &UnheldError{"the sessions of a case are on different members of a cluster"}

// primaryKeys are the columns of primary keys, by the names of their tables.
type primaryKeys map[string][]string

// lost says that a statement may leave a table that all members have without a primary key.
func (k primaryKeys) lost(n ast.StmtNode) bool {
	switch x := n.(type) {
	case *ast.CreateTableStmt:
		if x.TemporaryKeyword != ast.TemporaryNone {
			return false
		}
		k[x.Table.Name.L] = stmt.PrimaryKey(x)
		return k[x.Table.Name.L] == nil
	case *ast.DropIndexStmt:
		return strings.EqualFold(x.IndexName, primaryName)
	case *ast.AlterTableStmt:
		drops, adds := false, false
		for _, a := range x.Specs {
			switch a.Tp {
			case ast.AlterTableDropPrimaryKey:
				drops = true
			case ast.AlterTableDropIndex:
				drops = drops || strings.EqualFold(a.Name, primaryName)
			case ast.AlterTableDropColumn: // which takes a key of this column along
				drops = drops || slices.Contains(k[x.Table.Name.L], a.OldColumnName.Name.L)
			case ast.AlterTableAddConstraint:
				if a.Constraint.Tp == ast.ConstraintPrimaryKey {
					adds, k[x.Table.Name.L] = true, stmt.KeyColumns(a.Constraint.Keys)
				}
			}
		}
		return drops && !adds
	}
	return false
}

// primaryName is how an index is called that is a table's primary key.
const primaryName = "PRIMARY"
