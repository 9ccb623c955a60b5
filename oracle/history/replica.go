package history

import (
	"fmt"
	"strings"
)

// ReplicaTrouble is what a replica did wrong that had applied all that a case committed, or that could not.
type ReplicaTrouble struct {
	// Form says how changes come to the replica, for example "asynchronous replica, binlog_format=ROW".
	Form string `json:"form"`
	// Stopped says that the replica has stopped, on the error with a number (0: none) and a text.
	Stopped bool   `json:"stopped,omitempty"`
	Code    int    `json:"code,omitempty"`
	Text    string `json:"text,omitempty"`
	// First and Node name members of a cluster of which Node holds other rows than First; empty: the replica differs
	// from its primary.
	First string `json:"first,omitempty"`
	Node  string `json:"node,omitempty"`
	// Table is the one that differs, if the replica has not stopped. Primary and Replica hold the rows that the one has
	// and the other has not, as a person reads them, in order; Error is what the replica answered to a read of the table.
	Table   string   `json:"table,omitempty"`
	Primary []string `json:"primary,omitempty"`
	Replica []string `json:"replica,omitempty"`
	Error   string   `json:"error,omitempty"`
	// Read is what was read on the replica while the case ran, and should not have been; nil: what is wrong was behind it.
	Read *WrongRead `json:"read,omitempty"`
	// Own says that the error names the database of the case, so that no other case can be the cause.
	Own bool `json:"own,omitempty"`
	// Unsafe holds the indexes into History.Stmts of statements of which the server told that their form in the binary
	// log is unsafe (1592).
	Unsafe []int `json:"unsafe,omitempty"`
}

// BinlogFormat is the form of the binary log that the replica reads: ROW, MIXED or STATEMENT; empty: it reads none.
func (r *ReplicaTrouble) BinlogFormat() string {
	_, after, _ := strings.Cut(r.Form, "binlog_format=")
	format, _, _ := strings.Cut(after, ",")
	return format
}

// who names the node that is right and the one that differs from it.
func (r *ReplicaTrouble) who() (first, node string) {
	if r.Node != "" {
		return "member " + r.First, "member " + r.Node
	}
	return "the primary", "the replica"
}

// Expected says what a replica should do.
func (r *ReplicaTrouble) Expected() string {
	switch {
	case r.Stopped:
		return "the replica applies what the primary has committed"
	case r.Read != nil:
		return r.Read.Expected()
	}
	first, node := r.who()
	return fmt.Sprintf("table %s of %s holds what that of %s does", r.Table, node, first)
}

// Actual says what it did.
func (r *ReplicaTrouble) Actual() string {
	first, node := r.who()
	switch {
	case r.Read != nil:
		return r.Read.Actual()
	case r.Stopped && r.Code == 0:
		return "it stops: " + r.Text
	case r.Stopped:
		return fmt.Sprintf("it stops with error %d: %s", r.Code, r.Text)
	case r.Error != "":
		return node + " answers " + r.Error
	}
	var parts []string
	if len(r.Primary) > 0 {
		parts = append(parts, "only "+first+" has "+strings.Join(r.Primary, " "))
	}
	if len(r.Replica) > 0 {
		parts = append(parts, "only "+node+" has "+strings.Join(r.Replica, " "))
	}
	return strings.Join(parts, "; ")
}

// Shape names how a table differs, whatever its rows are.
func (r *ReplicaTrouble) Shape() string {
	switch {
	case r.Read != nil:
		return r.Read.Shape
	case r.Error != "":
		return "no-table"
	case len(r.Replica) == 0:
		return "rows-missing"
	case len(r.Primary) == 0:
		return "rows-left"
	case len(r.Primary) == len(r.Replica):
		return "other-values"
	}
	return "other-rows"
}
