package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// monitor is output of MariaDB 11.8, cut to the parts that matter; %s is the
// text of the waiting statement.
const monitor = `
=====================================
2026-11-21 02:47:02 0x7f9233fff6c0 INNODB MONITOR OUTPUT
=====================================
------------------------
LATEST DETECTED DEADLOCK
------------------------
*** (1) TRANSACTION:
TRANSACTION 11, ACTIVE 0 sec starting index read
LOCK WAIT 2 lock struct(s), heap size 1120, 1 row lock(s)
MariaDB thread id 4, OS thread handle 140266990732992, query id 18 localhost root Updating
UPDATE t SET a = 1
------------
TRANSACTIONS
------------
Trx id counter 18
Purge done for trx's n:o < 16 undo n:o < 0 state: running but idle
History list length 0
LIST OF TRANSACTIONS FOR EACH SESSION:
---TRANSACTION 17, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 2 lock struct(s), heap size 1120, 1 row lock(s)
MariaDB thread id 7, OS thread handle 140266990732992, query id 18 localhost root Updating
%s
------- TRX HAS BEEN WAITING 401009 us FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 8 page no 3 n bits 320 index PRIMARY of table ` + "`d`.`t`" + ` trx id 17 lock_mode X locks rec but not gap waiting
Record lock, heap no 2 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;

------------------
---TRANSACTION 16, ACTIVE 1 sec
2 lock struct(s), heap size 1120, 1 row lock(s), undo log entries 1
MariaDB thread id 6, OS thread handle 140266991040192, query id 14 localhost root User sleep
select sleep(2)
---TRANSACTION (0x7f9234001b80), ACTIVE 1 sec
0 lock struct(s), heap size 1120, 0 row lock(s)
MariaDB thread id 9, OS thread handle 140266991040192, query id 14 localhost root Waiting for table metadata lock
alter table t add c int
---TRANSACTION (0x7f9234001b81), not started
0 lock struct(s), heap size 1120, 0 row lock(s)
--------
FILE I/O
--------
Pending flushes (fsync) log: 0; buffer pool: 0
`

const lockOf7 = "RECORD LOCKS space id 8 page no 3 index PRIMARY of table `d`.`t` trx id 17 lock_mode X locks rec but not gap waiting heap no 2"

func TestParseTransactions(t *testing.T) {
	at7 := &history.Place{Table: "t", Index: "PRIMARY", Kind: history.RecordLock, Mode: "X locks rec but not gap waiting", Fields: []string{"0x80000001"}}
	honest := []block{{conn: 7, waits: true, lock: lockOf7, at: at7}, {conn: 6}, {conn: 9, metadata: true}}
	for name, c := range map[string]struct {
		statement string
		want      []block
	}{
		"one line":        {"update t set b=4", honest},
		"two lines":       {"update t set b=4\n where a=1", honest},
		"empty lines":     {"\n\n\n", honest},
		"the words":       {"update t set b='LOCK WAIT\nLOCK WAIT 2 lock struct(s)\nthread id 6'", honest},
		"a thread":        {"MariaDB thread id 6, OS thread handle 1, query id 2 localhost root Updating", honest},
		"a lock":          {"------- TRX HAS BEEN WAITING 4 us FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS space id 1 page no 1 n bits 8 x\nRecord lock, heap no 77 x", honest},
		"the end":         {"--------\nFILE I/O\n--------\n", honest},
		"the header":      {"------------\nTRANSACTIONS\n------------\nTrx id counter 99\n", honest},
		"half of a block": {"---TRANSACTION 99, ACTIVE 0 sec\nLOCK WAIT 2 lock struct(s)\n", []block{{conn: 7, waits: true}, {conn: 6}, {conn: 9, metadata: true}}},
		"another's transaction": {"---TRANSACTION 99, ACTIVE 0 sec\nLOCK WAIT 2\nMariaDB thread id 6, OS thread handle 1, query id 2 localhost root Updating",
			[]block{{conn: 7, waits: true}, {conn: 6, waits: true, lock: lockOf7, at: at7}, {conn: 6}, {conn: 9, metadata: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, complete := parseTransactions([]byte(fmt.Sprintf(monitor, c.statement)), nil)
			if !complete {
				t.Error("not complete")
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(block{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Where the monitor cannot latch a page it prints the number of the record and
// not the record: the lock is the same one.
func TestParseTransactionsWithoutThePage(t *testing.T) {
	text := fmt.Sprintf(monitor, "x")
	from := strings.Index(text, " PHYSICAL RECORD")
	to := strings.Index(text, "------------------\n---TRANSACTION 16")
	got, complete := parseTransactions([]byte(text[:from]+"\n\n"+text[to:]), nil)
	if !complete || len(got) == 0 || got[0].lock != lockOf7 {
		t.Errorf("the lock of connection 7 is not %q in %+v", lockOf7, got)
	}
}

func TestParseTransactionsCutOff(t *testing.T) {
	text := fmt.Sprintf(monitor, "x")
	for name, cut := range map[string]string{
		"said so":   strings.Replace(text, "---TRANSACTION 16", "... truncated...\n---TRANSACTION 16", 1),
		"no list":   text[:strings.Index(text, "Trx id counter")],
		"no output": "",
	} {
		if _, complete := parseTransactions([]byte(cut), nil); complete {
			t.Errorf("%s: taken for complete", name)
		}
	}
}

// FuzzParseTransactions: whatever a statement's text is, the transactions that
// are there are found, and no lock is made up for a single transaction.
func FuzzParseTransactions(f *testing.F) {
	f.Add("update t set b=4")
	f.Add("---TRANSACTION 99, ACTIVE 0 sec\nLOCK WAIT 2\nMariaDB thread id 6, OS thread handle 1, query id 2 localhost root x")
	f.Fuzz(func(t *testing.T, statement string) {
		got, _ := parseTransactions([]byte(fmt.Sprintf(monitor, statement)), nil)
		count := map[uint64]int{}
		for _, b := range got {
			count[b.conn]++
			if b.conn == 7 && count[7] == 1 && !b.waits {
				t.Errorf("connection 7 does not wait: %+v", got)
			}
		}
		for _, c := range []uint64{6, 7, 9} {
			if count[c] == 0 {
				t.Errorf("connection %d is missing: %+v", c, got)
			}
		}
		for _, b := range got {
			if b.conn == 6 && count[6] == 1 && b.waits {
				t.Errorf("connection 6 waits: %+v", got)
			}
		}
	})
}

func TestPlaceOfLock(t *testing.T) {
	for line, want := range map[string]history.Place{
		"RECORD LOCKS space id 8 page no 4 n bits 320 index k of table `d`.`t` trx id 22 lock mode S waiting":                                         {Table: "t", Index: "k", Kind: history.RecordLock, Mode: "S waiting"},
		"RECORD LOCKS space id 33 page no 4 n bits 320 index k of table `d`.`t` trx id 272 lock_mode X locks gap before rec insert intention waiting": {Table: "t", Index: "k", Kind: history.InsertIntention, Mode: "X locks gap before rec insert intention waiting"},
		"RECORD LOCKS space id 33 page no 4 n bits 320 index k of table `d`.`t` trx id 272 lock_mode X locks gap before rec waiting":                  {Table: "t", Index: "k", Kind: history.GapLock, Mode: "X locks gap before rec waiting"},
	} {
		if diff := cmp.Diff(&want, placeOfLock([]byte(line))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", line, diff)
		}
	}
	if got := placeOfLock([]byte("RECORD LOCKS x")); got != nil {
		t.Errorf("%+v", got)
	}
}
