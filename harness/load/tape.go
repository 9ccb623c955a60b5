package load

import (
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// tape is what one client recorded in one epoch. Nothing on it moves once it is
// recorded; a tape is used again when its epoch was checked.
type tape struct {
	// node names the one whose answers come now, replica says that it only reads; empty: there is one server. copied:
	// they are those of servers on copies of the files of that.
	node            string
	replica, copied bool
	txns            []recorded
	ops             []kv.RecordOp
	how             []manner // beside ops
	// values holds the lists of reads. It is replaced when it is full, so that
	// lists in it stay where they are.
	values []kv.Value
	// begin is where the operations of the running transaction do, statement the
	// number of its running statement, which was sent and answered at from and to.
	begin     int
	statement uint16
	from, to  int64
	// start is how the running transaction began.
	start start
	// undone is what the running transaction has taken back.
	undone    []kv.RecordOp
	howUndone []manner
}

// manner is how an operation was done.
type manner struct {
	lock      lock
	statement uint16 // of its transaction; one can be several operations
	from, to  int64  // when that was sent, and when its answer was there
}

// start is how a transaction began: with which opening, and between which of its statements it was undone, as a plan
// has it.
type start struct {
	opening    Opening
	save, back int
}

// recorded is one transaction of a tape, its operations ops[from:to].
type recorded struct {
	session     int64
	invoke, ret int64
	from, to    int
	status      kv.Status
	planned     bool // it was rolled back because its client wanted to
	part        bool // it is what another one has taken back
	start       start
	node        string // whose answers they are
	// aside: its node may not have been the primary, and it only read.
	aside bool
}

const valuesChunk = 1 << 16

func (t *tape) reset() {
	t.txns, t.ops, t.how, t.values, t.begin = t.txns[:0], t.ops[:0], t.how[:0], t.values[:0], 0
}

// mark makes room for n more values and returns where they begin.
func (t *tape) mark(n int) int {
	if len(t.values)+n > cap(t.values) {
		t.values = make([]kv.Value, 0, max(valuesChunk, n))
	}
	return len(t.values)
}

func (t *tape) add(o kv.RecordOp, l lock) {
	t.ops, t.how = append(t.ops, o), append(t.how, manner{l, t.statement, t.from, t.to})
}

// end closes the transaction that is running.
func (t *tape) end(session, invoke, ret int64, status kv.Status) {
	if status == kv.Info {
		ret = kv.Unknown
	}
	t.txns = append(t.txns, recorded{
		session: session, invoke: invoke, ret: ret, from: t.begin, to: len(t.ops), status: status,
		start: t.start, node: t.node,
	})
	if len(t.undone) > 0 {
		from := len(t.ops)
		t.ops, t.how = append(t.ops, t.undone...), append(t.how, t.howUndone...)
		t.txns = append(t.txns, recorded{
			session: session + undoneSessions, invoke: invoke, ret: t.to, from: from, to: len(t.ops), status: kv.Fail,
			planned: true, part: true, node: t.node,
		})
		last := len(t.txns) - 1
		t.txns[last-1], t.txns[last] = t.txns[last], t.txns[last-1]
		t.undone, t.howUndone = t.undone[:0], t.howUndone[:0]
	}
	t.begin, t.statement = len(t.ops), 0
}

// event is a transaction on one of several tapes.
type event struct {
	t *tape
	*recorded
}

func (e event) ops() []kv.RecordOp { return e.t.ops[e.from:e.to] }
func (e event) how() []manner      { return e.t.how[e.from:e.to] }

// behind says that it may have been on a node that was not the primary, if there is one.
func (e event) behind() bool { return e.t.replica || e.aside }

func (e event) record() kv.Record {
	return kv.Record{Session: e.session, Status: e.status, Invoke: e.invoke, Return: e.ret, Node: e.node, Ops: e.ops()}
}

// inOrder returns the transactions of several tapes by the time they began.
func inOrder(tapes []*tape) []event {
	n := 0
	for _, t := range tapes {
		n += len(t.txns)
	}
	out := make([]event, 0, n)
	for _, t := range tapes {
		for i := range t.txns {
			out = append(out, event{t, &t.txns[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b event) int {
		switch {
		case a.invoke < b.invoke:
			return -1
		case a.invoke > b.invoke:
			return 1
		}
		return 0
	})
	return out
}

// eachKey gives every key of a range that was read as a whole, with its row, or nil
// where it has none.
func eachKey(s step, a *answer, record func(k kv.Value, row []driver.Value) error) error {
	at := 0
	for k := s.key; k <= s.val; k++ {
		var row []driver.Value
		if at < len(a.rows) {
			key, err := cell(a.rows[at][0])
			if err != nil {
				return err
			}
			if key == k {
				row = a.rows[at]
				at++
			}
		}
		if err := record(k, row); err != nil {
			return err
		}
	}
	if at < len(a.rows) {
		return fmt.Errorf("the table read in order of its primary key from %d to %d shows %v out of order", s.key, s.val, a.rows[at][0])
	}
	return nil
}
