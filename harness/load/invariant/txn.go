package invariant

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// rolledBackOf is of how many transactions that write one is rolled back at its end.
const rolledBackOf = 32

// txn is a transaction of a client while it runs.
type txn struct {
	*Client
	epoch *Epoch
	// token is a number that no other transaction of the run has.
	token int64
	// readsOnly: there is nothing to roll back.
	readsOnly bool
	// settle is told how the transaction ended; nil: nobody cares.
	settle func(kv.Status)

	result  Result
	log     Logged
	pending []Violation
	met     []string
}

// Result is how a transaction of a client ended.
type Result struct {
	Outcome
	// Planned: the client rolled it back because it wanted to.
	Planned      bool
	Invoke, Back int64
	// Err ends the run: the server's message, or that of whoever keeps the findings.
	Err error
}

// Transact runs one transaction. Its session is connected.
func (c *Client) Transact(e *Epoch) Result {
	t := &txn{Client: c, epoch: e, token: c.set.tokens.Add(1)}
	t.result.Invoke = c.set.host.Now()
	t.log.Client, t.log.From = c.number, t.result.Invoke
	e.state.transact(t)
	if t.result.Status == kv.OK {
		c.set.mu.Lock()
		for _, k := range t.met {
			c.set.met[k]++
		}
		c.set.mu.Unlock()
		for _, v := range t.pending {
			if err := c.set.report(e, v); err != nil && t.result.Err == nil {
				t.result.Err = err
			}
		}
	}
	return t.result
}

// within runs what a transaction does between BEGIN and COMMIT.
func (t *txn) within(body func() error) {
	end := "COMMIT"
	if !t.readsOnly && t.rand.IntN(rolledBackOf) == 0 {
		end = "ROLLBACK"
	}
	committing := false
	err := t.exec("BEGIN")
	if err == nil {
		err = body()
	}
	if err == nil {
		committing = true
		err = t.exec(end)
	}
	if end == "ROLLBACK" && (err == nil || committing) {
		t.result.Planned = true // whether or not the answer came: nothing asked for a commit
		if err != nil {
			t.conn.Drop()
		}
		t.end(kv.Fail)
		return
	}
	t.close(err, committing)
	if err != nil && t.result.Code != "" && !t.result.Ended {
		if t.exec("ROLLBACK") != nil {
			t.conn.Drop() // the server rolls back what is left of a connection
		}
	}
}

// close takes note of the error, if any, with which a transaction has ended.
func (t *txn) close(err error, committing bool) {
	if err == nil {
		t.end(kv.OK)
		return
	}
	t.result.Outcome = t.set.host.Outcome(err, committing)
	if _, usual := t.set.Workload.usual[t.result.Code]; usual {
		t.result.Usual, t.result.Status = true, kv.Fail
	}
	if !t.result.Usual && t.result.Code != "" {
		last := t.log.Statements[len(t.log.Statements)-1]
		t.result.Err = fmt.Errorf("%s: %w", last.SQL, err)
	}
	t.end(t.result.Status)
}

func (t *txn) end(s kv.Status) {
	t.result.Status, t.result.Back = s, t.set.host.Now()
	t.log.To, t.log.Outcome = t.result.Back, outcomes[s]
	if t.result.Planned {
		t.log.Outcome = "rolled back by its client"
	}
	logged := t.log
	t.trail.add(&logged)
	if s == kv.OK && !t.readsOnly {
		t.epoch.changes.Add(1)
	}
	if t.settle != nil {
		t.settle(s)
	}
}

var outcomes = map[kv.Status]string{kv.OK: "committed", kv.Fail: "aborted", kv.Info: "unknown"}

// exec runs a statement that touches some rows.
func (t *txn) exec(sql string, keys ...int64) error {
	_, err := t.change(sql, keys...)
	return err
}

// change tells how many rows a statement changed.
func (t *txn) change(sql string, keys ...int64) (int64, error) {
	s := Sentence{SQL: sql, keys: keys, From: t.set.host.Now()}
	n, err := t.conn.Change(sql)
	s.idle = n == 0 && err == nil
	s.Answer = strconv.FormatInt(n, 10) + " rows changed"
	t.said(s, err)
	return n, err
}

// query returns rows; of those whose first column is a number that is a key.
func (t *txn) query(sql string, keys ...int64) ([][]history.Cell, error) {
	s := Sentence{SQL: sql, keys: keys, From: t.set.host.Now()}
	rows, err := t.conn.Query(sql)
	s.Answer, s.idle = spellRows(rows), true
	for _, r := range rows {
		if len(keys) == 0 && len(r) > 0 {
			s.keys = append(s.keys, number(r[0]))
		}
	}
	t.said(s, err)
	return rows, err
}

func (t *txn) said(s Sentence, err error) {
	s.To = t.set.host.Now()
	if err != nil {
		s.Answer = err.Error()
	}
	t.log.Statements = append(t.log.Statements, s)
}

// violates is told if the transaction commits.
func (t *txn) violates(v Violation) { t.pending = append(t.pending, v) }

// meets says that the transaction, if it commits, could have shown some kinds of findings.
func (t *txn) meets(kinds ...string) { t.met = append(t.met, kinds...) }

// among draws one of a list.
func among[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// number is that of a cell; what is none is -1, which is no key.
func number(c history.Cell) int64 {
	n, err := strconv.ParseInt(c.Text, 10, 64)
	if c.Null || err != nil {
		return -1
	}
	return n
}

// reader reads everything at the end of an epoch, in one snapshot.
type reader struct {
	conn  Conn
	epoch *Epoch
}

// snapshot runs reads in one transaction.
func (r *reader) snapshot(body func() error) error {
	if _, err := r.conn.Change("BEGIN"); err != nil {
		return err
	}
	if err := body(); err != nil {
		if _, refused := r.conn.Change("ROLLBACK"); refused != nil {
			r.conn.Drop() // the error that is told comes first
		}
		return err
	}
	_, err := r.conn.Change("COMMIT")
	return err
}

// numbers reads rows of numbers.
func (r *reader) numbers(sql string) ([][]int64, error) {
	rows, err := r.conn.Query(sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	out := make([][]int64, len(rows))
	for i, row := range rows {
		for _, c := range row {
			out[i] = append(out[i], number(c))
		}
	}
	return out, nil
}
