package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// client runs one transaction after another and records them.
type client struct {
	run     *run
	number  int
	session *session
	chooser chooser
	// process numbers what the history calls a session: a client gets another
	// number when it cannot tell how a transaction ended, because that may still
	// take effect when the next one has begun.
	process int64

	// node is where the client works; nil: there is one server.
	node *node
	// routed has it follow the node that takes writes; nil: it stays where it is.
	routed *router

	plan     plan
	openings []*opening
	text     []byte
	// begun: the server has rolled a transaction back by itself. MySQL then stays in a
	// transaction, so that the next statement is none of its own, and as read-only as
	// before. https://dev.mysql.com/doc/refman/en/commit.html
	begun bool
	// keeper makes the transactions of a workload of package invariant; else nil.
	keeper *invariant.Client
}

// patience is how long is waited for a server that does not answer: one that is
// being restarted gets more of it.
func (r *run) patience() time.Duration {
	if len(r.settings.Faults) > 0 {
		return recoveryTime + 30*time.Second
	}
	return 15 * time.Second
}

// loop runs the epochs that come until there are none. After an error it only lets
// the others come to the end of theirs.
func (c *client) loop(ctx context.Context, epochs <-chan *epoch) {
	defer c.session.close()
	var err error
	for e := range epochs {
		if err == nil {
			if err = c.epoch(ctx, e); err != nil {
				if c.node != nil {
					err = fmt.Errorf("node %s: %w", c.node.Name, c.node.left(err))
				}
				c.run.fail(err)
			}
		}
		e.running.Done()
	}
}

func (c *client) epoch(ctx context.Context, e *epoch) error {
	t := e.tapes[c.number]
	c.chooser.epoch = e
	for n := 0; !e.over.Load(); n++ {
		c.follow(t)
		if c.session.conn == nil {
			if err := c.connected(ctx, t); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("client %d: %w", c.number, err)
			}
			c.reconnected()
			continue // the epoch may have ended meanwhile
		}
		unsure := c.unsure()
		if err := c.transaction(t); err != nil {
			return fmt.Errorf("client %d: %w", c.number, err)
		}
		if unsure || c.unsure() {
			t.setAside()
		}
		if c.chooser.readsOnly {
			c.keepPace(e, t)
			continue
		}
		e.sent.Add(1)
		if e.full(len(t.txns)) {
			e.end()
		}
		e.pace(len(t.txns))
	}
	if a, ok := c.session.conn.(*adapterConn); ok {
		if err := a.quiet(); err != nil {
			return fmt.Errorf("client %d: %w", c.number, err)
		}
	}
	return nil
}

// reconnected has a client of a replica that may have been started again go on as another session: such a replica
// answers as soon as what it holds is consistent, which may be less than what it showed before it was killed.
func (c *client) reconnected() {
	if c.node != nil && c.node.Role == harness.Replica && c.run.breakable() != nil {
		c.process += int64(c.run.settings.Clients)
	}
}

// transaction plans, runs and records one transaction. An error is one of the
// harness or a result that no statement of the workload can have.
func (c *client) transaction(t *tape) error {
	if c.keeper != nil {
		return c.keep(t)
	}
	c.plan.draw(c.run.workload, &c.chooser, c.openings)
	return c.perform(t, c.plan.end(&c.chooser))
}

