package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// judge writes the history and checks it, epoch by epoch. Its methods are called
// by one goroutine, line by any.
type judge struct {
	run     *run
	header  kv.Header
	promise promise
	asked   bool // models were asked for, instead of the promise
	models  []model.Model
	writer  *kv.Writer
	balance map[kv.Value]kv.Value // of a bank, when the last epoch ended
	late    []transfer

	checking chan struct{} // holds a token while a check runs
	lossy    bool          // the epoch that is judged has lost what was acknowledged
	events   []event       // of the epoch that is judged
	// drafts are of programs, by the kind of a finding, the most promising first.
	drafts map[string][]*Program

	mu        sync.Mutex
	checked   int
	anomalies map[model.Kind]int
	undecided map[string]int
	findings  []Finding
	faults    []Fault
	lost      int
	receipts  int
	// Of the epochs that were decided: the opportunities for anomalies; how many transactions were sent, and how
	// many of them wrote and were acknowledged.
	meetings    meetings
	sent, wrote int
	// nodes is what was done on each of several servers.
	nodes []NodeReport
	// forks counts anomalies of what is atomic on one node, on all nodes together.
	forks map[model.Kind]int
	// Of all epochs: how many transactions met another one on a row, of how many.
	contended, counted int
	took               time.Duration
	end                time.Duration
}

func newJudge(r *run) (*judge, error) {
	server := r.backend.Server()
	p, told := declared[r.settings.Declared]
	if !told {
		p = promised(server, r.settings.Level)
	}
	j := &judge{
		run: r, promise: p, asked: len(r.settings.Models) > 0, models: r.settings.Models,
		checking:  make(chan struct{}, 1),
		anomalies: map[model.Kind]int{}, forks: map[model.Kind]int{}, undecided: map[string]int{}, drafts: map[string][]*Program{},
		header: kv.Header{
			Workload: r.workload.kind(), Target: r.settings.Target, Server: server.Version,
			Level: r.settings.Level.Short(), Settings: server.Settings, Protocol: r.settings.protocolText(),
		},
	}
	if !j.asked && r.invariant == nil {
		j.models = p.models
	}
	if !j.asked && r.cluster.takesWritesEverywhere() {
		j.models = r.cluster.promise.models
	}
	j.nodes = r.cluster.newNodeReports(r.settings.Clients)
	j.header.Topology, j.header.Nodes = r.cluster.header()
	if r.settings.Backup != "" {
		j.header.Nodes = append(j.header.Nodes, kv.Node{Name: string(r.settings.Backup), Role: backupRole})
	}
	if !j.asked {
		j.header.Promised = r.promisedWhole()
	}
	if r.workload.kind() == kv.Bank {
		total := int64(accounts * balance)
		j.header.Total, j.header.NegativeBalances = &total, true
		j.balance = map[kv.Value]kv.Value{}
		for i := range accounts {
			j.balance[1+kv.Value(i)] = balance
		}
	}
	if r.settings.History != nil {
		var err error
		if j.writer, err = kv.NewWriter(r.settings.History, j.header, names); err != nil {
			return nil, fmt.Errorf("write the history: %w", err)
		}
	}
	return j, nil
}

// judge writes and checks one epoch. An error is one of the harness: what is wrong
// with the server is a finding.
func (j *judge) judge(e *epoch) error {
	began := time.Now()
	defer func() {
		j.mu.Lock()
		j.checked++
		j.took += time.Since(began)
		j.mu.Unlock()
		j.noteFaults(e.faults)
	}()
	events := inOrder(e.tapes)
	if err := j.write(events); err != nil {
		return err
	}
	if err := j.apart(e); err != nil {
		return err
	}
	for _, f := range e.unfit {
		if err := j.found(f, nil); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		return nil
	}
	j.countNodes(events)
	if j.run.invariant != nil { // which was held against its reads as they came
		j.mu.Lock()
		j.sent += len(events)
		j.mu.Unlock()
		return j.complaints()
	}
	j.events = events
	met, of := contended(events)
	j.mu.Lock()
	j.contended, j.counted = j.contended+met, j.counted+of
	j.mu.Unlock()
	if err := j.durable(e, events); err != nil {
		return err
	}
	if err := j.received(e, events); err != nil {
		return err
	}
	if err := j.complaints(); err != nil {
		return err
	}
	if j.run.settings.recorded != nil {
		j.run.settings.recorded(j, events)
	}
	return j.isolation(e, events)
}

