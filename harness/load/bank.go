package load

import (
	"fmt"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// bank moves money between accounts: whoever reads all of them must find the
// same total.
type bank struct{}

const (
	accounts = 8
	// balance is what each account has at first; transfers are small beside it
	// and may overdraw.
	balance     = 1000
	maxTransfer = 10
)

func (bank) size() size {
	return size{transactions: 20000, inUse: accounts, most: 1 << 30, same: true}
}

func (bank) kind() kv.Workload { return kv.Bank }

func (bank) table() string { return "account" }

func (bank) define(*dialect) []string {
	return []string{"CREATE TABLE account (k BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL)"}
}

// fill makes the accounts once; later epochs go on with what is in them.
func (bank) fill(e *epoch) []string {
	if e.number > 0 {
		return nil
	}
	b := []byte("INSERT INTO account (k, balance) VALUES ")
	for i := range accounts {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "(%d,%d)", int64(e.keys.first)+int64(i), balance)
	}
	return []string{string(b)}
}

func (bank) plan(steps []step, c *chooser) []step {
	first := c.epoch.keys.first
	switch c.rand.IntN(4) {
	case 0: // all accounts in one statement
		return append(steps, step{kind: kv.Read, whole: true, key: first, val: first + accounts - 1, lock: c.lock()})
	case 1: // in several
		l, half := c.lock(), kv.Value(1+c.rand.IntN(accounts-1))
		return append(steps,
			step{kind: kv.Read, whole: true, key: first, val: first + half - 1, lock: l},
			step{kind: kv.Read, whole: true, key: first + half, val: first + accounts - 1, lock: l})
	}
	from, to := kv.Value(c.rand.IntN(accounts)), kv.Value(c.rand.IntN(accounts-1))
	if to >= from {
		to++
	}
	amount := kv.Value(1 + c.rand.IntN(maxTransfer))
	return append(steps,
		step{kind: kv.Delta, key: first + from, val: -amount},
		step{kind: kv.Delta, key: first + to, val: amount})
}

func (bank) sql(d *dialect, b []byte, s step) []byte {
	if s.kind == kv.Read {
		b = between(append(b, "SELECT k, balance FROM account WHERE "...), s.key, s.val)
		return append(append(b, d.orders...), d.locks[s.lock]...)
	}
	b = append(b, "UPDATE account SET balance = balance + "...)
	b = strconv.AppendInt(b, int64(s.val), 10)
	b = append(b, " WHERE k = "...)
	return strconv.AppendInt(b, int64(s.key), 10)
}

func (bank) record(t *tape, s step, a *answer) error {
	if s.kind == kv.Read {
		if n := int(s.val-s.key) + 1; len(a.rows) != n {
			return fmt.Errorf("%d of %d accounts, which are there all the time", len(a.rows), n)
		}
		return recordRange(t, s, a)
	}
	if a != nil && a.changed != 1 {
		return fmt.Errorf("an UPDATE of account %d, which is there all the time, changed %d rows", s.key, a.changed)
	}
	t.add(kv.RecordOp{Kind: kv.Delta, Key: s.key, Val: s.val}, s.lock)
	return nil
}

func (bank) readAll(e *epoch) step {
	return step{kind: kv.Read, whole: true, key: e.keys.first, val: e.keys.first + accounts - 1}
}

func (bank) discard(*epoch) string { return "" }
