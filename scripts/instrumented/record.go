package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// recorded is a run that can be compared again without a server.
type recorded struct {
	Name string `json:"name"`
	// Case is as it was before it was instrumented.
	Case    string           `json:"case"`
	History *history.History `json:"history"`
}

// loadRecorded reads JSON lines.
func loadRecorded(r io.Reader) ([]recorded, error) {
	var out []recorded
	for d := json.NewDecoder(r); ; {
		var one recorded
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read record %d: %w", len(out)+1, err)
		}
		out = append(out, one)
	}
}

// plan instruments the case anew.
func (r *recorded) plan() (*plan, error) {
	c, err := corpus.Parse(r.Name, []byte(r.Case))
	if err != nil {
		return nil, fmt.Errorf("parse a recorded case: %w", err)
	}
	return instrument(c)
}

// check compares the run again.
func (r *recorded) check() (comparison, error) {
	p, err := r.plan()
	if err != nil {
		return comparison{}, err
	}
	v := oracle.Check(p.c, r.History)
	return check(p, r.History, &v)
}

// keeper writes runs that differ to a folder: each as a record, and as text for people.
type keeper struct{ dir string }

func (k keeper) keep(r *recorded, p *plan, why string) (string, error) {
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of differences: %w", err)
	}
	shown := p.c.Clone()
	shown.Tail = append(shown.Tail, strings.Split(strings.TrimSpace(why), "\n")...)
	path := filepath.Join(k.dir, r.Name+corpus.Ext)
	if err := os.WriteFile(path, corpus.Print(shown, corpus.Text), 0o644); err != nil {
		return "", fmt.Errorf("write a difference: %w", err)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("print a difference: %w", err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, r.Name+".jsonl"), append(line, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("write a difference: %w", err)
	}
	return path, nil
}
