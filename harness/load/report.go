package load

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Report is what a run did and found.
type Report struct {
	Target        string            `json:"target"`
	ServerVersion string            `json:"server_version"`
	Settings      map[string]string `json:"settings"`
	Workload      string            `json:"workload"`
	Level         string            `json:"level"`
	Reads         Reads             `json:"reads"`
	Clients       int               `json:"clients"`
	Bystanders    int               `json:"bystanders"`
	Seed          uint64            `json:"seed"`
	// Protocol is how the statements of the clients were sent; Sent counts those that were to be prepared, nil where
	// none was.
	Protocol string `json:"protocol"`
	Sent     *Sent  `json:"sent,omitempty"`
	// Models were checked; Promise says why, where they were not asked for.
	Models  []model.Model `json:"models"`
	Promise string        `json:"promise,omitempty"`
	// Checked is the invariant of a workload that needs no model.
	Checked string `json:"checked,omitempty"`

	Seconds      float64 `json:"seconds"`
	Transactions int64   `json:"transactions"`
	OK           int64   `json:"ok"`
	Fail         int64   `json:"fail"`
	Info         int64   `json:"info"`
	Rate         float64 `json:"transactions_per_second"`
	// Openings are the ways in which transactions began; a workload without a history has its own.
	Openings []Opening `json:"openings,omitempty"`
	// Topology says how changes come from one of the Nodes to the others, Together what that promises, and Withheld
	// what it does not; no Nodes: there was one server.
	Topology string       `json:"topology,omitempty"`
	Nodes    []NodeReport `json:"nodes,omitempty"`
	Together string       `json:"promised_together,omitempty"`
	Withheld string       `json:"not_promised_together,omitempty"`
	// Survives is what is promised of what a node has acknowledged that then fails; empty: no node was broken.
	Survives string `json:"promised_of_a_failing_node,omitempty"`
	// Backups is how many backups were taken while clients worked; each is a transaction that reads everything.
	Backups int64 `json:"backups,omitempty"`
	// Backup is how they were taken; empty: none was. BackupsBeside is how many of them were complete while clients
	// worked, BackupSeconds how long one took, on average, and BackupReadSeconds how long it took to read it then.
	Backup            Backup  `json:"backup,omitempty"`
	BackupsBeside     int64   `json:"backups_beside_clients,omitempty"`
	BackupSeconds     float64 `json:"backup_seconds,omitempty"`
	BackupReadSeconds float64 `json:"backup_read_seconds,omitempty"`
	BackupPromise     string  `json:"promised_of_backups,omitempty"`
	// Between counts the anomalies between nodes: each node alone shows what its level promises, and no order of the
	// commits explains what they showed together.
	Between map[model.Kind]int `json:"anomalies_between_nodes,omitempty"`
	// Contended is the share of the transactions that met another one on a row: both were under way, and one of
	// them wrote what the other read or wrote.
	Contended float64 `json:"contended,omitempty"`
	// Aborts counts the transactions that ended with each error.
	Aborts map[string]int64 `json:"aborts"`
	Epochs int              `json:"epochs"`
	// CheckSeconds is how long the checks took, which ran beside the clients.
	CheckSeconds float64 `json:"check_seconds"`
	// Anomalies counts all that were seen, also where nothing forbids them.
	Anomalies map[model.Kind]int `json:"anomalies"`
	// Undecided counts, by reason, what could not be told.
	Undecided map[string]int `json:"undecided"`
	Faults    []Fault        `json:"faults"`
	// FaultKinds counts them by their kind; Undone is what the power losses among them took from the server, together.
	FaultKinds map[FaultKind]int `json:"fault_kinds,omitempty"`
	Undone     *harness.Undone   `json:"undone,omitempty"`
	// Durable tells the settings on which it depends what a killed server still has, as far as they are known.
	Durable string `json:"durable,omitempty"`
	// Receipts is how often a replica was asked, while its primary was dead, for all that this had acknowledged.
	Receipts int `json:"replica_read_while_primary_dead,omitempty"`
	// Lost counts writes that were acknowledged and are not there.
	Lost     int       `json:"lost_acknowledged"`
	Findings []Finding `json:"findings"`
	// Excluded says how rare what was not found must be.
	Excluded []Exclusion `json:"excluded"`
}