// write appends an epoch to the history and hands it on to whoever follows it.
func (j *judge) write(events []event) error {
	if j.writer == nil {
		return nil
	}
	for _, e := range events {
		r := e.record()
		if err := j.writer.Write(&r); err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
	}
	if err := j.writer.Flush(); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// durable compares the read at the end of an epoch with what was acknowledged.
func (j *judge) durable(e *epoch, events []event) error {
	t := e.reader()
	if len(t.txns) == 0 {
		return nil
	}
	final := event{t, &t.txns[len(t.txns)-1]}
	found := lost(j.header.Workload, events, final)
	var records []kv.Record
	if j.header.Workload == kv.Bank {
		after := map[kv.Value]kv.Value{}
		for _, o := range final.ops() {
			after[o.Key] = o.Val
		}
		says, open, undecided := lostTransfers(events, j.late, j.balance, after)
		if says != "" {
			records = transferRecords(events, j.late, j.balance, final)
		}
		j.balance, j.late = after, open
		if undecided {
			j.doubt("too many transfers without a known outcome to tell whether one that was acknowledged is lost")
		}
		if says != "" {
			found = append(found, Lost{Writer: final, Reader: final, Says: says})
		}
	}
	j.mu.Lock()
	j.lost += len(found)
	j.mu.Unlock()
	j.lossy = len(found) > 0
	if len(found) == 0 {
		return nil
	}
	if records == nil {
		records = found[0].records(j.header.Workload, events)
	}
	return j.found(Finding{
		Kind: KindLost, Epoch: e.number, Count: len(found),
		Says: []string{found[0].Says, j.faultsSaid(e)}, Note: j.run.excuse(), Promised: j.run.survives(),
	}, records)
}

// faultsSaid tells what was done to the server in an epoch.
func (j *judge) faultsSaid(e *epoch) string {
	if len(e.faults) == 0 {
		return "nothing was done to the server in this epoch"
	}
	return "in this epoch: " + saidOf(e.faults)
}

func saidOf(faults []Fault) string {
	var parts []string
	for _, f := range faults {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, "; ")
}

// complaints makes a finding of what a living server wrote to its log that a
// sound one never writes.
func (j *judge) complaints() error {
	lines := j.logProblems()
	if len(lines) == 0 {
		return nil
	}
	return j.found(Finding{Kind: KindLog, Count: len(lines), Says: lines[:min(len(lines), logLines)]}, nil)
}

// logLines is how many lines of a log a finding quotes.
const logLines = 20

func (j *judge) logProblems() []string {
	if b, ok := j.run.backend.(interface{ LogProblems() []string }); ok {
		return b.LogProblems()
	}
	return nil
}

// noteFaults keeps faults for the report. A power loss that was none in full makes nothing of the run a pass.
func (j *judge) noteFaults(faults []Fault) {
	j.mu.Lock()
	j.faults = append(j.faults, faults...)
	j.mu.Unlock()
	for _, f := range faults {
		if f.Undone == nil {
			continue
		}
		for _, call := range f.Undone.Uncovered {
			j.doubt("not judged, since a power loss does not undo " + call)
		}
	}
}

// before tells the faults until now.
func (j *judge) before() []string {
	j.noteFaults(j.run.takeFaults())
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.faults) == 0 {
		return nil
	}
	return []string{"before: " + saidOf(j.faults)}
}

// unrecovered makes a finding of an error that holds a *harness.RecoveryError.
func (j *judge) unrecovered(err error, faults []string) error {
	text := err.Error() // which tells the node
	var lost *harness.RecoveryError
	if errors.As(err, &lost) && j.run.cluster == nil {
		text = lost.Error()
	}
	says := append(strings.Split(strings.TrimSpace(text), "\n"), faults...)
	return j.found(Finding{Kind: KindRecovery, Count: 1, Says: says, Note: j.run.excuse()}, nil)
}

// faultFailed tells a server that does not recover, and a replica that has stopped, from a failure of the harness.
func (j *judge) faultFailed(err error) {
	var lost *harness.RecoveryError
	var stopped *harness.StoppedError
	switch {
	case errors.As(err, &lost):
		err = j.unrecovered(err, j.before())
	case errors.As(err, &stopped):
		err = j.stoppedInFault(stopped)
	}
	j.run.die(err)
}

// stoppedInFault makes a finding of a replica that applies nothing any more after a fault.
func (j *judge) stoppedInFault(s *harness.StoppedError) error {
	return j.found(Finding{
		Kind: KindStopped, Count: 1, Says: append([]string{s.Error()}, j.before()...), Promised: j.run.survives(),
	}, nil)
}

// explain makes findings of errors that tell of the server: an answer that no data
// explains, a table that it calls corrupt, and a server of our own that went down by
// itself.
func (j *judge) explain(err error) error {
	faults := j.before()
	excuse := ""
	if len(faults) > 0 {
		excuse = j.run.excuse()
	}
	var lost *harness.RecoveryError
	if errors.As(err, &lost) {
		return j.unrecovered(err, faults)
	}
	var stopped *harness.StoppedError
	if errors.As(err, &stopped) {
		return j.stoppedInFault(stopped)
	}
	var wrong *WrongAnswer
	if errors.As(err, &wrong) {
		return j.found(Finding{Kind: KindAnswer, Count: 1, Says: append([]string{wrong.Error()}, faults...), Note: excuse}, nil)
	}
	if corrupt[errorCode(err)] {
		says := append([]string{err.Error()}, faults...)
		lines := j.logProblems()
		return j.found(Finding{
			Kind: KindCorrupt, Count: 1, Says: append(says, lines[:min(len(lines), logLines)]...), Note: excuse,
		}, nil)
	}
	if gone[errorCode(err)] && len(faults) > 0 {
		says := []string{"a table that was made, and whose making was acknowledged, is gone: " + err.Error()}
		return j.found(Finding{Kind: KindLost, Count: 1, Says: append(says, faults...), Note: excuse}, nil)
	}
	if err != nil {
		return errors.Join(err, j.complaints())
	}
	return nil
}

func (j *judge) doubt(reason string) {
	j.mu.Lock()
	j.undecided[reason]++
	j.mu.Unlock()
}

// close ends the history: its last line says that nothing is missing.
func (j *judge) close() {
	j.end = time.Since(j.run.begun)
	if j.writer == nil {
		return
	}
	if err := j.writer.Close(); err != nil {
		j.run.fail(fmt.Errorf("write the history: %w", err))
	}
}

// line is the checker's part of a line of progress.
func (j *judge) line() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := counted(j.checked, "epoch") + " checked"
	for _, k := range slices.SortedFunc(maps.Keys(j.anomalies), func(a, b model.Kind) int {
		return cmp.Or(cmp.Compare(j.anomalies[b], j.anomalies[a]), strings.Compare(string(a), string(b)))
	}) {
		s += fmt.Sprintf(", %d %s", j.anomalies[k], k)
	}
	if n := len(j.findings); n > 0 {
		s += fmt.Sprintf("; %d FINDINGS", n)
	}
	return s
}
