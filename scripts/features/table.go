package main

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz"
)

const head = `# What the generator makes beside plain statements

Made by ` + "`go run ./scripts/features`" + `, do not edit. For each form of statement and each
target: in how many cases of a hundred it was **made**; in how many of those it
**met** a statement of another open transaction; in how many of these its answer
was **judged**, compared with one single prediction; and how many of the cases with it
are **unknown**.

Two statements meet if they touched the same rows or predicates, one of them writing,
while both transactions were open. A statement that waited for a lock, or whose error
says that it met one, has met another, too; of a locking join any row of its tables
counts. A savepoint meets what a statement does that stands behind it, ROLLBACK TO
and RELEASE what one does that stands between; a savepoint is judged where its case
has a verdict: what it undid would show in the rows at the end. What fails for its lock
(NOWAIT, a deadlock's victim) has an error and no rows to be predicted, and counts as met,
not as judged, although a lock without a holder would be a violation.

`

// tableOf writes one table for each target, in the order in which they were
// measured.
func tableOf(all []*measured) string {
	var b strings.Builder
	b.WriteString(head)
	for _, m := range all {
		fmt.Fprintf(&b, "## %s\n\n%s; %d cases of seed %d, of which %s are unknown.\n\n", m.Target, m.Version, m.Counts.Cases, m.Seed, percent(m.Unknown, m.Counts.Cases))
		b.WriteString("| form | made | met | judged there | unknown |\n| --- | ---: | ---: | ---: | ---: |\n")
		for _, form := range fuzz.StatementForms {
			f := m.Counts.Forms[form]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", form, percent(f.Generated, m.Counts.Cases), percent(f.Met, f.Generated), percent(f.Judged, f.Met), percent(f.Unknown, f.Generated))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}
