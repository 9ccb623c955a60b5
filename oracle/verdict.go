package oracle

// Outcome is what the oracle says of a history.
type Outcome string

const (
	// OK: the promised and documented rules predict the whole history.
	OK Outcome = "ok"
	// Known: they do not, but in-scope deviations of the rules table do.
	Known Outcome = "known"
	// Violation: no in-scope ruleset predicts the history.
	Violation Outcome = "violation"
	// Unknown: the oracle cannot tell, through a loss of its own; see Reason.
	Unknown Outcome = "unknown"
)

// Kind names what a violation is, in the field's terms.
type Kind string

// The kinds that are about the server as a whole: who runs a case finds them out, beside what the
// oracle says of its answers.
const (
	// ServerCrash: the case takes the server down.
	ServerCrash Kind = "server-crash"
	// ServerLog: a server that lives on wrote of a failed assertion or of corruption.
	ServerLog Kind = "server-log"
	// ReplicaStopped: a replica cannot apply what its primary has committed, or a member of a cluster leaves it.
	ReplicaStopped Kind = "replica-stopped"
	// ReplicaDiffers: a replica has applied it all and holds other rows.
	ReplicaDiffers Kind = "replica-differs"
	// ReplicaRead: what was read on a replica while the case ran is nothing that the manual lets it show.
	ReplicaRead Kind = "replica-read"
	// NodesDiffer: members of a cluster that have applied all that any of them committed hold different rows.
	NodesDiffer Kind = "nodes-differ"
)

// OfServer says that a kind is about the servers as a whole, and not about an answer.
func (k Kind) OfServer() bool {
	switch k {
	case ServerCrash, ServerLog, ReplicaStopped, ReplicaDiffers, ReplicaRead, NodesDiffer:
		return true
	}
	return false
}

// OfReplica says that a kind is about what one server has applied, or has not, of what another one has committed: a
// replica, or a member of a cluster.
func (k Kind) OfReplica() bool {
	switch k {
	case ReplicaStopped, ReplicaDiffers, ReplicaRead, NodesDiffer:
		return true
	}
	return false
}

// Verdict is the oracle's judgement of one history.
type Verdict struct {
	Outcome Outcome `json:"verdict"`
	// Oracle names the judge of a violation that is not one of the rules: Graph, Answers or
	// Promised; Promised of an OK, too. Empty: the rules decided.
	Oracle string `json:"oracle,omitempty"`
	// Kind is set for a violation, and for a known deviation says how it
	// would have been reported.
	Kind Kind `json:"kind,omitempty"`
	// Rules holds the names of the deviations that a Known verdict needs.
	Rules []string `json:"rules,omitempty"`
	// Stmt is the index into History.Stmts of the first statement that
	// differs from the promise; -1: the final state, or nothing, differs.
	Stmt int `json:"stmt"`
	// Expected and Actual hold the first difference, each on one line.
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	// Reason is a sentence: why this is a violation, or which loss of the
	// oracle's own makes it unknown (then a short fixed slug).
	Reason string `json:"reason,omitempty"`
	// Fingerprint is equal for histories that show the same cause: it does not
	// depend on names, constants or the number of statements around it.
	// Empty for OK and Unknown.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Refused holds the indexes into History.Stmts of statements that the server
	// refuses by their text alone, and that were taken to have no effect.
	Refused []int `json:"refused,omitempty"`
	// Elsewhere says that the history is as promised, or as under a deviation, only if
	// some statement waited at another place than the server told, where by the rules
	// it had no reason to wait. The outcome is Unknown, the reason ReasonElsewhere.
	Elsewhere bool `json:"waits_elsewhere,omitempty"`
	// ByKey says that the history is as promised, or as under the Rules, if rows are told by their keys
	// where a transaction wrote a key that its snapshot gives to another row: the promise can be read so.
	ByKey bool `json:"by_key,omitempty"`
	// World says which of the histories the verdict speaks of where sessions were killed and
	// there are several that it may stand for: see package ended.
	World int `json:"world,omitempty"`
	// Asked counts the answers of the server itself that the verdict rests on, where the
	// oracle does not know the SQL.
	Asked int `json:"asked,omitempty"`
	// Unpromised says, of an Unknown verdict, why the judge by promise cannot tell either.
	Unpromised string `json:"unpromised,omitempty"`
	// Statements counts the executed statements that have something to judge,
	// Judged those beside whose answer the rules allow no other. Only CheckAndCount fills
	// them in.
	Statements int `json:"statements"`
	Judged     int `json:"judged"`
	// Conflicting says that the transactions touched overlapping rows or
	// predicates, at least one of them writing. What only subqueries read does not count.
	Conflicting bool `json:"conflicting"`
}
