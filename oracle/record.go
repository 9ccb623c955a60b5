package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Record is a run that can be judged again without a server: the case as text,
// the history, and the verdict that was given.
type Record struct {
	// Note says in words what the record is about.
	Note    string           `json:"note,omitempty"`
	Case    string           `json:"case"`
	History *history.History `json:"history"`
	Verdict Verdict          `json:"verdict"`
}

// NewRecord judges a history and keeps all three.
func NewRecord(c *corpus.Case, h *history.History) Record {
	return Record{Case: string(corpus.Print(c, corpus.Text)), History: h, Verdict: CheckAndCount(c, h)}
}

// LoadRecords reads records from a file of JSON lines.
func LoadRecords(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer f.Close()
	var out []Record
	for d := json.NewDecoder(f); d.More(); {
		var r Record
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("read record %d of %s: %w", len(out)+1, path, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Judge parses the case and judges the history anew.
func (r *Record) Judge(name string) (Verdict, error) {
	c, err := corpus.Parse(filepath.Base(name), []byte(r.Case))
	if err != nil {
		return Verdict{}, fmt.Errorf("parse the recorded case: %w", err)
	}
	return CheckAndCount(c, r.History), nil
}
