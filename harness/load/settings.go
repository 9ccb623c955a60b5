package load

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Settings say what a run does.
type Settings struct {
	// Target is its name, without a password, for the history's header.
	Target   string
	Workload string
	// Nodes are the other servers of a cluster that runs already, as --node names them, without passwords.
	Nodes   []string
	Clients int
	// Protocol is how the statements of the clients are sent. What begins and ends an epoch is sent as text.
	Protocol protocol.Protocol
	// Bystanders are connections with an open transaction that has written what nobody else touches.
	Bystanders int
	Level      corpus.Level
	Reads      Reads
	// Openings are the ways in which transactions begin; nil: all that are of use.
	Openings []Opening
	// Duration and Transactions bound a run, the latter to the end of an epoch; 0:
	// no bound.
	Duration     time.Duration
	Transactions int64
	// UntilFound ends a run with the epoch in which something is found.
	UntilFound bool
	// Keys is how many are in use at a time, each as often as the others; 0: as the workload has it, which uses few
	// and the first of them most.
	Keys int
	// Epoch is how many transactions make an epoch; 0: as the workload has it.
	Epoch int
	// Timeout is how long a client waits for an answer before it gives up the
	// connection.
	Timeout time.Duration
	Seed    uint64
	// Faults are done to the server every FaultEvery, on average; after MaxFaults,
	// if that is not 0, the run ends.
	Faults     []FaultKind
	FaultEvery time.Duration
	MaxFaults  int
	// Backup is how the server is backed up now and then while clients work; empty: it is not.
	Backup Backup
	// Models to check instead of what the server promises.
	Models []model.Model
	// Declared is what somebody says that the server promises at the level, by a name of package
	// oracle/promise; empty: its documentation tells.
	Declared string
	// History receives the whole history in the form of package kv; nil: nobody.
	History io.Writer
	// Programs is how long is tried to make programs of all findings together; 0: none are made.
	Programs time.Duration
	// Found is the folder for findings.
	Found string
	// Progress receives a line now and then.
	Progress io.Writer
	// Live, if not nil, is called every second with the report so far.
	Live  func(*Report)
	Every time.Duration

	// recorded, if not nil, is given the transactions of each epoch that was judged; they are valid until it returns.
	recorded func(*judge, []event)

	_ struct{}
}

// protocolText is the protocol as headers have it; empty: text.
func (s *Settings) protocolText() string {
	if s.Protocol.IsText() {
		return ""
	}
	return s.Protocol.String()
}

// SettingError is a setting that cannot be, or that a target does not have.
type SettingError struct{ Err error }

func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// check reports settings that a backend does not take, before anything is done.
func (s *Settings) check(b harness.Backend) error {
	refuse := func(format string, args ...any) error { return &SettingError{fmt.Errorf(format, args...)} }
	w, err := findWorkload(s.Workload)
	if err != nil {
		return &SettingError{err}
	}
	if _, ok := b.(*Adapter); ok {
		if err := s.checkAdapter(); err != nil {
			return &SettingError{err}
		}
	}
	if err := s.checkInvariant(b.Server()); err != nil {
		return &SettingError{err}
	}
	if err := s.checkNodes(b); err != nil {
		return &SettingError{err}
	}
	if err := s.checkBackup(b); err != nil {
		return &SettingError{err}
	}
	if _, err := locksFor(s.Workload, s.Reads, b.Server()); err != nil {
		return &SettingError{err}
	}
	if size := w.size(); s.Keys > 0 && (size.same || size.inUse == 0) {
		return refuse("--keys: workload %s has keys of its own", s.Workload)
	}
	if _, err := openingsFor(s.Openings, s.Workload, b.Server().DBMS, s.Level); err != nil {
		return &SettingError{err}
	}
	if levels := harness.LevelsOf(b); !slices.Contains(levels, s.Level) {
		var names []string
		for _, l := range levels {
			names = append(names, l.Short())
		}
		return refuse("%s has no level %s: want one of %s", s.Target, s.Level, strings.Join(names, ", "))
	}
	if _, ok := topologyOf(b); ok {
		return nil // checkNodes has looked at the faults
	}
	if _, ok := b.(harness.Crasher); !ok && len(s.Faults) > 0 {
		return refuse("--fault: only private servers of our own are killed or paused, not %s", s.Target)
	}
	if slices.Contains(s.Faults, Partition) {
		return refuse("--fault partition: %s is one server, which is cut off from nobody; want several, such as "+
			"galera:11.8,nodes=3 or mariadb:11.8,replica=row", s.Target)
	}
	if _, ok := b.(harness.PowerLoser); !ok && slices.Contains(s.Faults, PowerLoss) {
		return refuse("--fault powerloss: only a private server of our own loses its power, not %s", s.Target)
	}
	return nil
}
