package load

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// Backup is a way of backing a server up while clients work, whose result is held against what they did.
type Backup string

// DumpBackup is the vendor's program that writes a table out in one transaction: mysqldump, mariadb-dump, pg_dump.
const DumpBackup Backup = "dump"

// ParseBackup reads a Backup; empty is none.
func ParseBackup(s string) (Backup, error) {
	if b := Backup(s); b == "" || b == DumpBackup {
		return b, nil
	}
	return "", fmt.Errorf("unknown backup %q: want dump", s)
}

const (
	// backupNode names, in a history, what reads in the way of a backup.
	backupNode = "dump"
	// backupRole is its role there.
	backupRole = "backup"
	// backupSession is the session of backups, which no client has.
	backupSession = 1 << 39
	// backupEvery is the time between two backups.
	backupEvery = 500 * time.Millisecond
	// backupTime is what one may take.
	backupTime = 30 * time.Second
)

// backupColumns are those columns of a table, from 0, that the read of everything returns, by the table.
var backupColumns = map[string][]int{
	appends{}.table(): {0, 1}, registers{}.table(): {0, 1}, bank{}.table(): {0, 1}, predicates{}.table(): {0, 1},
	mixed{}.table(): {0, 1, 4},
}

// checkBackup reports why a backend cannot be backed up.
func (s *Settings) checkBackup(b harness.Backend) error {
	if s.Backup == "" {
		return nil
	}
	d, ok := b.(harness.Dumping)
	switch {
	case !ok:
		return fmt.Errorf("--backup: only private servers are backed up, not %s", s.Target)
	case invariant.Find(s.Workload) != nil:
		return fmt.Errorf("--backup: workload %s gives no history in which a backup could be a read", s.Workload)
	case len(s.Faults) > 0:
		return fmt.Errorf("--backup: not beside --fault")
	}
	if err := d.CanDump(); err != nil {
		return fmt.Errorf("--backup: %w", err)
	}
	return nil
}

// backups takes one after another until the epoch is over.
func (r *run) backups(e *epoch) {
	defer e.running.Done()
	t := e.tapes[len(e.tapes)-2]
	for {
		if err := r.backup(e, t); err != nil {
			if r.life.Err() == nil {
				r.fail(fmt.Errorf("back up: %w", err))
			}
			return
		}
		select {
		case <-e.ended:
			return
		case <-time.After(backupEvery):
		}
	}
}

// backup takes one, which is a transaction that reads all keys.
func (r *run) backup(e *epoch, t *tape) error {
	ctx, cancel := context.WithTimeout(r.life, backupTime)
	defer cancel()
	s := r.workload.readAll(e)
	invoke := r.now()
	text, err := r.backend.(harness.Dumping).Dump(ctx, harness.DumpOf{
		Place: r.database, Table: r.workload.table(), Serializable: r.settings.Level == corpus.Serializable,
	})
	if err != nil {
		return err
	}
	t.from, t.to = invoke, r.now()
	rows, err := dumpedRows(text, backupColumns[r.workload.table()])
	if err != nil {
		return err
	}
	a := &answer{rows: slices.DeleteFunc(rows, func(row []driver.Value) bool {
		k, _ := cell(row[0]) // dumpedRows has read it
		return k < s.key || k > s.val
	})}
	if err := r.workload.record(t, s, a); err != nil {
		return &WrongAnswer{SQL: "the dump of " + r.workload.table(), Err: err}
	}
	t.end(backupSession, invoke, t.to, kv.OK)
	r.count.backups.Add(1)
	return nil
}

var (
	insertInto  = []byte("INSERT INTO ")
	valuesWords = []byte("VALUES (")
)

// dumpedRows reads the rows of a dump, in the order of their first column, which is their key. All columns are numbers,
// NULL, or texts of digits and commas.
func dumpedRows(text []byte, columns []int) ([][]driver.Value, error) {
	type keyed struct {
		key kv.Value
		row []driver.Value
	}
	var out []keyed
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, insertInto) {
			continue
		}
		_, list, ok := bytes.Cut(line, valuesWords)
		list, closed := bytes.CutSuffix(bytes.TrimSpace(list), []byte(");"))
		if !ok || !closed || bytes.Contains(list, []byte("),(")) {
			return nil, fmt.Errorf("a dump has the line %q, which is no INSERT of one row", line)
		}
		cells := cellsOf(list)
		row := make([]driver.Value, len(columns))
		for i, c := range columns {
			if c >= len(cells) {
				return nil, fmt.Errorf("a dump has the line %q, which has no column %d", line, c+1)
			}
			row[i] = cells[c]
		}
		key, err := cell(row[0])
		if err != nil {
			return nil, fmt.Errorf("a dump has the line %q: %w", line, err)
		}
		out = append(out, keyed{key, row})
	}
	slices.SortFunc(out, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	rows := make([][]driver.Value, len(out))
	for i, o := range out {
		rows[i] = o.row
	}
	return rows, nil
}

// cellsOf takes the list of values of an INSERT apart; NULL is nil.
func cellsOf(list []byte) []driver.Value {
	var out []driver.Value
	for len(list) > 0 {
		list = bytes.TrimLeft(list, ", ")
		end, from := bytes.IndexByte(list, ','), 0
		if len(list) > 0 && list[0] == '\'' {
			from, end = 1, bytes.IndexByte(list[1:], '\'')+1
		}
		if end < from {
			end = len(list)
		}
		value := list[from:end]
		if from == 0 && string(value) == "NULL" {
			out = append(out, nil)
		} else {
			out = append(out, slices.Clone(value))
		}
		list = list[min(len(list), end+from):]
	}
	return out
}
