package server

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const holdingsQuery = "SELECT ENGINE_TRANSACTION_ID, THREAD_ID, LOCK_STATUS, LOCK_TYPE, OBJECT_NAME, INDEX_NAME, LOCK_MODE, LOCK_DATA FROM performance_schema.data_locks"

// Holdings implements harness.LockLister: all of performance_schema.data_locks. As in
// data_lock_waits, the thread of a record lock that was moved may be another one's; that
// of the transaction's lock on a table is its own.
func (p *lockTableProber) Holdings(ctx context.Context, conns []uint64) (h history.Holding, untold []string, err error) {
	defer func() { err = asUntold(err) }()
	rows, err := p.side.query(ctx, holdingsQuery)
	if err != nil {
		return h, nil, err
	}
	owner := map[uint64]uint64{}
	for _, r := range rows {
		if string(r[3]) == "TABLE" {
			txn, err1 := number(r[0])
			thread, err2 := number(r[1])
			if err1 != nil || err2 != nil {
				return h, nil, fmt.Errorf("unexpected row %q of data_locks", r)
			}
			owner[txn] = thread
		}
	}
	fleeting := map[uint64]uint64{}
	if err := p.learnOwners(ctx, owner, fleeting); err != nil {
		return h, nil, err
	}
	h.Transactions = map[int]uint64{}
	for _, r := range rows {
		txn, _ := number(r[0])
		conn, ok := p.connOf[txn]
		if c, is := fleeting[txn]; is {
			conn, ok = c, true
		}
		i := slices.Index(conns, conn)
		if !ok || i < 0 {
			continue
		}
		l := history.Lock{Session: i, Waits: string(r[2]) == "WAITING", Place: *placeOf(asText(r[4]), asText(r[5]), asText(r[6]), asText(r[7]))}
		if string(r[3]) == "TABLE" {
			l.Kind = history.TableLock
		}
		h.Locks = append(h.Locks, l)
		if txn < firstReadOnly {
			h.Transactions[i] = txn
		}
	}
	slices.SortStableFunc(h.Locks, func(a, b history.Lock) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index), slices.Compare(a.Fields, b.Fields))
	})
	return h, nil, nil
}

// asUntold tells what the server itself refuses from what broke.
func asUntold(err error) error {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return &harness.UntoldError{Reason: refused.Message}
	}
	return err
}

// asText is a cell as the driver gives it.
func asText(cell []byte) driver.Value {
	if cell == nil {
		return nil
	}
	return cell
}

var readView = []byte("Trx read view will not see trx with id >= ")

// Holdings implements harness.LockLister: the locks waited for, the read views and the
// ids of transactions that the monitor prints. Other locks it prints only where
// innodb_status_output_locks is on, which is global.
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_status_output_locks
func (p *statusProber) Holdings(ctx context.Context, conns []uint64) (h history.Holding, untold []string, err error) {
	rows, err := p.side.query(ctx, "SHOW ENGINE INNODB STATUS")
	if err != nil || len(rows) == 0 {
		return h, nil, asUntold(err)
	}
	text := rows[0][len(rows[0])-1]
	blocks, complete := parseTransactions(text, nil)
	for i := range blocks {
		if b := &blocks[i]; b.waits && b.at != nil && slices.Contains(conns, b.conn) {
			h.Locks = append(h.Locks, history.Lock{Session: slices.Index(conns, b.conn), Waits: true, Place: *b.at})
		}
	}
	h.Views, h.Transactions = readViews(text, conns)
	if !complete {
		untold = append(untold, "some read views and locks: the monitor's output was cut off")
	}
	return h, append(untold, "locks that are held: the monitor lists those only that are waited for"), nil
}

// readViews finds the read views of connections in a monitor's output, and the ids of
// their transactions, by index into conns.
//
//	---TRANSACTION (0x7fd9fe19b680), ACTIVE 1 sec
//	0 lock struct(s), heap size 1120, 0 row lock(s)
//	MariaDB thread id 19, OS thread handle 140574216750784, query id 45 localhost root
//	Trx read view will not see trx with id >= 21, sees < 21
func readViews(text []byte, conns []uint64) (views []history.ReadView, ids map[int]uint64) {
	ids = map[int]uint64{}
	at := bytes.Index(text, listHeader)
	if at < 0 {
		return nil, ids
	}
	current, txn := -1, uint64(0)
	for line := range bytes.Lines(text[at+len(listHeader):]) {
		line = bytes.TrimRight(line, "\n")
		if rest, ok := bytes.CutPrefix(line, blockStart); ok {
			id, _, _ := bytes.Cut(rest, []byte(","))
			current = -1
			txn, _ = strconv.ParseUint(string(id), 10, 64) // "(0x…)" has none
			continue
		}
		if conn, ok := threadOf(line); ok {
			if current = slices.Index(conns, conn); current >= 0 && txn > 0 {
				ids[current] = txn
			}
			continue
		}
		rest, ok := bytes.CutPrefix(line, readView)
		if !ok || current < 0 {
			continue
		}
		v := history.ReadView{Session: current}
		if n, err := fmt.Sscanf(string(rest), "%d, sees < %d", &v.NotFrom, &v.Sees); n == 2 && err == nil {
			views = append(views, v)
		}
		current = -1
	}
	return views, ids
}
