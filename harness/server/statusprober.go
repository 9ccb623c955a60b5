package server

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// statusProber reads the list of transactions that InnoDB's monitor prints: it
// is made anew for each request, while INFORMATION_SCHEMA.INNODB_TRX is cached
// for 0.1 s.
type statusProber struct {
	side side
	*purgeHold
	*threads
	blocks []block // reused
	// blockersAt is when blockersQuery was asked last.
	blockersAt time.Time
}

func (p *statusProber) Wake() <-chan struct{} { return nil }

func (p *statusProber) Close() error {
	p.threads.close()
	_ = p.purgeHold.side.Close()
	return p.side.Close()
}

// BeginCase finds the threads of the case's sessions, and holds purge.
func (p *statusProber) BeginCase(ctx context.Context, key uint64, conns []uint64) error {
	if err := p.learn(ctx, &p.side, conns); err != nil {
		return err
	}
	return p.purgeHold.BeginCase(ctx, key, conns)
}

func (p *statusProber) Waiting(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	complete := false
	p.blocks = p.blocks[:0]
	err := p.side.each(ctx, "SHOW ENGINE INNODB STATUS", func(row []driver.Value) {
		if text, ok := row[len(row)-1].([]byte); ok {
			p.blocks, complete = parseTransactions(text, p.blocks)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("ask for lock waits: %w", err)
	}
	if !complete {
		return p.slowly(ctx, conns)
	}
	var waiting []harness.Waiting
	var suspects, unknown []uint64
	for _, c := range conns {
		var seen *block
		for i := range p.blocks {
			if p.blocks[i].conn != c {
				continue
			}
			if seen != nil {
				// A statement's text can look like a transaction.
				return p.slowly(ctx, conns)
			}
			seen = &p.blocks[i]
		}
		switch {
		case seen == nil:
			unknown = append(unknown, c)
		case seen.waits:
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.RowLock, ID: seen.lock, At: seen.at})
		case seen.metadata:
			suspects = append(suspects, c)
		}
	}
	if len(unknown) > 0 {
		// Without an InnoDB transaction they can only wait for metadata.
		more, err := inMetadataState(ctx, &p.side, unknown)
		if err != nil {
			return nil, err
		}
		suspects = append(suspects, more...)
	}
	return confirmMetadata(ctx, &p.side, p.threads, suspects, waiting)
}

// blockersQuery tells who waits for whom. Its tables answer from a cache if they were
// asked less than cacheLife ago: of the case before, perhaps.
const blockersQuery = `SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM information_schema.innodb_lock_waits w
	JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id
	JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id`

// Blockers implements harness.Blockers.
func (p *statusProber) Blockers(ctx context.Context, conns []uint64) (map[uint64][]uint64, error) {
	if err := delay(ctx, time.Until(p.blockersAt.Add(cacheLife+20*time.Millisecond))); err != nil {
		return nil, err
	}
	rows, err := p.side.query(ctx, blockersQuery)
	p.blockersAt = time.Now()
	if err != nil {
		return nil, fmt.Errorf("ask who is in the way of what waits: %w", err)
	}
	out := map[uint64][]uint64{}
	for _, row := range rows {
		waits, err := strconv.ParseUint(string(row[0]), 10, 64)
		blocks, err2 := strconv.ParseUint(string(row[1]), 10, 64)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("unexpected row %q %q of who waits for whom", row[0], row[1])
		}
		if contains(conns, waits) {
			out[waits] = append(out[waits], blocks)
		}
	}
	return out, nil
}

// cacheLife is how long INNODB_TRX answers from its cache after it was last
// read.
const cacheLife = 100 * time.Millisecond

