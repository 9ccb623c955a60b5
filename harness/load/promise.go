package load

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// promise is what a server's documentation says of a level, in a form that a
// recorded history can be held against.
type promise struct {
	models []model.Model // weakest first
	views  views
	// gaps: a locking read of what is not there keeps others from making it.
	gaps bool
	// onlyRows: what a locking read by a condition does not return it promises nothing of, even where the whole
	// transaction is atomic: it looks for the newest rows, and a row that was changed since the snapshot is an error
	// only if it finds it; with a share lock not even then, where the index alone answers.
	// https://jira.mariadb.org/browse/MDEV-40092
	onlyRows bool
	says     string
	cite     string
}

// String says what is promised and where that stands.
func (p promise) String() string {
	if p.cite == "" {
		return p.says + " (as declared)"
	}
	return p.says + " (" + p.cite + ")"
}

// views says which reads of a transaction are no part of it: on servers where a
// plain SELECT reads a snapshot and everything else the newest version, a
// transaction promises no more than a snapshot for the one and locks, held to its
// end, for the other. Split in two, both are atomic, and nothing is promised of how
// they stand to each other.
type views uint8

const (
	whole          views = iota
	perTransaction       // the plain SELECTs of a transaction share one snapshot
	perStatement         // each has its own
)

const (
	innodbReads = "https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html"
	innodbLocks = "https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html"
	innodbLevel = "https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html"
	mariaSI     = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables" +
		"#innodb_snapshot_isolation"
	tidbLevel     = "https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"
	tidbLocks     = "https://docs.pingcap.com/tidb/stable/pessimistic-transaction"
	postgresLevel = "https://www.postgresql.org/docs/current/transaction-iso.html"
)

var (
	serializable = []model.Model{model.Serializable}
	snapshots    = []model.Model{model.SnapshotIsolation}
	unmixed      = []model.Model{model.ReadUncommitted}
)

// declared holds what the promises that a user may declare mean for the histories made here; of what is
// left out nothing can be checked.
var declared = map[string]promise{
	"S":         {models: serializable, says: "serializable"},
	"SI":        {models: snapshots, says: "snapshot isolation"},
	"SI-merged": {models: snapshots, says: "snapshot isolation"}, // all writes are to one column
	"snapshot": {models: serializable, views: perTransaction,
		says: "all plain SELECTs read one snapshot; what was written stays so to the end of the transaction"},
	"statement": {models: serializable, views: perStatement,
		says: "each plain SELECT reads one snapshot; what was written stays so to the end of the transaction"},
	"uncommitted": {models: unmixed, says: "no write of a transaction is lost between those of another one"},
}

// documented says what a server promises at some levels if a setting has a value.
type documented struct {
	dbms           history.DBMS // empty: all others
	levels         []corpus.Level
	setting, value string // empty: whatever is set
	promise
}

const (
	ru  = corpus.ReadUncommitted
	rc  = corpus.ReadCommitted
	rr  = corpus.RepeatableRead
	ser = corpus.Serializable
)

// promises is what vendors document; the first line that fits counts.
//
// PostgreSQL's snapshots are those "as of the instant the query begins to run" (13.2.1) or "as of the start of the
// first non-transaction-control statement in the transaction" (13.2.2): nobody sees less than what had been
// acknowledged before. SERIALIZABLE "works exactly the same as Repeatable Read except that it also monitors for
// conditions" which no serial execution allows (13.2.3); that this order agrees with real time is not promised.
var promises = []documented{
	{dbms: history.PostgreSQL, levels: []corpus.Level{ru, rc}, promise: promise{
		models: []model.Model{model.Serializable, model.StrictSerializable}, views: perStatement,
		says: "each plain SELECT reads what was committed when it began; rows that were locked or written stay so to the " +
			"end of the transaction",
		cite: postgresLevel + "#XACT-READ-COMMITTED"}},
	{dbms: history.PostgreSQL, levels: []corpus.Level{rr}, promise: promise{
		models: []model.Model{model.SnapshotIsolation, model.StrongSnapshotIsolation},
		says:   "snapshot isolation, each snapshot with all that was committed when its transaction began",
		cite:   postgresLevel + "#XACT-REPEATABLE-READ"}},
	{dbms: history.PostgreSQL, levels: []corpus.Level{ser}, promise: promise{
		models: []model.Model{model.Serializable, model.StrongSnapshotIsolation},
		says:   "serializable, and each transaction reads a snapshot with all that was committed when it began",
		cite:   postgresLevel + "#XACT-SERIALIZABLE"}},

	// READ COMMITTED takes effect in the pessimistic mode only.
	{dbms: history.TiDB, levels: []corpus.Level{rc, rr}, setting: "tidb_txn_mode", value: "optimistic", promise: promise{
		models: snapshots, says: "snapshot isolation", cite: tidbLevel}},
	{dbms: history.TiDB, levels: []corpus.Level{rc}, promise: promise{
		models: serializable, views: perStatement,
		says: "each plain SELECT reads one snapshot; rows that were locked or written stay so to the end of the transaction",
		cite: tidbLevel + " " + tidbLocks}},
	{dbms: history.TiDB, levels: []corpus.Level{rr}, promise: promise{
		models: serializable, views: perTransaction,
		says: "all plain SELECTs read the snapshot of BEGIN; rows that were locked or written stay so to the end of the " +
			"transaction",
		cite: tidbLevel + " " + tidbLocks}},

	{levels: []corpus.Level{ru}, promise: promise{
		models: unmixed, says: "no write of a transaction is lost between those of another one", cite: innodbLevel}},
	{levels: []corpus.Level{rc}, promise: promise{
		models: serializable, views: perStatement,
		says: "each plain SELECT reads one snapshot; rows that were locked or written stay so to the end of the transaction",
		cite: innodbReads + " " + innodbLocks}},
	{levels: []corpus.Level{rr}, setting: "innodb_snapshot_isolation", value: "on", promise: promise{
		models: snapshots, gaps: true, onlyRows: true, says: "snapshot isolation", cite: mariaSI}},
	{levels: []corpus.Level{rr}, promise: promise{
		models: serializable, views: perTransaction, gaps: true,
		says: "all plain SELECTs read one snapshot; what was locked or written stays so to the end of the transaction",
		cite: innodbReads + " " + innodbLocks}},
	{levels: []corpus.Level{ser}, promise: promise{
		models: serializable, gaps: true, says: "serializable", cite: innodbLevel}},
}

