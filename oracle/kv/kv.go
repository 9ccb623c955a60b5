package kv

import "math"

// Value is a key or a value: an integer, or a name of a Names table, or Nil.
type Value int64

// Nil is the initial value of every register, and what a read of nothing shows.
const Nil Value = math.MinInt64

// firstInt bounds the integers that a Value can hold; below it lie the names.
const firstInt = math.MinInt64 + 1<<32

// IsInt tells whether v is an integer, not a name and not Nil.
func (v Value) IsInt() bool { return v >= firstInt }

// IsName tells whether v is a name of a Names table.
func (v Value) IsName() bool { return v > Nil && v < firstInt }

// Status tells how a transaction ended.
type Status uint8

const (
	// OK: the commit was acknowledged.
	OK Status = iota
	// Fail: it surely did not commit.
	Fail
	// Info: the client cannot tell, for example after a lost connection.
	Info
)

var statuses = [...]string{OK: "ok", Fail: "fail", Info: "info"}

func (s Status) String() string { return statuses[s] }

// Kind is what an operation does.
type Kind uint8

const (
	// Read returns a register's value, Nil for none.
	Read Kind = iota
	// Write replaces a register's value.
	Write
	// Append puts a value at the end of a list.
	Append
	// ReadList returns a list, from its first element.
	ReadList
	// Add puts a value into a set; the elements of a set have no order.
	Add
	// ReadSet returns all elements of a set.
	ReadSet
	// Delta adds an amount to a number whose value the client does not see.
	Delta
	// Insert makes an absent register; Delete makes it absent.
	Insert
	Delete
	// ReadPredicate returns all registers that match a condition: Val is a name
	// that spells the condition, List holds key, value, key, value, …
	ReadPredicate
	// Init is an Insert that surely came before everything else.
	Init
	// Versions returns the values that a register has had one after the other, as the
	// row itself kept them: a write that keeps no more than itself begins anew.
	Versions
)

var kinds = [...]string{Read: "r", Write: "w", Append: "append", ReadList: "r", Add: "add", ReadSet: "read-set",
	Delta: "delta", Insert: "insert", Delete: "delete", ReadPredicate: "rp", Init: "init",
	Versions: "versions"}

func (k Kind) String() string { return kinds[k] }

// IsRead tells whether the kind returns something and changes nothing.
func (k Kind) IsRead() bool {
	return k == Read || k == ReadList || k == ReadSet || k == ReadPredicate || k == Versions
}

// Workload tells what the operations of a history are.
type Workload string

const (
	ListAppend Workload = "append"
	Register   Workload = "register"
	Predicate  Workload = "predicate"
	// Mixed is Predicate with keys that many transactions change.
	Mixed Workload = "mixed"
	Bank  Workload = "bank"
	Set   Workload = "set"
)

// Header is what a file says of itself. Every field may be empty.
type Header struct {
	Workload Workload          `json:"workload,omitempty"`
	Target   string            `json:"target,omitempty"` // as for --target: mysql:9.7, embedded
	Server   string            `json:"server,omitempty"` // the server's own version
	Level    string            `json:"level,omitempty"`  // RU, RC, RR, SER or spelled out
	Settings map[string]string `json:"settings,omitempty"`
	// Protocol is how statements were sent, see package protocol; empty: as text, or nobody knows.
	Protocol string `json:"protocol,omitempty"`
	// Promised names models that the history must satisfy, whatever Target and
	// Level say.
	Promised []string `json:"promised,omitempty"`
	// Initial is what registers hold at first, beside Nil.
	Initial *int64 `json:"initial,omitempty"`
	// Total is the sum of all accounts of a bank; nil: what the first read shows.
	Total *int64 `json:"total,omitempty"`
	// NegativeBalances allows accounts of a bank below zero.
	NegativeBalances bool `json:"negative_balances,omitempty"`
	// FinalRead says that the last transaction has read everything after all others had ended, so what was acknowledged
	// must be there; of a bank, that the first one has read everything before them.
	FinalRead bool `json:"final_read,omitempty"`
	// Topology says in words how changes come from one of the Nodes to the others. No Nodes: there was one server, or
	// nobody recorded which.
	Topology string `json:"topology,omitempty"`
	Nodes    []Node `json:"nodes,omitempty"`
}

// Node is a server of several that hold the same data.
type Node struct {
	Name string `json:"name"`
	Role string `json:"role"` // primary, replica, member, or backup
}

// Unknown marks a time that nobody recorded, or that has not come.
const Unknown int64 = -1

// Record is one transaction laid open. Times are of one clock of any unit;
// Invoke is when its first operation was sent, Return when its end was known.
// What reads of a transaction that is not OK returned counts for nothing.
type Record struct {
	Session int64
	Status  Status
	Invoke  int64
	Return  int64
	// Node names the one of the header's nodes that ran it; empty: nobody recorded that.
	Node string
	Ops  []RecordOp
	// Place is where it stands in its file: the line or, of a binary file, the
	// offset. Readers set it.
	Place int64
}

// RecordOp is one operation laid open; which fields mean something depends on
// the kind.
type RecordOp struct {
	Kind Kind
	Key  Value
	Val  Value
	List []Value
	// First and Last bound the keys that a ReadPredicate asked about; both 0: all keys.
	First, Last Value
	// Lasting says that List is never changed, so it need not be copied.
	Lasting bool
}

// Names gives values to what is no integer.
type Names struct {
	ids   map[string]Value
	names []string
}

// Of returns the value of a name; the same name has the same value.
func (n *Names) Of(name []byte) Value {
	if v, ok := n.ids[string(name)]; ok {
		return v
	}
	if n.ids == nil {
		n.ids = map[string]Value{}
	}
	s := string(name)
	v := Nil + 1 + Value(len(n.names))
	n.names = append(n.names, s)
	n.ids[s] = v
	return v
}

// Name spells a value that is a name.
func (n *Names) Name(v Value) string { return n.names[v-Nil-1] }
