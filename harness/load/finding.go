package load

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Kinds of findings beside the anomalies of package model.
const (
	KindLost     = "lost-acknowledged" // a commit that was acknowledged is not there
	KindRecovery = "no-recovery"       // a killed server does not start on its own data
	KindLog      = "server-log"        // the server wrote of corruption or a failed assertion
	KindCorrupt  = "table-corrupt"     // the server answers that a table or index is corrupt or gone
	KindAnswer   = "wrong-answer"      // an answer that no data explains
	KindBackup   = "backup-unusable"   // a backup that was told to be complete can not be started or read
)

// Finding is something that the server does not promise, or that was asked about.
type Finding struct {
	Kind string `json:"kind"`
	// Model is the weakest of those checked that forbids it; empty where none is
	// about it.
	Model model.Model `json:"model,omitempty"`
	// Epoch is the first that shows it, Count how often it was seen in all.
	Epoch int `json:"epoch"`
	Count int `json:"count"`
	// Transactions is how many are left of that epoch's: the smallest set that was
	// found to show the same.
	Transactions int `json:"transactions"`
	// Says tells it in sentences.
	Says []string `json:"says"`
	Note string   `json:"note,omitempty"`
	// File holds these transactions as a history, for txnfuzz check.
	File string `json:"file,omitempty"`
	// Promised is what the finding breaks of what several servers promise together; empty: it is none of these.
	Promised string `json:"promised,omitempty"`
	// Program holds a few clients that show it again and again, ProgramSize tells how few, and ProgramRate how often;
	// none: no program could be made.
	Program     string `json:"program,omitempty"`
	ProgramSize string `json:"program_size,omitempty"`
	ProgramRate *Rate  `json:"program_rate,omitempty"`
}

// found keeps a finding. The transactions that show it are saved at once, and
// again when they were reduced.
func (j *judge) found(f Finding, records []kv.Record) error {
	f.Transactions = len(records)
	at, first := j.note(&f)
	if !first {
		return nil
	}
	if err := j.save(f, records); err != nil {
		return err
	}
	smaller, says := j.reduce(f, records)
	if j.onFirst(records) {
		shown := records
		if says != nil {
			shown = smaller
		}
		j.drafts[f.Kind] = j.draft(f, shown)
	}
	if says == nil {
		return nil
	}
	f.Transactions, f.Says = len(smaller), says
	if err := j.save(f, smaller); err != nil {
		return err
	}
	j.mu.Lock()
	j.findings[at].Transactions, j.findings[at].Says = f.Transactions, f.Says
	j.mu.Unlock()
	return nil
}

// note counts a finding, and tells whether it is the first of its kind; then it gets its file and a place among the
// findings.
func (j *judge) note(f *Finding) (at int, first bool) {
	j.mu.Lock()
	for i := range j.findings {
		if j.findings[i].Kind == f.Kind {
			j.findings[i].Count += f.Count
			j.mu.Unlock()
			return i, false
		}
	}
	f.File = j.fileOf(*f)
	j.findings = append(j.findings, *f)
	at = len(j.findings) - 1
	j.mu.Unlock()
	if j.run.settings.UntilFound {
		j.run.stop()
	}
	if p := j.run.settings.Progress; p != nil {
		fmt.Fprintf(p, "found %s in epoch %d: %s\n", f.Kind, f.Epoch, f.File)
	}
	return at, true
}

// onFirst says that all who show a finding were clients on one server, or on the first of several: a program has no
// others.
func (j *judge) onFirst(records []kv.Record) bool {
	return !slices.ContainsFunc(records, func(r kv.Record) bool { return r.Node != j.run.cluster.first() })
}

func (j *judge) fileOf(f Finding) string {
	h := fnv.New32a()
	fmt.Fprintln(h, j.run.database, f.Kind, f.Epoch)
	target := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, string(j.run.backend.Server().DBMS)+"-"+j.run.settings.Level.Short()+"-"+j.run.settings.Workload+"-"+f.Kind)
	form := ".jsonl"
	if j.run.invariant != nil {
		form = ".json"
	}
	return filepath.Join(j.run.settings.Found, fmt.Sprintf("load-%s-%08x%s", strings.ToLower(target), h.Sum32(), form))
}

