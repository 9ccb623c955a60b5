package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Workload is one whose invariant needs no order of transactions.
type Workload struct {
	Name string
	// Says completes "checked: ".
	Says string
	// Kinds are those of its findings, and which transactions could have shown one.
	Kinds []Opportunity

	// lacks says of the servers that cannot run it why.
	lacks map[history.DBMS]string
	// usual are the errors, beside those of all workloads, with which a sound server may answer.
	usual map[string]string
	// define makes the tables, settings is what the sessions of the clients begin with; nil: nothing.
	define   func(d *dialect) []string
	settings func(d *dialect) []string
	begin    func(e *Epoch) state
	// looks: some transactions only read, and what they read in one snapshot can be wrong by itself.
	looks bool
	// claims: what the clients leave behind outlives their sessions.
	claims bool
}

// Opportunity says which transactions could have shown a kind of finding: "transactions that …".
type Opportunity struct{ Kind, Met string }

// state is what is known in one epoch. All but transact is called while no client runs.
type state interface {
	// fill loads the rows with which the epoch begins.
	fill() []string
	// discard deletes what the epochs before have left.
	discard() []string
	transact(t *txn)
	// finish reads everything and says what is wrong. It may be called again when its connection was lost.
	finish(r *reader) ([]Violation, error)
}

// Kinds of findings. Each is told by the state at the end of an epoch, and most by snapshots, too.
const (
	JobTwice     = "job-done-twice"
	HalfDone     = "half-a-transaction" // some writes of a transaction are there and some are not
	Kept         = "kept-rollback"      // what was rolled back is there
	Disagreement = "index-disagreement"
	Orphan       = "orphan"
	WrongSum     = "wrong-sum"
	ValueTwice   = "value-given-twice"
	AuditWrong   = "audit-disagreement"
	RowTwice     = "row-twice"
	Unstable     = "two-reads-of-one-snapshot-differ"
	PreparedLost = "prepared-lost"
	EndedTwice   = "prepared-ended-twice"
	StillLocked  = "ended-but-locked"
	Lost         = "lost-acknowledged"
)

// Workloads are all, by name.
var Workloads = []*Workload{&counters, &ddl, &indexes, &family, &queue, &sequences, &triggers, &branches}

// Find returns the workload of a name; nil: there is none.
func Find(name string) *Workload {
	if i := slices.IndexFunc(Workloads, func(w *Workload) bool { return w.Name == name }); i >= 0 {
		return Workloads[i]
	}
	return nil
}

// Names returns the names of all workloads, sorted.
func Names() []string {
	var names []string
	for _, w := range Workloads {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	return names
}

// ReadsAlone tells whether a client may do nothing but read, on whatever node.
func (w *Workload) ReadsAlone() bool { return w.looks }

// Refuses says why a server cannot run the workload; nil: it can.
func (w *Workload) Refuses(s history.Server) error {
	if why := w.lacks[s.DBMS]; why != "" {
		return fmt.Errorf("workload %s: %s", w.Name, why)
	}
	if w.claims && s.DBMS == history.PostgreSQL && s.Settings["max_prepared_transactions"] == "0" {
		return fmt.Errorf("workload %s: the server has max_prepared_transactions=0, with which nothing can be prepared", w.Name)
	}
	return nil
}

// Violation is what breaks an invariant.
type Violation struct {
	Kind string
	// Says tells it in sentences: which rows, and which reads disagree.
	Says []string
	// Keys are the rows that it is about.
	Keys []int64
	// Lost is how many acknowledged changes are missing.
	Lost int
}

func violation(kind string, keys []int64, format string, args ...any) Violation {
	v := Violation{Kind: kind, Keys: keys, Says: strings.Split(fmt.Sprintf(format, args...), "\n")}
	if kind == Lost {
		v.Lost = 1
	}
	return v
}