// perform runs and records the transaction that is planned.
func (c *client) perform(t *tape, end string) error {
	t.start = start{c.plan.name, c.plan.save, c.plan.back}
	invoke := c.run.now()
	err, committing, broken := c.statements(t, end)
	switch {
	case broken != nil:
		return c.inStep(broken)
	case adapterFailed(err):
		// It may have done what it was asked before it failed.
		t.end(c.process, invoke, c.run.now(), kv.Info)
		c.run.count.aborted(kv.Info, adapterBroken)
		return err
	case end == "ROLLBACK" && (err == nil || committing):
		// Whether or not the answer came: nothing asked for a commit.
		c.giveUp(err)
		t.end(c.process, invoke, c.run.now(), kv.Fail)
		t.txns[len(t.txns)-1].planned = true
		c.run.count.rolledBack()
		return nil
	case err == nil:
		t.end(c.process, invoke, c.run.now(), kv.OK)
		c.run.count.ok.Add(1)
		return nil
	}
	status, by := c.run.outcome(err, committing)
	if c.begun = c.session.conn != nil && ended(by); c.session.conn != nil && !c.begun {
		c.giveUp(c.session.end("ROLLBACK"))
	}
	t.end(c.process, invoke, c.run.now(), status)
	c.run.count.aborted(status, by)
	c.standBack(by)
	if status == kv.Info {
		c.process += int64(c.run.settings.Clients)
	}
	if corrupt[by] {
		return fmt.Errorf("%s: %w", c.text, err)
	}
	if _, usual := abortOf(by); !usual && by != noCode && !(c.session.away && outside(by)) {
		return c.run.unexpected(err)
	}
	return nil
}

// giveUp closes the connection if a ROLLBACK was refused on it: a node without quorum answers 1047 to that, too, and
// keeps the transaction open, which the next statement would go on with. The transactions of a connection that is lost
// are rolled back.
func (c *client) giveUp(refused error) {
	if refused != nil {
		c.session.close()
	}
}

// ended tells that after an error the transaction is over.
func ended(by code) bool {
	a, _ := abortOf(by)
	return a.ended
}

// rolledBackOf is of how many transactions one is rolled back at its end, so that
// reads of what was never committed show.
const rolledBackOf = 32

// end is the statement that ends a transaction; empty: its only statement does.
func (p *plan) end(c *chooser) string {
	back := c.rand.IntN(rolledBackOf) == 0
	switch {
	case p.begin == "":
		return ""
	case back:
		return "ROLLBACK"
	}
	return "COMMIT"
}

// statements sends the statements of the plan, then the end. A write that failed is recorded,
// too: it must not be seen.
func (c *client) statements(t *tape, end string) (err error, committing bool, broken error) {
	switch {
	case c.plan.begin == "" && c.begun:
		if err := c.session.exec("ROLLBACK"); err != nil {
			return err, false, nil
		}
	case c.plan.begin != "":
		if err := c.session.begin(c.plan.begin); err != nil {
			return err, false, nil
		}
	}
	c.begun = false
	w := c.run.workload
	mark, met := 0, false
	for i, s := range c.plan.steps {
		if i == c.plan.save {
			if err := c.session.exec("SAVEPOINT s"); err != nil {
				return err, false, nil
			}
			mark = len(t.ops)
		}
		if i == c.plan.back {
			if err := c.back(t, mark); err != nil {
				return err, false, nil
			}
		}
		if s.guarded && !met {
			continue // the row that it was to change was not there to be locked
		}
		t.statement, t.from = uint16(i), c.run.now()
		var a *answer
		c.text, a, err = c.session.step(w, c.run.dialect, c.text, s)
		t.to = c.run.now()
		if err != nil {
			if !s.kind.IsRead() {
				broken = w.record(t, s, nil)
			}
			return err, c.plan.begin == "", broken
		}
		if s.guard {
			met = len(a.rows) > 0
		}
		if err := w.record(t, s, a); err != nil {
			return nil, false, &WrongAnswer{SQL: string(c.text), Err: err}
		}
	}
	if c.plan.back == len(c.plan.steps) {
		if err := c.back(t, mark); err != nil {
			return err, false, nil
		}
	}
	if end == "" {
		return nil, true, nil
	}
	return c.session.end(end), true, nil
}

// back rolls back to the savepoint.
func (c *client) back(t *tape, mark int) error {
	err := c.session.exec("ROLLBACK TO SAVEPOINT s")
	if err == nil {
		t.to = c.run.now()
		t.undo(mark)
	}
	return err
}

// WrongAnswer says that a server answered what no order of transactions explains,
// for example two rows of one primary key.
type WrongAnswer struct {
	SQL string
	Err error
}

func (e *WrongAnswer) Error() string { return e.SQL + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *WrongAnswer) Unwrap() error { return e.Err }

var errStrange = errors.New("most transactions fail for a reason that no competition of clients explains")
