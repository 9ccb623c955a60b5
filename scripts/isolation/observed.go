package main

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/isolationspec"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// observation returns what the launches of a permutation showed in a run of its case.
func observation(p isolationspec.Permutation, c *corpus.Case, h *history.History) []seen {
	out := make([]seen, len(p))
	place := map[string]int{}
	for i, l := range p {
		out[i].step = l.Name
		place[isolationspec.NoteOf(p, i)] = i
	}
	// launch holds when the first line of a step was sent.
	launch := make([]history.Tick, len(p))
	for _, s := range h.Stmts {
		if i, ok := place[c.Steps[s.Line].Note]; ok && (launch[i] == 0 || s.Submit < launch[i]) {
			launch[i] = s.Submit
		}
	}
	last, at := -1, history.Tick(0)
	for _, s := range h.Stmts {
		i, ok := place[c.Steps[s.Line].Note]
		if ok && s.Return > at {
			last, at = i, s.Return
		}
		if c.Steps[s.Line].Note == isolationspec.NoteTearDown { // the tester prints it behind all, and names no step
			i, ok = last, last >= 0
		}
		if !ok || out[i].err != "" { // behind an error the tester sends nothing more of the step
			continue
		}
		if s.Result.Err != nil {
			out[i].err = s.Result.Err.Message
		}
		for _, row := range s.Result.Rows {
			values := make([]string, len(row))
			for j, cell := range row {
				if !cell.Null {
					values[j] = cell.Text
				}
			}
			out[i].rows = append(out[i].rows, trimmed(values))
		}
		if len(s.Waits) > 0 {
			out[i].waits = true
			out[i].until = ""
			for j := range p {
				if j != i && launch[j] > s.Submit && launch[j] < s.Return {
					out[i].until = p[j].Name
				}
			}
			if out[i].until == "" {
				out[i].until = p[i].Name
			}
		}
	}
	return out
}
