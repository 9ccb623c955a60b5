package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Report is what a campaign came to. Its JSON keys are part of the command line's
// contract.
type Report struct {
	Workload      string   `json:"workload"`
	Target        string   `json:"target"`
	ServerVersion string   `json:"server_version"`
	Levels        []string `json:"levels"`
	Seed          uint64   `json:"seed"`
	Protocol      string   `json:"protocol"`
	Seconds       float64  `json:"seconds"`
	// Cases counts the runs of transactions against each other, Serial those one after
	// the other.
	Cases  int `json:"cases"`
	Serial int `json:"serial_runs"`
	// Runs counts all, those for reduction and the like among them.
	Runs int `json:"runs"`
	// CasesSeconds and CasesPerMinute leave out the time behind the cases, in which findings
	// are explained.
	CasesSeconds   float64 `json:"cases_seconds"`
	CasesPerMinute float64 `json:"cases_per_minute"`
	// Rejected counts states that the server refused, or in which an invariant did not
	// hold from the beginning, by reason.
	Rejected map[string]int `json:"rejected"`
	// Verdicts counts what the oracle said of the server.
	Verdicts map[oracle.Outcome]int `json:"verdicts"`
	// Unknown counts the runs of which the oracle cannot tell, by reason.
	Unknown map[string]int `json:"unknown"`
	// Unfinished counts runs that did not end.
	Unfinished int        `json:"unfinished"`
	Cells      []*Cell    `json:"cells"`
	Findings   []*Finding `json:"findings"`
	// Pending counts the findings that are saved as they were found: there was no time
	// to make them small and to look for what mends them.
	Pending int `json:"pending"`
	// Sets counts the sets of transactions that touch what one of them writes, NotRun lists
	// those that had no run.
	Sets   int        `json:"sets"`
	NotRun [][]string `json:"not_run"`
	// Apart lists the pairs of which neither touches what the other writes.
	Apart [][]string `json:"apart"`
	// HardlyRun lists the statements that fewer than one of a hundred calls came to.
	HardlyRun []string `json:"hardly_run"`
	// Mended are the workloads with the proposed reads FOR UPDATE.
	Mended []*Mended `json:"mended"`
	// RedCells counts the cells in which something was found, Groups are the causes of that, the gravest first.
	RedCells int      `json:"red_cells"`
	Groups   []*Group `json:"groups"`

	// explainNeeded is about how much time explaining all findings would take, 0 if that is
	// not known; explainedInVain is what was too short for one of them.
	explainNeeded, explainedInVain time.Duration
	// w is the workload, dbms of which kind the server is.
	w    *workload.Workload
	dbms history.DBMS
	// proposes says that FOR UPDATE was to be tried.
	proposes bool
}

// Cell is what was seen of a set of transactions at a level.
type Cell struct {
	Transactions []string `json:"transactions"`
	Level        string   `json:"level"`
	Runs         int      `json:"runs"`
	// Aborts counts what the server took back, by error; Refused what it refused.
	Aborts  map[uint16]int `json:"aborts"`
	Refused map[uint16]int `json:"refused"`
	// Anomalies counts runs by kind.
	Anomalies map[Kind]int `json:"anomalies"`
	// As holds, for anomalies that are no findings of their own, the ID of the one that some
	// of the transactions show.
	As map[Kind]string `json:"as"`
	// Findings are the IDs of those of the cell.
	Findings []string `json:"findings"`

	level corpus.Level
	// drawn counts runs of random inputs in random orders, shown those of them that showed
	// an anomaly: what they say of how rare it is, Runs does not.
	drawn float64
	// aborted counts the runs in which the server took a transaction back.
	aborted int
	shown   map[Kind]float64
	kept    map[Kind][]*mutate.Input
}

// Class says who is to blame.
type Class string

// The classes of findings.
const (
	// Isolation: every serial order is right, and the level allows this.
	Isolation Class = "isolation anomaly"
	// Application: a serial order breaks the invariant, too.
	Application Class = "application bug"
	// Server: the server does not do what it promises.
	Server Class = "finding of the server"
)

