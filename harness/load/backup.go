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

// DumpBackup is the vendor's program that writes a table out in one transaction: mysqldump, mariadb-dump, pg_dump. All
// other ways copy files, and a server is started on the copy.
const DumpBackup Backup = "dump"

// backupWays are all ways.
var backupWays = []Backup{
	DumpBackup, Backup(harness.MySQLClone), Backup(harness.MariaDBBackup), Backup(harness.BaseBackup),
}

// BackupNames are the ways, as messages list them.
const BackupNames = "dump, clone, mariadb-backup or pg_basebackup"

// ParseBackup reads a Backup; empty is none.
func ParseBackup(s string) (Backup, error) {
	if b := Backup(s); b == "" || slices.Contains(backupWays, b) {
		return b, nil
	}
	return "", fmt.Errorf("unknown backup %q: want %s", s, BackupNames)
}

// Copies says that a backup copies files.
func (b Backup) Copies() bool { return b != "" && b != DumpBackup }

const (
	// backupRole is the role, in a history, of the node that stands for all backups; its name is their way.
	backupRole = "backup"
	// backupSession is the session of backups, which no client has.
	backupSession = 1 << 39
	// backupEvery is the time between two backups.
	backupEvery = 500 * time.Millisecond
	// backupTime is what one may take, and copyTime with a server that is started on it.
	backupTime = 30 * time.Second
	copyTime   = 3 * time.Minute
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
	if invariant.Find(s.Workload) != nil {
		return fmt.Errorf("--backup: workload %s gives no history in which a backup could be a read", s.Workload)
	}
	if len(s.Faults) > 0 {
		return fmt.Errorf("--backup: not beside --fault")
	}
	if _, several := topologyOf(b); several && s.Backup.Copies() {
		return fmt.Errorf("--backup %s: of one server, and %s is several", s.Backup, s.Target)
	}
	can := fmt.Errorf("only private servers are backed up, not %s", s.Target)
	if c, ok := b.(harness.Copying); ok && s.Backup.Copies() {
		can = c.CanCopy(harness.CopyMethod(s.Backup))
	} else if d, ok := b.(harness.Dumping); ok && !s.Backup.Copies() {
		can = d.CanDump()
	}
	if can != nil {
		return fmt.Errorf("--backup: %w", can)
	}
	return nil
}

// backups takes one after another until the epoch is over.
func (r *run) backups(e *epoch) {
	defer e.running.Done()
	t, take := e.tapes[len(e.tapes)-2], r.dump
	if r.settings.Backup.Copies() {
		take = r.copy
		r.lead(e)
	}
	for {
		if err := take(e, t); err != nil {
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

// lead waits until clients have done enough that a copy could lack some of it.
func (r *run) lead(e *epoch) {
	enough, end := int64(e.quota*r.settings.Clients/beforeCopies), time.Now().Add(epochTime/beforeCopies)
	for !e.over.Load() && e.sent.Load() < enough && time.Now().Before(end) {
		select {
		case <-e.ended:
		case <-time.After(lookEvery):
		}
	}
}

// beforeCopies is which part of an epoch, in transactions or in time, comes before its first copy.
const beforeCopies = 4

// dump writes the table out, which is a transaction that reads all keys.
func (r *run) dump(e *epoch, t *tape) error {
	ctx, cancel := context.WithTimeout(r.life, backupTime)
	defer cancel()
	s := r.workload.readAll(e)
	x := taken{invoke: r.now()}
	text, err := r.backend.(harness.Dumping).Dump(ctx, harness.DumpOf{
		Place: r.database, Table: r.workload.table(), Serializable: r.settings.Level == corpus.Serializable,
	})
	if err != nil {
		return err
	}
	r.complete(e, &x)
	rows, err := dumpedRows(text, backupColumns[r.workload.table()])
	if err != nil {
		return err
	}
	a := &answer{rows: slices.DeleteFunc(rows, func(row []driver.Value) bool {
		k, _ := cell(row[0]) // dumpedRows has read it
		return k < s.key || k > s.val
	})}
	return r.backedUp(t, s, a, x)
}

// taken is when a backup was taken.
type taken struct {
	invoke, ret int64
	beside      bool // clients worked until it was complete
}

// complete notes that a backup is.
func (r *run) complete(e *epoch, x *taken) { x.ret, x.beside = r.now(), !e.over.Load() }

// backedUp records what a backup holds.
func (r *run) backedUp(t *tape, s step, a *answer, x taken) error {
	t.from, t.to = x.invoke, x.ret
	if err := r.workload.record(t, s, a); err != nil {
		return &WrongAnswer{SQL: fmt.Sprintf("the %s of %s", r.settings.Backup, r.workload.table()), Err: err}
	}
	t.end(backupSession, x.invoke, x.ret, kv.OK)
	r.count.backedUp(time.Duration(x.ret-x.invoke), time.Duration(r.now()-x.ret), x.beside)
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