// promised returns what a server promises at a level.
func promised(server history.Server, level corpus.Level) promise {
	for _, d := range promises {
		if d.dbms != "" && d.dbms != server.DBMS || !slices.Contains(d.levels, level) ||
			d.setting != "" && !strings.EqualFold(server.Settings[d.setting], d.value) {
			continue
		}
		return d.promise
	}
	return promise{}
}

// fragments are the transactions that are promised to be atomic.
type fragments struct {
	promise promise
	session int64 // of the next view
	current kv.Record
	view    kv.Record
	wrote   []kv.Value
	// dying: rows are deleted and inserted again, and a locking read may find the first and
	// not the second, where it waits for both but looks for rows before.
	// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
	dying bool
}

// split hands out the records into which a transaction falls, none of them empty.
func (f *fragments) split(e event, emit func(kv.Record)) {
	if f.promise.views == whole {
		rec := e.record()
		if f.promise.onlyRows {
			rec.Ops = f.withRows(e)
		}
		emit(rec)
		return
	}
	rec := e.record()
	f.current, f.view = rec, rec
	f.current.Ops, f.view.Ops = nil, nil
	f.wrote = f.wrote[:0]
	var alone []kv.Record
	last := -1 // the statement that alone ends with
	for i, o := range rec.Ops {
		how := e.how()[i]
		switch {
		case !o.Kind.IsRead():
			f.wrote = append(f.wrote, o.Key)
			f.current.Ops = append(f.current.Ops, o)
		case o.Kind == kv.ReadPredicate && len(f.wrote) > 0 && how.lock == plain:
			// It shows the snapshot and the transaction's own rows at once.
		case o.Kind == kv.ReadPredicate && how.lock != plain && !f.promise.gaps:
			// Row after row as it is then, and others may come meanwhile.
			if f.dying {
				f.current.Ops = append(f.current.Ops, rowsIn(o)...) // each was locked as it was
			}
		case f.dying && how.lock != plain && !f.promise.gaps && isNothing(o) && !slices.Contains(f.wrote, o.Key):
		case o.Kind != kv.ReadPredicate && slices.Contains(f.wrote, o.Key):
			f.current.Ops = append(f.current.Ops, o)
		case how.lock == plain && f.promise.views == perTransaction:
			f.view.Ops = append(f.view.Ops, o)
		case how.lock == plain, !f.promise.gaps && isNothing(o):
			if int(how.statement) != last {
				last = int(how.statement)
				alone = append(alone, kv.Record{Invoke: how.from, Return: how.to})
			}
			a := &alone[len(alone)-1]
			a.Ops = append(a.Ops, o)
		default:
			f.current.Ops = append(f.current.Ops, o)
		}
	}
	if len(f.current.Ops) > 0 {
		emit(f.current)
	}
	if rec.Status != kv.OK {
		return // what it read counts for nothing
	}
	if len(f.view.Ops) > 0 {
		alone = append(alone, f.view)
	}
	for _, a := range alone {
		f.session++
		a.Session = f.session
		emit(a)
	}
}

// withRows turns locking reads by a condition into reads of the rows that they returned, and leaves out those with a
// share lock.
func (f *fragments) withRows(e event) []kv.RecordOp {
	locks := false
	for i, o := range e.ops() {
		locks = locks || o.Kind == kv.ReadPredicate && e.how()[i].lock != plain
	}
	if !locks {
		return e.ops()
	}
	var out []kv.RecordOp
	for i, o := range e.ops() {
		if o.Kind != kv.ReadPredicate || e.how()[i].lock == plain {
			out = append(out, o)
			continue
		}
		if e.how()[i].lock != forShare {
			out = append(out, rowsIn(o)...)
		}
	}
	return out
}

// rowsIn are reads of the rows that a read by a condition returned.
func rowsIn(o kv.RecordOp) []kv.RecordOp {
	var out []kv.RecordOp
	for i := 0; i+1 < len(o.List); i += 2 {
		out = append(out, kv.RecordOp{Kind: kv.Read, Key: o.List[i], Val: o.List[i+1]})
	}
	return out
}

// isNothing tells a read that may have met no row.
func isNothing(o kv.RecordOp) bool {
	return o.Kind == kv.Read && o.Val == kv.Nil || o.Kind == kv.ReadList && len(o.List) == 0
}