// writeHistory writes a whole history file.
func writeHistory(file string, header kv.Header, records []kv.Record) error {
	var b bytes.Buffer
	w, err := kv.NewWriter(&b, header, names)
	if err != nil {
		return err
	}
	for i := range records {
		err = errors.Join(err, w.Write(&records[i]))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return wholefile.Write(file, b.Bytes())
}

// save writes the transactions of a finding as a history that says what it is held
// against, and beside it what is wrong with it.
func (j *judge) save(f Finding, records []kv.Record) error {
	if j.run.invariant != nil {
		return j.saveViolation(f, nil)
	}
	header := j.header
	if f.Model != "" {
		header.Promised = []string{string(f.Model)}
	}
	header.FinalRead = f.Kind == KindLost
	err := os.MkdirAll(j.run.settings.Found, 0o755)
	if err == nil {
		err = writeHistory(f.File, header, records)
	}
	if err == nil {
		err = wholefile.Write(strings.TrimSuffix(f.File, ".jsonl")+".txt", []byte(j.text(f)))
	}
	if err != nil {
		return fmt.Errorf("save a finding: %w", err)
	}
	return nil
}

// text tells a finding to people.
func (j *judge) text(f Finding) string {
	var b strings.Builder
	s := &j.run.settings
	fmt.Fprintf(&b, "%s on %s (%s) at %s, workload %s, %d clients, reads %s, seed %d\n", f.Kind, s.Target, j.header.Server, s.Level, s.Workload, s.Clients, s.Reads, s.Seed)
	if j.header.Topology != "" {
		fmt.Fprintf(&b, "nodes: %s %s\n", j.header.Topology, strings.Join(s.Nodes, " "))
	}
	if !s.Protocol.IsText() {
		fmt.Fprintf(&b, "sent by protocol %s\n", s.Protocol.Name())
	}
	if s.Bystanders > 0 {
		fmt.Fprintf(&b, "beside %d connections with an open transaction\n", s.Bystanders)
	}
	if f.Model != "" {
		fmt.Fprintf(&b, "forbidden by: %s\n", f.Model)
	}
	if f.Promised != "" {
		fmt.Fprintf(&b, "promised: %s\n", f.Promised)
	} else if !j.asked && slices.Contains(j.promise.models, f.Model) {
		fmt.Fprintf(&b, "promised: %s\n", j.promise)
		if j.promise.views != whole {
			b.WriteString("(Plain SELECTs stand as transactions of their own here, because they read a snapshot and everything else the newest version.)\n")
		}
	}
	b.WriteByte('\n')
	for _, l := range f.Says {
		b.WriteString(l + "\n")
	}
	if f.Note != "" {
		b.WriteString("\n" + f.Note + "\n")
	}
	if f.Model != "" {
		b.WriteString("\nValues that other transactions wrote are left out of what was read, and operations that do not matter of the transactions.\n")
	}
	return b.String()
}

// project leaves of some transactions what they did to some keys.
func project(records []kv.Record, keys []kv.Value) []kv.Record {
	if len(keys) == 1 && keys[0] == 0 {
		return records // of no key in particular
	}
	var out []kv.Record
	for _, r := range records {
		var ops []kv.RecordOp
		for _, o := range r.Ops {
			if o.Kind != kv.ReadPredicate {
				if slices.Contains(keys, o.Key) {
					ops = append(ops, o)
				}
				continue
			}
			var list []kv.Value
			for i := 0; i+1 < len(o.List); i += 2 {
				if slices.Contains(keys, o.List[i]) {
					list = append(list, o.List[i], o.List[i+1])
				}
			}
			o.List = list
			ops = append(ops, o)
		}
		if len(ops) > 0 {
			r.Ops = ops
			out = append(out, r)
		}
	}
	return out
}
