package findings

import (
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Header keys of a case that two servers answer differently.
const (
	keyDiffers     = "differs"
	keyAttribution = "attribution"
	keyLink        = "link"
)

// describeAgainst writes into a case what its two runs answered, beside each statement:
// one answer where it is the same.
func describeAgainst(c *corpus.Case, at Place, r *target.Trial) {
	c.Set(keyAgainst, at.Against.Target)
	c.Set(keyAgainst+" "+KeyVersion, at.Against.Server.Version)
	if s := settingsText(at.Against.Server.Settings); s != "" {
		c.Set(keyAgainst+" "+keySettings, s)
	}
	if r.Against == nil {
		return
	}
	for i := range c.Steps {
		a, b := answerAt(r.History, i), answerAt(r.Against.History, i)
		if c.Steps[i].Note = a; a != b {
			c.Steps[i].Note = at.Target + ": " + a + " | " + at.Against.Target + ": " + b
		}
	}
}

// describeDifference writes into the header what differs first, and what it is put down
// to.
func describeDifference(c *corpus.Case, d *against.Difference) {
	c.Set(keyDiffers, string(d.Kind)+", "+string(d.Statement)+": "+target.OneLine(d.First)+" | "+target.OneLine(d.Second))
	c.Set(keyAttribution, string(d.Attribution))
	c.Set(keyReason, target.OneLine(d.Reason))
	if d.Link != "" {
		c.Set(keyLink, d.Link)
	}
}

// answerAt is what a line of a case was answered, in short.
func answerAt(h *history.History, line int) string {
	if h == nil {
		return "not run"
	}
	for i := range h.Stmts {
		if st := &h.Stmts[i]; st.Line == line {
			return Short(target.OneLine(against.Answer(st)))
		}
	}
	return "not sent"
}

// otherRunOf returns the second run of a trial for a recording of a case, nil for none.
func otherRunOf(c *corpus.Case, r *target.Trial) *otherRun {
	o := r.Against
	if o == nil || o.History == nil {
		return nil
	}
	name, _ := c.Get(keyAgainst)
	return &otherRun{name, o.History, o.Verdict}
}

// exampleID names the example of a sort of difference.
func exampleID(d *against.Difference) string {
	parts := []string{string(d.Attribution), string(d.Kind)}
	if d.Statement != "" {
		parts = append(parts, strings.ReplaceAll(strings.ToLower(string(d.Statement)), " ", "-"))
	}
	if d.Follows {
		parts = append(parts, FollowsMark)
	}
	return strings.Join(append(parts, ShortHash(d.Reason)), "-")
}

// FollowsMark is in the names of examples of what follows from something else.
const FollowsMark = "follows"

// examples is the folder, below that of the findings, of one case for each sort of
// difference that is explained.
const examples = "differences"

// Example keeps the case of a run as one of a difference that is explained.
func (k *Keeper) Example(r *target.Trial, d *against.Difference, from Origin) (string, error) {
	c := r.Case.Clone()
	c.SetLevels(r.Levels)
	c.Set(KeySource, OwnSource)
	c.Set(keyInput, from.Input)
	describeAgainst(c, k.At, r)
	describeDifference(c, d)
	return k.Store.saveExample(exampleID(d), c)
}

// saveExample keeps a case that shows a difference which is explained.
func (s *Store) saveExample(id string, c *corpus.Case) (string, error) {
	return corpus.Save(filepath.Join(s.dir, examples), id, c)
}
