package harness

import "github.com/txnfuzz/txnfuzz/corpus/protocol"

// Preparing is implemented by a Session whose server knows prepared statements.
type Preparing interface {
	Session
	// ExecuteBy is Execute for a way of sending. What the server cannot prepare is sent as text, which Reply.AsText
	// then says.
	ExecuteBy(sql string, way protocol.Way) (Reply, error)
	// Forget closes what Execute keeps prepared.
	Forget()
}

// PolledPreparing is a Preparing that is Polled: behind SendBy comes Receive.
type PolledPreparing interface {
	Polled
	Preparing
	// SendBy is Send for a way of sending.
	SendBy(sql string, way protocol.Way) error
}

// Argument is the value of a parameter of a prepared statement: a whole number, or a text.
type Argument struct {
	Value  string
	Number bool
}

// Parametric is implemented by a Preparing whose statements can have parameters.
type Parametric interface {
	Preparing
	// ExecuteWith executes a statement that is kept prepared, with values for its parameters $1 and so on.
	ExecuteWith(sql string, args []Argument) (Reply, error)
}

// MostKept is how many statements a session keeps prepared; for one more the oldest goes.
const MostKept = 64

// Kept is what a session has prepared, by its text, and what the server calls it.
type Kept[N any] struct {
	named map[string]N
	order []string
}

// Named is what the server calls a statement, false if it is not prepared.
func (k *Kept[N]) Named(sql string) (N, bool) {
	n, ok := k.named[sql]
	return n, ok
}

// Add keeps a statement; drop, if there is one, is what must go for it.
func (k *Kept[N]) Add(sql string, name N) (drop N, dropped bool) {
	if len(k.order) == MostKept {
		drop, dropped = k.named[k.order[0]], true
		delete(k.named, k.order[0])
		k.order = k.order[1:]
	}
	if k.named == nil {
		k.named = map[string]N{}
	}
	k.named[sql] = name
	k.order = append(k.order, sql)
	return drop, dropped
}

// Empty forgets all and returns them, the oldest first.
func (k *Kept[N]) Empty() []N {
	all := make([]N, 0, len(k.order))
	for _, sql := range k.order {
		all = append(all, k.named[sql])
	}
	clear(k.named)
	k.order = k.order[:0]
	return all
}
