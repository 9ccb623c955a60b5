package load

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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
	Seed          uint64            `json:"seed"`
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
	// Durable tells the settings on which it depends what a killed server still has, as far as they are known.
	Durable string `json:"durable,omitempty"`
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
		Models: j.models, Seconds: j.end.Seconds(), Transactions: r.count.all(),
		OK: r.count.ok.Load(), Fail: r.count.fail.Load(), Info: r.count.info.Load(), Aborts: r.count.byName(),
		Epochs: j.checked, CheckSeconds: j.took.Seconds(), Anomalies: j.anomalies, Undecided: j.undecided,
		Faults: j.faults, Lost: j.lost, Findings: slices.Clone(j.findings), Excluded: j.excluded(),
	}
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
	if !j.asked {
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
	fmt.Fprintf(&b, "%s in %.1f s (%.0f a second): %d committed, %d aborted, %d unknown\n",
		counted(r.Transactions, "transaction"), r.Seconds, r.Rate, r.OK, r.Fail, r.Info)
	if len(r.Aborts) > 0 {
		fmt.Fprintf(&b, "ended with: %s\n", joined(r.Aborts))
	}
	if len(r.Faults) > 0 {
		n := map[FaultKind]int{}
		for _, f := range r.Faults {
			n[f.Kind]++
		}
		fmt.Fprintf(&b, "faults: %s; acknowledged and lost: %d\n", joined(n), r.Lost)
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
	if len(r.Anomalies) > 0 {
		fmt.Fprintf(&b, "anomalies of the transactions as they were sent: %s\n", joined(r.Anomalies))
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
