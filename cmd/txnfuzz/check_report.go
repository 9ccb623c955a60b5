package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// checkReport is what check tells of one file, to people and as JSON.
type checkReport struct {
	File         string                        `json:"file"`
	Workload     kv.Workload                   `json:"workload"`
	Target       string                        `json:"target,omitempty"`
	Level        string                        `json:"level,omitempty"`
	Transactions int                           `json:"transactions"`
	Operations   int                           `json:"operations"`
	Keys         int                           `json:"keys"`
	Sessions     int                           `json:"sessions"`
	Asked        []model.Model                 `json:"asked"` // empty: all, for information
	Verdict      infer.Verdict                 `json:"verdict"`
	Holds        []model.Model                 `json:"holds"` // the strongest
	Fails        []model.Model                 `json:"fails"` // the weakest
	Models       map[model.Model]infer.Verdict `json:"models"`
	Reasons      map[model.Model]string        `json:"undecided,omitempty"`
	Anomalies    []checkGroup                  `json:"anomalies"`
	Edges        int                           `json:"edges"`
	OpenPairs    int                           `json:"open_pairs"`
	DeadEnds     int                           `json:"dead_ends"`
	Seconds      map[string]float64            `json:"seconds,omitempty"`
}

type checkGroup struct {
	Kind      model.Kind     `json:"kind"`
	Meaning   string         `json:"meaning"`
	Forbidden []model.Model  `json:"forbidden_by"` // the weakest
	Count     int            `json:"count"`
	Examples  []checkExample `json:"examples"`
}

type checkExample struct {
	Transactions []string `json:"transactions"`
	Steps        []string `json:"steps"`

	drawing *graph.Drawing
}

func newCheckReport(h *kv.History, res *infer.Result, asked []model.Model) checkReport {
	r := checkReport{File: h.File, Workload: res.Workload, Target: h.Header.Target, Level: h.Header.Level,
		Transactions: h.Len(), Operations: h.OpCount(), Keys: h.Keys(), Sessions: h.Sessions(),
		Asked: append([]model.Model{}, asked...), Models: res.Verdicts, Reasons: res.Reasons,
		Holds: model.Strongest(res.Held()), Fails: model.Weakest(res.Failed()),
		Edges: res.Edges, OpenPairs: res.Open, DeadEnds: res.Conflicts, Anomalies: []checkGroup{}}
	r.Verdict = infer.Holds
	for _, m := range asked {
		switch v := res.Verdicts[m]; {
		case v == infer.Fails:
			r.Verdict = v
		case v == infer.Undecided && r.Verdict != infer.Fails:
			r.Verdict = v
		}
	}
	if len(asked) == 0 {
		r.Verdict = "" // nothing was asked for
	}
	for _, g := range res.Anomalies {
		c := checkGroup{Kind: g.Kind, Meaning: model.Meaning(g.Kind), Forbidden: model.ForbiddenBy(g.Kind), Count: g.Count}
		for _, a := range g.Examples {
			x := checkExample{Steps: a.Steps, Transactions: []string{}}
			for i, t := range a.Txns {
				x.Transactions = append(x.Transactions, fmt.Sprintf("T%d: %s", i+1, infer.Describe(h, t)))
			}
			if len(a.Cycle) > 0 {
				x.drawing = infer.Draw(h, a)
			}
			c.Examples = append(c.Examples, x)
		}
		r.Anomalies = append(r.Anomalies, c)
	}
	return r
}

// addLost adds what was acknowledged and is not there, which counts whatever models are asked for.
func (r *checkReport) addLost(says []string, examples int) {
	if len(says) == 0 {
		return
	}
	r.Verdict = infer.Fails
	g := checkGroup{
		Kind: load.KindLost, Meaning: "what was acknowledged is missing in the read at the end", Forbidden: []model.Model{},
		Count: len(says),
	}
	for _, s := range says[:min(len(says), examples)] {
		g.Examples = append(g.Examples, checkExample{Transactions: []string{}, Steps: []string{s}})
	}
	r.Anomalies = append([]checkGroup{g}, r.Anomalies...)
}

func writeCheckJSON(w io.Writer, reports []checkReport) error {
	if reports == nil {
		reports = []checkReport{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(reports)
}

func (r *checkReport) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s, %d transactions, %d operations, %d keys, %d sessions", r.File, r.Workload, r.Transactions, r.Operations, r.Keys, r.Sessions)
	if s := r.Seconds; s != nil {
		fmt.Fprintf(b, "; read in %.2f s, judged in %.2f s", s["read"], s["judge"])
	}
	b.WriteString("\n")
	for _, g := range r.Anomalies {
		fmt.Fprintf(b, "\n%s, %d: %s\n", g.Kind, g.Count, g.Meaning)
		for _, x := range g.Examples {
			b.WriteString("\n")
			for _, t := range x.Transactions {
				fmt.Fprintf(b, "  %s\n", t)
			}
			for _, s := range x.Steps {
				fmt.Fprintf(b, "  - %s\n", s)
			}
		}
	}
	if len(r.Anomalies) > 0 {
		b.WriteString("\n")
	}
	if len(r.Asked) > 0 {
		for _, m := range r.Asked {
			fmt.Fprintf(b, "  %-34s %s%s\n", m, r.Models[m], because(r.Reasons[m]))
		}
		return b.Flush()
	}
	for _, d := range model.Models {
		mark := ""
		for _, m := range r.Holds {
			if m == d.Model {
				mark = "  (strongest)"
			}
		}
		for _, m := range r.Fails {
			if m == d.Model {
				mark = "  (weakest)"
			}
		}
		fmt.Fprintf(b, "  %-34s %s%s%s\n", d.Model, r.Models[d.Model], mark, because(r.Reasons[d.Model]))
	}
	return b.Flush()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// draw writes the cycles that are told as pictures.
func (o *checkFlags) draw(r checkReport) error {
	if o.drawings == "" {
		return nil
	}
	base := strings.TrimSuffix(filepath.Base(r.File), filepath.Ext(r.File))
	for _, g := range r.Anomalies {
		for i, x := range g.Examples {
			if x.drawing == nil {
				continue
			}
			name := filepath.Join(o.drawings, fmt.Sprintf("%s-%s-%d", base, g.Kind, i+1))
			if err := writeOutput(name+".dot", nil, x.drawing.WriteDOT); err != nil {
				return err
			}
			if err := writeOutput(name+".svg", nil, x.drawing.WriteSVG); err != nil {
				return err
			}
		}
	}
	return nil
}
