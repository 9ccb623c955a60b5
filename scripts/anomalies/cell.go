package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// cell is what one pattern did on one server at one level.
type cell struct {
	outcome outcome
	err     string // of failed: the number, PostgreSQL's SQLSTATE
	// phenomena is what the oracle names, the gravest first.
	phenomena []model.Kind
	// wrong holds sentences on what must not be.
	wrong []string
}

// shown says that the anomaly came about.
func (c *cell) shown() bool { return c.outcome == seen || c.outcome == seenLater }

// runCell runs a pattern and judges what it did.
func runCell(ctx context.Context, t *target.Target, p *pattern.Pattern, c *corpus.Case, l corpus.Level) (cell, error) {
	r := t.Judge(ctx, c, target.LevelsFor(c, l))
	if r.History == nil {
		return cell{}, fmt.Errorf("%s at %s on %s: %w", p.Name(), l.Short(), t.Name, r.Err)
	}
	var out cell
	out.outcome, out.err = look(p, r.History)
	for _, a := range r.Anomalies() {
		out.phenomena = append(out.phenomena, a.Kind)
	}
	err := out.check(p, r.History, &r.Verdict, l)
	return out, err
}

// check holds a cell against what was expected and what the server promises.
func (c *cell) check(p *pattern.Pattern, h *history.History, v *oracle.Verdict, l corpus.Level) error {
	wrong := func(format string, args ...any) { c.wrong = append(c.wrong, fmt.Sprintf(format, args...)) }
	switch v.Outcome {
	case oracle.Violation, oracle.Unknown:
		wrong("the verdict is %s %s%s", v.Outcome, v.Kind, v.Reason)
	}
	if c.outcome == notJudged {
		wrong("the run did not end")
	}
	f := formOf(p)
	if c.shown() && !f.bar.allows(&h.Server, l) {
		wrong("%s was seen", f.name)
	}
	if c.outcome == seen && p.Dirty(pattern.WW) {
		wrong("a dirty write did not wait")
	}
	promise, err := promised(&h.Server, l)
	if err != nil {
		return err
	}
	for _, k := range c.phenomena {
		if model.Forbids(promise.Model, k) {
			wrong("%s promises %s, which forbids %s", h.Server.DBMS, promise.Model, k)
		}
	}
	if c.shown() && f.kind != "" && len(c.phenomena) == 0 && !missedRow(p) {
		wrong("the pattern came about, and the oracle names nothing")
	}
	return nil
}

// missedRow says that the read of what was rolled back is one that misses a row. The
// oracle names such a read by the row that it shows.
func missedRow(p *pattern.Pattern) bool {
	return !p.Cyclic() && slices.ContainsFunc(p.Edges(), func(e pattern.Edge) bool { return p.Effect(e.From).Gone })
}

// name is what the oracle calls a pattern that came about: the pattern's own name if
// that is among those which it names, else the gravest.
func (c *cell) name(p *pattern.Pattern) string {
	kind := formOf(p).kind
	switch {
	case kind == "" && p.Dirty(pattern.WW):
		return "P0"
	case kind == "":
		return "P1"
	case !slices.Contains(c.phenomena, kind) && len(c.phenomena) > 0:
		kind = c.phenomena[0]
	}
	return short(kind)
}

// short is a phenomenon's name in a table.
func short(k model.Kind) string {
	switch k {
	case model.LostUpdate:
		return "P4"
	case model.GSingleItem:
		return "G-single"
	case model.GSingle:
		return "PMP"
	}
	return string(k)
}
