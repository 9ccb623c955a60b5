package load

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// A workload makes transactions of steps, spells each step in SQL and records
// what came back. It holds no state of a run, so all clients share it.
type workload interface {
	// kind is what its histories are, for their header.
	kind() kv.Workload
	// size says how long an epoch is and how many keys it needs.
	size() size
	// table is the name of its table, which define makes.
	table() string
	define(d *dialect) []string
	// fill loads the rows with which an epoch begins.
	fill(e *epoch) []string
	// plan appends the steps of one transaction.
	plan(steps []step, c *chooser) []step
	// sql appends the statement of a step.
	sql(d *dialect, b []byte, s step) []byte
	// record turns the answer of a step into operations; rows is empty for
	// statements that return none.
	record(t *tape, s step, a *answer) error
	// readAll is the step that reads everything an epoch has touched.
	readAll(e *epoch) step
	// discard deletes the rows of all epochs before e.
	discard(e *epoch) string
}

// size is about one epoch. A key that is written more often than most gives way to
// a fresh one; fresh bounds how many of these a transaction needs.
type size struct {
	transactions int
	longest      int // an epoch has no more transactions; 0: any number
	inUse        int
	most         int64
	fresh        float64
	// same: every epoch has the same keys.
	same bool
}

// step is one statement of a transaction before it runs.
type step struct {
	kind  kv.Kind
	lock  lock
	whole bool // reads all keys from key to val
	key   kv.Value
	also  []kv.Value // beside key: what the same SELECT reads
	val   kv.Value   // what is written; of a read of several keys the last of them
	cond  *condition
	form  form
	// guard locks a row for the steps behind it that are guarded: these are left out if
	// it returned none.
	guard, guarded bool
}

// lock is how a SELECT reads.
type lock uint8

const (
	plain lock = iota
	forShare
	forUpdate
	noWait     // FOR UPDATE NOWAIT
	skipLocked // FOR UPDATE SKIP LOCKED
)

// Reads says how the SELECTs of a workload read.
type Reads string

// The ways of reading. AutoReads are plain, save where a server's plain SELECT reads
// a snapshot and its UPDATE the newest version: there a read of what is written next
// locks it.
const (
	AutoReads   Reads = "auto"
	PlainReads  Reads = "plain"
	ShareReads  Reads = "share"
	UpdateReads Reads = "update"
	NoWaitReads Reads = "nowait"
	SkipReads   Reads = "skip-locked"
	MixedReads  Reads = "mixed"
)

var readLocks = map[Reads][]lock{
	AutoReads: {plain}, PlainReads: {plain}, ShareReads: {forShare}, UpdateReads: {forUpdate},
	NoWaitReads: {noWait}, SkipReads: {skipLocked},
	MixedReads: {plain, plain, plain, forShare, forUpdate, forUpdate, noWait, skipLocked},
}

// ReadsNames are the ways of reading, as messages list them.
const ReadsNames = "auto, plain, share, update, nowait, skip-locked or mixed"

// lacks are the ways of reading that a server does not have. TiDB refuses the share mode
// or, by a setting, takes it for nothing, and knows no SKIP LOCKED.
// https://docs.pingcap.com/tidb/stable/system-variables#tidb_enable_noop_functions-new-in-v40
// https://docs.pingcap.com/tidb/stable/mysql-compatibility
// https://dev.mysql.com/doc/refman/8.0/en/innodb-locking-reads.html
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select
var lacks = []struct {
	dbms history.DBMS
	// before is the version that first has it, as it begins; empty: none has it yet.
	before string
	lock   lock
	says   string
}{
	{adapted, "", noWait, "an adapter is not asked not to wait"},
	{adapted, "", skipLocked, "an adapter is not asked to skip rows"},
	{history.TiDB, "", forShare, "TiDB has no share locks"},
	{history.TiDB, "", skipLocked, "TiDB has no SKIP LOCKED"},
	{history.MariaDB, "10.6", skipLocked, "MariaDB has SKIP LOCKED since 10.6"},
	{history.MySQL, "8.0", skipLocked, "MySQL has SKIP LOCKED since 8.0"},
	{history.MySQL, "8.0", noWait, "MySQL has NOWAIT since 8.0"},
}

// locksFor returns the ways in which a workload reads, to draw from.
func locksFor(workload string, r Reads, server history.Server) ([]lock, error) {
	if r == AutoReads && workload == "mixed" {
		r = MixedReads
	}
	locks, ok := readLocks[r]
	if !ok {
		return nil, fmt.Errorf("unknown way of reading %q: want %s", r, ReadsNames)
	}
	var out []lock
	why := ""
	for _, l := range locks {
		says := lacking(l, server)
		if l == skipLocked && workload == "bank" {
			says = "a read of a bank must return all accounts"
		}
		if says == "" {
			out = append(out, l)
			continue
		}
		why = says
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--reads %s: %s", r, why)
	}
	return out, nil
}