// slowly asks INNODB_TRX: for the rare status that is cut off at 1 MB or that
// holds a statement made to look like a status.
func (p *statusProber) slowly(ctx context.Context, conns []uint64) ([]harness.Waiting, error) {
	if err := delay(ctx, cacheLife+20*time.Millisecond); err != nil {
		return nil, err
	}
	rows, err := p.side.query(ctx, "SELECT trx_mysql_thread_id, trx_requested_lock_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
	if err != nil {
		return nil, fmt.Errorf("ask for lock waits: %w", err)
	}
	var waiting []harness.Waiting
	var rest []uint64
	for _, r := range rows {
		if c, err := number(r[0]); err == nil && contains(conns, c) {
			waiting = append(waiting, harness.Waiting{Conn: c, Kind: history.RowLock, ID: string(r[1])})
		}
	}
	for _, c := range conns {
		if !waitsAmong(waiting, c) {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return waiting, nil
	}
	suspects, err := inMetadataState(ctx, &p.side, rest)
	if err != nil {
		return nil, err
	}
	return confirmMetadata(ctx, &p.side, p.threads, suspects, waiting)
}

// block is one transaction of the monitor's list.
type block struct {
	conn     uint64
	waits    bool
	metadata bool
	lock     string // the lock waited for
	at       *history.Place
}

var (
	listHeader     = []byte("\nTRANSACTIONS\n------------\nTrx id counter ")
	listEnd        = []byte("--------\nFILE I/O\n--------\n")
	truncated      = []byte("... truncated...\n")
	blockStart     = []byte("---TRANSACTION ")
	lockWait       = []byte("LOCK WAIT ")
	threadID       = []byte(" thread id ")
	threadSuffix   = []byte(", OS thread handle ")
	metadataWithin = []byte(" Waiting for ")
	waitsFor       = []byte("------- TRX HAS BEEN WAITING ")
	recordLocks    = []byte("RECORD LOCKS ")
	tableLock      = []byte("TABLE LOCK ")
	recordLine     = []byte("Record lock, heap no ")
	bitsOf         = []byte(" n bits ")
	space          = []byte(" ")
)

// parseTransactions appends the transactions of a monitor's output that belong
// to a connection. It reads line by line what a line may be at its place, so
// that the text of a statement, which is printed as it is, counts for nothing
// unless it imitates a whole transaction. The list is not complete if the
// server cut it off.
//
//	---TRANSACTION 17, ACTIVE 0 sec starting index read
//	mysql tables in use 1, locked 1
//	LOCK WAIT 2 lock struct(s), heap size 1120, 1 row lock(s)
//	MariaDB thread id 7, OS thread handle 140266990732992, query id 18 localhost root Updating
//	update t set b=4
//	------- TRX HAS BEEN WAITING 401009 us FOR THIS LOCK TO BE GRANTED:
//	RECORD LOCKS space id 8 page no 3 n bits 320 index PRIMARY of table `d`.`t` trx id 17 lock_mode X waiting
//	Record lock, heap no 2 PHYSICAL RECORD: ...
func parseTransactions(text []byte, blocks []block) (_ []block, complete bool) {
	at := bytes.Index(text, listHeader)
	if at < 0 {
		return blocks, false
	}
	text = text[at+len(listHeader):]
	complete = true
	if end := bytes.LastIndex(text, listEnd); end >= 0 {
		text = text[:end]
	}
	var (
		inHeader bool // between the first line of a block and its thread
		waits    bool
		current  = -1           // the block whose rest is being read
		locking  bool           // behind the line that introduces the lock
		fields   *history.Place // whose fields are being read
	)
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
			if bytes.Equal(line, truncated[:len(truncated)-1]) {
				complete = false
			}
		} else {
			text = nil
		}
		if fields != nil {
			if field, ok := fieldOf(line, len(fields.Fields)); ok {
				addField(fields, field)
				continue
			}
			fields = nil
		}
		switch {
		case bytes.HasPrefix(line, blockStart):
			inHeader, waits, current, locking = true, false, -1, false
		case inHeader && bytes.HasPrefix(line, lockWait):
			waits = true
		case inHeader:
			conn, ok := threadOf(line)
			if !ok {
				continue
			}
			inHeader = false
			state := bytes.LastIndex(line, metadataWithin)
			current = len(blocks)
			blocks = append(blocks, block{conn: conn, waits: waits, metadata: state >= 0 && bytes.HasSuffix(line, metadataBehind)})
		case current < 0 || !blocks[current].waits:
		case bytes.HasPrefix(line, waitsFor):
			locking = true // the last one counts: an earlier one is a statement's text
			blocks[current].lock, blocks[current].at = "", nil
		case locking && blocks[current].lock == "" && bytes.HasPrefix(line, recordLocks):
			// The bitmap's size may change while the lock is waited for.
			if i := bytes.Index(line, bitsOf); i > 0 {
				rest := line[i+len(bitsOf):]
				if j := bytes.IndexByte(rest, ' '); j >= 0 {
					blocks[current].lock = string(line[:i]) + string(rest[j:])
					blocks[current].at = placeOfLock(line)
				}
			}
		case locking && blocks[current].lock == "" && bytes.HasPrefix(line, tableLock):
			blocks[current].lock = string(line)
			locking = false
		case locking && blocks[current].lock != "" && bytes.HasPrefix(line, recordLine):
			// One record: a waiting lock covers no other. The number ends the
			// line where the monitor could not latch the page to print the row.
			number, _, _ := bytes.Cut(line[len(recordLine):], space)
			blocks[current].lock += " heap no " + string(number)
			locking, fields = false, blocks[current].at
		}
	}
	return blocks, complete
}

// threadOf reads "MariaDB thread id 7, OS thread handle ..." or the same of
// MySQL.
func threadOf(line []byte) (uint64, bool) {
	if !bytes.HasPrefix(line, []byte("MariaDB")) && !bytes.HasPrefix(line, []byte("MySQL")) {
		return 0, false
	}
	i := bytes.Index(line, threadID)
	if i < 0 {
		return 0, false
	}
	digits := line[i+len(threadID):]
	j := bytes.Index(digits, threadSuffix)
	if j < 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits[:j]), 10, 64)
	return n, err == nil
}
