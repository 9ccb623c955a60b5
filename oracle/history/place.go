package history

// LockKind tells what part of an index a lock covers.
type LockKind string

const (
	// RecordLock covers a record, and perhaps the gap before it.
	RecordLock LockKind = "record"
	// GapLock covers the gap before a record.
	GapLock LockKind = "gap"
	// InsertIntention is what an INSERT waits with for a gap.
	InsertIntention LockKind = "insert intention"
	// Supremum covers the gap behind the last record of a page.
	Supremum LockKind = "supremum"
	// TableLock covers a table, mostly as an intention.
	TableLock LockKind = "table"
)

// Place is where a lock is, held or waited for, in the server's own words.
type Place struct {
	// Table is without its database, Index as the server calls it: PRIMARY, or
	// GEN_CLUST_INDEX for the hidden clustered index of a table without a key.
	Table string   `json:"table"`
	Index string   `json:"index"`
	Kind  LockKind `json:"kind"`
	// Mode is the lock's mode as printed: "X,REC_NOT_GAP", "lock_mode X waiting".
	Mode string `json:"mode,omitempty"`
	// Fields holds the record's leading fields: those of the key, in the clustered
	// index of MariaDB also what follows. A number or a quoted text is a value, 0x… the
	// bytes that are stored; a … at the end says that the server cut it off. It is
	// empty where the server did not tell, and of a supremum.
	Fields []string `json:"fields,omitempty"`
}
