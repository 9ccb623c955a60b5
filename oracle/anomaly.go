package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// Anomaly is a phenomenon as people and programs are told of it. Its JSON keys are
// part of the command line's contract.
type Anomaly struct {
	// Name is that of the literature.
	Name string     `json:"name"`
	Kind model.Kind `json:"kind"`
	// Cycle says in a sentence what leads around it, in terms of the case's steps.
	Cycle string `json:"cycle"`
	// Drawing is the cycle as a picture, its transactions in order of commit.
	Drawing *graph.Drawing `json:"-"`
}

// String is all of it on one line.
func (a *Anomaly) String() string { return a.Name + ": " + a.Cycle }

// Anomalies tells the phenomena of a run, the gravest first: of one that differs from
// what is promised, those in which its first difference has a part. The list is empty,
// never nil, where there is nothing to tell. It costs what Phenomena costs.
func Anomalies(c *corpus.Case, h *history.History, v *Verdict) []Anomaly {
	out := []Anomaly{}
	if h == nil || v.Outcome == "" {
		return out
	}
	list, d := Phenomena(c, h, v)
	_, h = read(c, h, v)
	for i := range list {
		p := &list[i]
		// What is not serializable may show first in a statement that is no part of why.
		if v.Stmt >= 0 && v.Kind != promise.NotSerializable && !slices.ContainsFunc(p.Cycle, func(e mvcc.Dependency) bool { return e.FromStmt == v.Stmt || e.ToStmt == v.Stmt }) {
			continue
		}
		out = append(out, Anomaly{Name: p.Name(), Kind: p.Kind, Cycle: strings.Join(p.Tell(d, h), "; "), Drawing: p.draw(d, h)})
	}
	return out
}

// AnomalyNames are the names alone, for a line.
func AnomalyNames(list []Anomaly) string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Name
	}
	return strings.Join(out, "; ")
}

// draw makes a picture of the cycle. Those that never committed stand last.
func (p *Phenomenon) draw(d *mvcc.Dependencies, h *history.History) *graph.Drawing {
	var units []int
	for _, e := range p.Cycle {
		for _, u := range []int{e.From, e.To} {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	slices.SortFunc(units, func(a, b int) int {
		x, y := &d.Units[a], &d.Units[b]
		if x.Committed != y.Committed {
			if x.Committed {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.End, y.End), cmp.Compare(a, b))
	})
	out := &graph.Drawing{Title: p.Name()}
	for _, u := range units {
		out.Nodes = append(out.Nodes, unitName(d, u)+"\n"+fate(&d.Units[u], h))
	}
	for _, e := range p.Cycle {
		out.Edges = append(out.Edges, graph.Arrow{
			From: slices.Index(units, e.From), To: slices.Index(units, e.To),
			Label: fmt.Sprintf("%s %s of %s\nstep %d → step %d", e.Kind, cutRow(e.Row), e.Table, h.Stmts[e.FromStmt].Line+1, h.Stmts[e.ToStmt].Line+1),
		})
	}
	return out
}

// cutRow keeps the label of an edge short.
func cutRow(row string) string {
	const most = 28
	if r := []rune(row); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return row
}

// fate says what became of a transaction.
func fate(u *mvcc.Unit, h *history.History) string {
	switch {
	case u.End < 0:
		return "left open"
	case u.Committed:
		return fmt.Sprintf("committed in step %d", h.Stmts[u.End].Line+1)
	}
	return fmt.Sprintf("rolled back in step %d", h.Stmts[u.End].Line+1)
}