func (j *judge) report() *Report {
	r := j.run
	j.mu.Lock()
	defer j.mu.Unlock()
	out := &Report{
		Target: r.settings.Target, ServerVersion: j.header.Server, Settings: j.header.Settings,
		Workload: r.settings.Workload, Level: r.settings.Level.Short(), Reads: r.settings.Reads, Clients: r.settings.Clients, Seed: r.settings.Seed,
		Protocol:   r.settings.Protocol.Name(),
		Bystanders: r.settings.Bystanders,
		Models:     j.models, Seconds: j.end.Seconds(), Transactions: r.count.all(),
		OK: r.count.ok.Load(), Fail: r.count.fail.Load(), Info: r.count.info.Load(), Aborts: r.count.byName(),
		Epochs: j.checked, CheckSeconds: j.took.Seconds(), Anomalies: j.anomalies, Undecided: j.undecided,
		Faults: j.faults, Lost: j.lost, Findings: slices.Clone(j.findings), Excluded: j.excluded(),
	}
	if n := r.count.backups.Load(); n > 0 {
		out.Backup, out.Backups, out.BackupsBeside = r.settings.Backup, n, r.count.backupsBeside.Load()
		each := func(total int64) float64 { return time.Duration(total / n).Seconds() }
		out.BackupSeconds, out.BackupReadSeconds = each(r.count.backing.Load()), each(r.count.reading.Load())
		if r.settings.Backup.Copies() {
			out.BackupPromise = copyPromises[r.settings.Backup].String()
		}
	}
	if x := r.cluster; x != nil {
		out.Topology, out.Nodes = x.form, withFaults(j.nodes, j.faults)
		out.Between = j.forks
		out.Survives, out.Receipts = r.survives(), j.receipts
		out.Together, out.Withheld = x.promised(), x.promise.withheld
	}
	if !r.settings.Protocol.IsText() {
		out.Sent = r.sent.told()
	}
	out.FaultKinds, out.Undone = tally(j.faults)
	if len(r.settings.Faults) > 0 {
		out.Durable = durableSettings(r.backend.Server())
	}
	if r.invariant != nil {
		out.Checked = r.invariant.Workload.Says
	} else {
		// The settings were checked before.
		opened, _ := openingsFor(r.settings.Openings, r.settings.Workload, r.backend.Server().DBMS, r.settings.Level)
		for _, o := range opened {
			if !slices.Contains(out.Openings, o.name) {
				out.Openings = append(out.Openings, o.name)
			}
		}
		out.Contended = float64(j.contended) / float64(max(j.counted, 1))
	}
	if !j.asked && !r.cluster.takesWritesEverywhere() { // else Together says it
		out.Promise = j.promise.String()
	}
	if out.Seconds > 0 {
		out.Rate = float64(out.Transactions) / out.Seconds
	}
	return out
}

// Found tells whether something is wrong.
func (r *Report) Found() bool { return len(r.Findings) > 0 }

