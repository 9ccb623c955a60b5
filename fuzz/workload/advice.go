package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// Advice says what to change for some transactions at a level, and in how many runs that was tried.
type Advice struct {
	Level string `json:"level"`
	// Findings are the IDs of those for which it holds, Transactions their sets, Kinds what they are.
	Findings     []string   `json:"findings"`
	Transactions [][]string `json:"transactions"`
	Kinds        []Kind     `json:"kinds"`
	// ForUpdate are the reads that it proposes to lock; empty where it proposes none.
	ForUpdate []string `json:"for_update"`
	// Stronger is the level that it proposes instead, empty for none.
	Stronger string `json:"stronger_level,omitempty"`
	Text     string `json:"text"`
}

// advice says what mends the findings of a group, the smallest first, and what is proposed before what may help and
// what does not. What a group's reads mend that are proposed already is not said again.
func (r *Report) advice(g *Group) []Advice {
	var out []Advice
	told := map[string][]read{} // what is proposed by level
	list := slices.Clone(g.list)
	slices.SortStableFunc(list, func(a, b *Finding) int { return a.adviceRank() - b.adviceRank() })
	for i, f := range list {
		if i > 0 && (f.Class != Isolation || f.untried()) {
			continue // one sentence says it
		}
		missing := func(x read) bool { return !slices.Contains(told[f.Level], x) }
		if len(f.reads) > 0 && !slices.ContainsFunc(f.reads, missing) {
			continue
		}
		a := Advice{Level: f.Level, ForUpdate: slices.Concat([]string{}, f.Mend), Stronger: f.Weakest, Text: f.advice()}
		if len(out) > 0 && len(f.Mend) > 0 && f.Level != out[0].Level && slices.Equal(f.Mend, out[0].ForUpdate) {
			a.Text = fmt.Sprintf("The same FOR UPDATE: not seen in %s.", tried(f.MendRuns, "then", f.MendAborts))
		}
		if k := slices.IndexFunc(out, func(b Advice) bool { return b.Level == a.Level && b.Text == a.Text }); k >= 0 {
			out[k].holdsFor(f)
			continue
		}
		a.holdsFor(f)
		told[f.Level] = append(told[f.Level], f.proposed()...)
		out = append(out, a)
	}
	return out
}

func (a *Advice) holdsFor(f *Finding) {
	a.Findings = append(a.Findings, f.ID)
	a.Transactions = append(a.Transactions, f.Transactions)
	a.Kinds = append(a.Kinds, f.Kind)
}

// adviceRank orders findings by how much is known of what mends them.
func (f *Finding) adviceRank() int {
	switch {
	case len(f.Mend) > 0:
		return 0
	case f.Weakest != "":
		return 1
	case len(f.MayMend) > 0 || f.MayBeWeakest != "":
		return 2
	case f.untried():
		return 4
	}
	return 3
}

// proposed are the reads that are proposed for a finding.
func (f *Finding) proposed() []read {
	if len(f.Mend) == 0 {
		return nil
	}
	return f.reads
}

// advice is a sentence, or two, on what to change: what was tried, and what came of it.
func (f *Finding) advice() string {
	switch f.Class {
	case Server:
		return "The server answered wrong: nothing in the transactions is to be changed for it."
	case Application:
		return "Change the transactions themselves: they break this one after the other, too, " +
			"so neither a lock nor a level helps."
	}
	level := f.levelAdvice()
	switch {
	case len(f.Mend) > 0:
		return fmt.Sprintf("Lock %s (FOR UPDATE): not seen in %s.%s",
			f.locked(), tried(f.MendRuns, "then", f.MendAborts), after(" Or ", level))
	case len(f.MayMend) > 0:
		return fmt.Sprintf("To lock %s (FOR UPDATE) may help: not seen in %s, but %s.%s",
			f.locked(), tried(f.MendRuns, "then", 0), f.TooFew("without it"), after(" Or ", level))
	case level != "":
		return upper(level)
	case !f.Reduced:
		return "What mends it is not known: there was no time to try."
	case f.MendFailed == "":
		return "What mends it is not known: no FOR UPDATE was tried."
	}
	return "No lock is known that mends it: " + f.MendFailed + "."
}

// levelAdvice names the stronger level at which a finding was not seen; empty: none is known.
func (f *Finding) levelAdvice() string {
	switch {
	case f.Weakest != "":
		return fmt.Sprintf("use %s: not seen in %s.", levelName(f.Weakest), tried(f.WeakestRuns, "there", f.WeakestAborts))
	case f.MayBeWeakest != "":
		return fmt.Sprintf("use %s, which may help: not seen in %s, but %s.",
			levelName(f.MayBeWeakest), tried(f.WeakestRuns, "there", 0), f.TooFew("at "+f.Level))
	}
	return ""
}

// tried says in how many runs something was tried, and in how many of them the server took a transaction back.
func tried(runs int, where string, aborts int) string {
	return spelling.Count(runs, "run") + " " + where + aborted(aborts)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// levelName is a level as SQL spells it.
func levelName(short string) string {
	l, err := corpus.ParseLevel(short)
	if err != nil {
		return short
	}
	return l.String()
}

// locked says which rows a finding's reads lock.
func (f *Finding) locked() string {
	if len(f.reads) == 0 { // of a report that was read from a file
		return "what this reads: " + strings.Join(slices.Concat(f.Mend, f.MayMend), "; ")
	}
	var parts []string
	for i, r := range f.reads {
		who := r.transaction + " "
		switch {
		case i == 0:
			who += "reads "
		case f.reads[i-1].transaction == r.transaction:
			who = ""
		}
		parts = append(parts, fmt.Sprintf("%sfrom %s in line %d", who, r.tables, r.line))
	}
	return "what " + listed(parts, "and")
}

// For names the kinds of anomalies and the sets of transactions that an advice holds for, and the level.
func (a *Advice) For() string {
	var told []string
	for i, set := range a.Transactions {
		if text := string(a.Kinds[i]) + " with " + strings.Join(set, " × "); !slices.Contains(told, text) {
			told = append(told, text)
		}
	}
	return listed(told, "and") + " at " + a.Level
}

// FirstAdvice says what is known best; for which finding, if that is not the smallest one.
func (g *Group) FirstAdvice() string {
	if len(g.Advice) == 0 {
		return ""
	}
	a := &g.Advice[0]
	if g.Class != Isolation || slices.Contains(a.Findings, g.list[0].ID) {
		return a.Text
	}
	return "For " + a.For() + ": " + a.Text
}