func lacking(l lock, server history.Server) string {
	for _, x := range lacks {
		if x.dbms == server.DBMS && x.lock == l && (x.before == "" || older(server.Version, x.before)) {
			return x.says
		}
	}
	return ""
}

// older tells whether a version, such as 10.5.23-MariaDB, comes before another one. One that cannot be read does not.
func older(version, than string) bool {
	a, b := history.VersionNumbers(version), history.VersionNumbers(than)
	return a != [3]int{} && slices.Compare(a[:], b[:]) < 0
}

var workloads = map[string]workload{
	"append": appends{}, chainName: chains{}, "mixed": mixed{},
	"register": registers{}, "mini": registers{mini: true}, "predicate": predicates{}, "bank": bank{},
}

// Workloads returns the names of the workloads that give histories, sorted.
func Workloads() []string {
	var names []string
	for n := range workloads {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func findWorkload(name string) (workload, error) {
	if w, ok := workloads[name]; ok {
		return w, nil
	}
	if invariant.Find(name) != nil {
		return kept{}, nil
	}
	return nil, fmt.Errorf("unknown workload %q: want one of %s", name, strings.Join(AllWorkloads(), ", "))
}

// chooser draws what a client does next. One goroutine uses it.
type chooser struct {
	rand  *rand.Rand
	epoch *epoch
	locks []lock
	// readsOnly: only plain reads are sent.
	readsOnly bool
	// chained: reads of what is written next lock it, because only then it is known
	// that the write replaced what was read.
	chained bool
	// replaces: the server has REPLACE.
	replaces bool
	// revives: an INSERT where another transaction has deleted a row is a change of that
	// row, so that rows may be deleted for a while.
	revives bool
	// even: all keys are used as often as the others.
	even bool
	last kv.Value // the value written last
	step kv.Value // between two values of this client
	// several is where the keys of a step stand that has more than one.
	several []kv.Value
}

// value returns a value that no other write of the run has.
func (c *chooser) value() kv.Value {
	c.last += c.step
	return c.last
}

// lockToWrite is how a read is done of what the transaction is going to write.
func (c *chooser) lockToWrite() lock {
	if c.chained {
		return forUpdate
	}
	return c.lock()
}

// lockForSure is a way of reading that locks what it returns against writers.
func (c *chooser) lockForSure() lock {
	for range 4 {
		if l := c.lock(); l >= forUpdate {
			return l
		}
	}
	return forUpdate
}

func (c *chooser) lock() lock { return c.locks[c.rand.IntN(len(c.locks))] }

// slot draws one of n slots, the first most often: each half as often again as
// the one before, so that some keys are contended whatever the number of clients.
func (c *chooser) slot(n int) int {
	if c.even {
		return c.rand.IntN(n)
	}
	for i := 0; i < n-1; i++ {
		if c.rand.IntN(3) == 0 {
			return i
		}
	}
	return c.rand.IntN(n)
}

// answer is a result set in which NULL is nil, or what a change returned.
type answer struct {
	rows    [][]driver.Value
	changed int64
	text    []byte // what the cells of rows are pieces of
}

// add copies a row: a driver uses its buffers again for the next one.
func (a *answer) add(row []driver.Value) {
	cells := a.next()
	for _, v := range row {
		if b, ok := v.([]byte); ok {
			v = keep(a, b)
		}
		cells = append(cells, v)
	}
	a.rows = append(a.rows, cells)
}

// addCells adds a row of texts.
func (a *answer) addCells(row []history.Cell) {
	cells := a.next()
	for _, c := range row {
		if c.Null {
			cells = append(cells, nil)
			continue
		}
		cells = append(cells, keep(a, c.Text))
	}
	a.rows = append(a.rows, cells)
}

// next returns the place for one more row, which is that of a row of before.
func (a *answer) next() []driver.Value {
	if n := len(a.rows); n < cap(a.rows) {
		return a.rows[:n+1][n][:0]
	}
	return nil
}

func keep[T string | []byte](a *answer, text T) []byte {
	at := len(a.text)
	a.text = append(a.text, text...)
	return a.text[at:len(a.text):len(a.text)]
}

// cell reads an integer of a result set; NULL gives kv.Nil.
func cell(v driver.Value) (kv.Value, error) {
	switch v := v.(type) {
	case nil:
		return kv.Nil, nil
	case int64:
		return kv.Value(v), nil
	case []byte:
		n, rest, err := number(v)
		if err == nil && len(rest) == 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("the server returned %q where an integer was written", v)
}

// number reads the integer at the beginning of a text.
func number(b []byte) (n kv.Value, rest []byte, err error) {
	i, negative := 0, len(b) > 0 && b[0] == '-'
	if negative {
		i++
	}
	start := i
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9' && i-start < 18; i++ {
		n = n*10 + kv.Value(b[i]-'0')
	}
	if i == start {
		return 0, b, fmt.Errorf("the server returned %q where an integer was written", b)
	}
	if negative {
		n = -n
	}
	return n, b[i:], nil
}