// Problem says why a run without a finding is no pass; nil: it is one.
func (r *Report) Problem() error {
	switch {
	case r.OK == 0:
		return fmt.Errorf("no transaction was committed")
	case r.Epochs == 0:
		return fmt.Errorf("no epoch was checked")
	case len(r.Undecided) > 0:
		return fmt.Errorf("undecided: %s", joined(r.Undecided))
	}
	return nil
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteText tells the report to people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) at %s, workload %s, %d clients, reads %s\n", r.Target, r.ServerVersion, r.Level, r.Workload, r.Clients, r.Reads)
	if r.Sent != nil {
		fmt.Fprintf(&b, "sent by protocol %s: prepared each time %d, kept prepared %d; as text, which the server cannot prepare, %d\n",
			r.Protocol, r.Sent.Prepared, r.Sent.Executed, r.Sent.AsText)
	}
	if r.Bystanders > 0 {
		fmt.Fprintf(&b, "beside them %d connections with an open transaction\n", r.Bystanders)
	}
	fmt.Fprintf(&b, "%s in %.1f s (%.0f a second): %d committed, %d aborted, %d unknown\n",
		counted(r.Transactions, "transaction"), r.Seconds, r.Rate, r.OK, r.Fail, r.Info)
	if len(r.Aborts) > 0 {
		fmt.Fprintf(&b, "ended with: %s\n", joined(r.Aborts))
	}
	if len(r.Faults) > 0 {
		fmt.Fprintf(&b, "faults: %s; acknowledged and lost: %d\n", joined(r.FaultKinds), r.Lost)
		if r.Receipts > 0 {
			fmt.Fprintf(&b, "while the primary was dead the replica was asked %s for all that had been acknowledged\n",
				counted(r.Receipts, "time"))
		}
		if r.Undone != nil {
			fmt.Fprintf(&b, "power losses: %s\n", r.Undone)
		}
		if r.Durable != "" {
			fmt.Fprintf(&b, "durable settings: %s\n", r.Durable)
		}
	}
	var opened []string
	for _, o := range r.Openings {
		opened = append(opened, string(o))
	}
	if len(opened) > 0 {
		fmt.Fprintf(&b, "openings %s; %.0f %% of the transactions met another one on a row\n",
			strings.Join(opened, ", "), 100*r.Contended)
	}
	var names []string
	for _, m := range r.Models {
		names = append(names, string(m))
	}
	if r.Checked != "" {
		fmt.Fprintf(&b, "%s checked: %s\n", counted(r.Epochs, "epoch"), r.Checked)
	} else {
		fmt.Fprintf(&b, "%s checked against %s in %.1f s\n", counted(r.Epochs, "epoch"), strings.Join(names, ", "),
			r.CheckSeconds)
	}
	if r.Promise != "" {
		fmt.Fprintf(&b, "promised: %s\n", r.Promise)
	}
	r.writeNodes(&b)
	if r.Backups > 0 {
		r.writeBackups(&b)
	}
	if len(r.Anomalies) > 0 {
		fmt.Fprintf(&b, "anomalies of the transactions as they were sent: %s\n", joined(r.Anomalies))
	}
	if len(r.Between) > 0 {
		fmt.Fprintf(&b, "anomalies between nodes: %s\n", joined(r.Between))
	}
	if len(r.Undecided) > 0 {
		fmt.Fprintf(&b, "undecided: %s\n", joined(r.Undecided))
	}
	writeExclusions(&b, r.Excluded)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\nFOUND %s, %s, first in epoch %d", f.Kind, counted(f.Count, "time"), f.Epoch)
		if f.Model != "" {
			fmt.Fprintf(&b, "; %s forbids it", f.Model)
		}
		fmt.Fprintf(&b, "; %s%s\n", shownBy(f.Transactions), f.File)
		for _, s := range f.Says {
			b.WriteString("  " + s + "\n")
		}
		if f.Promised != "" {
			b.WriteString("  promised: " + f.Promised + "\n")
		}
		if f.Note != "" {
			b.WriteString("  (" + f.Note + ")\n")
		}
		if f.Program != "" {
			b.WriteString("  " + f.programLine() + "\n")
		}
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing found\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// counted spells a number of things.
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shownBy introduces the file of a finding.
func shownBy(transactions int) string {
	switch transactions {
	case 0: // it is about an answer or a log
		return ""
	case 1:
		return "1 transaction shows it: "
	}
	return counted(transactions, "transaction") + " show it: "
}

// joined lists counts, the largest first.
func joined[K ~string, N int | int64](m map[K]N) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		if m[a] != m[b] {
			return int(m[b] - m[a])
		}
		return strings.Compare(string(a), string(b))
	})
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}