// Finding is one thing that is wrong.
type Finding struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`
	Kind  Kind   `json:"kind"`
	// Anomaly is the field's name for it, empty where it is not known.
	Anomaly string `json:"anomaly,omitempty"`
	// NamedBy tells where the name comes from: ByGraph or ByOrder.
	NamedBy string `json:"named_by,omitempty"`
	// Conflicts are the statements that meet in it.
	Conflicts    []Conflict `json:"conflicts,omitempty"`
	Level        string     `json:"level"`
	Transactions []string   `json:"transactions"`
	Calls        []string   `json:"calls"`
	File         string     `json:"file"`
	// Statements counts those of the case, BEGIN, COMMIT and ROLLBACK not among them.
	Statements int `json:"statements"`
	// Schedule is the reduced run, one line for each row that it begins with and each statement.
	Schedule string `json:"schedule,omitempty"`
	// LeftOut tells what of the calls the case does without; the serial orders that it
	// is compared with do without it, too.
	LeftOut []string `json:"left_out,omitempty"`
	// Checks are the conditions that the calls of the case still have.
	Checks []string `json:"checks,omitempty"`
	// Needed says of more than two transactions that it takes them all.
	Needed string `json:"transactions_needed,omitempty"`
	Detail string `json:"detail"`
	// Unjudged says, where the oracle cannot judge the run, that the server may be to
	// blame as well.
	Unjudged string `json:"not_judged,omitempty"`
	// Reduced says that there was time to make it small and look for what mends it.
	Reduced bool `json:"reduced"`
	// Reproduced is in how many of Reruns more runs of the saved case's order it showed;
	// ten are made if there is time.
	Reproduced int `json:"reproduced"`
	Reruns     int `json:"reruns"`
	// FirstSeen is in seconds since the start.
	FirstSeen float64 `json:"first_seen_s"`
	Seen      int     `json:"seen"`
	// OneIn is in one of how many runs of its transactions with new inputs it shows.
	OneIn int `json:"shows_in_one_of,omitempty"`
	// NeededRuns is in how many runs it must not be seen to say that it is gone.
	NeededRuns int `json:"needed_runs,omitempty"`
	// Weakest is the weakest level above at which it was not seen; empty where there is
	// none. MayBeWeakest is one that was tried in too few runs to tell.
	Weakest      string `json:"weakest_level,omitempty"`
	MayBeWeakest string `json:"weakest_level_undecided,omitempty"`
	WeakestRuns  int    `json:"weakest_level_runs,omitempty"`
	// WeakestAborts and MendAborts count those runs in which the server took a transaction
	// back, with a deadlock for example: what the mend costs.
	WeakestAborts int `json:"weakest_level_aborted_runs,omitempty"`
	// Mend tells which reads, made FOR UPDATE, made it disappear; MayMend those that
	// were tried in too few runs to tell.
	Mend       []string `json:"for_update,omitempty"`
	MayMend    []string `json:"for_update_undecided,omitempty"`
	MendRuns   int      `json:"for_update_runs,omitempty"`
	MendAborts int      `json:"for_update_aborted_runs,omitempty"`
	// MendFailed says why none is proposed.
	MendFailed string `json:"for_update_failed,omitempty"`
	// Remains is what is seen although every SELECT of the transactions is FOR UPDATE.
	Remains *Finding `json:"remains,omitempty"`
	// Unexplained says that it was seen at SERIALIZABLE although the oracle finds the
	// server's answers right.
	Unexplained bool `json:"unexplained,omitempty"`

	kept    map[int]bool // lines of the workload that the case has
	level   corpus.Level
	cellKey string
	reads   []read
	above   bool // it was seen at every stronger level
	trial   *trial
}

// Within reports whether all transactions of a finding are among those of a list, each as
// often.
func (f *Finding) Within(names []string) bool { return within(f.Transactions, names) }

// Found says that there is a finding.
func (r *Report) Found() bool { return len(r.Findings) > 0 }

// WriteJSON writes the report.
func (r *Report) WriteJSON(w io.Writer) error {
	r.grouped()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// WriteJUnit writes one test for each cell, which fails where something was found.
func (r *Report) WriteJUnit(w io.Writer) error { return writeJUnit(w, r) }

// WriteSARIF writes the findings; version is that of this program.
func (r *Report) WriteSARIF(w io.Writer, version string) error { return writeSARIF(w, r, version) }

// WriteHTML writes the report as a page that stands alone.
func (r *Report) WriteHTML(w io.Writer) error { return writeHTML(w, r) }
