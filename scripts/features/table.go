package main

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz"
)

const head = `# Features of SQL in random cases

Made by ` + "`go run ./scripts/features`" + `, do not edit.

For each form of statement and each target, in this order:

* **made**: the share of cases that have it;
* **met**: of these cases, the share in which the form met another transaction: both were
  open, statements of both touched the same rows or the same condition, and one of the two
  statements writes;
* **judged there**: of the cases counted as met, the share in which only one answer was
  accepted, so that the server's answer was compared with it;
* **unknown**: the share of the cases with the form whose verdict is ` + "`unknown`" + `.

A statement also counts as met if it waited for a lock, or if its error says that it met one.
A locking join touches all rows of its tables. A SAVEPOINT counts as met if a statement after
it does; ROLLBACK TO and RELEASE count if a statement between the savepoint and them does.
They count as judged if their case has a verdict, since the rows at the end would show what
they undid. A statement that fails because of a lock (NOWAIT, a deadlock's victim) returns no
rows, so it counts as met, but not as judged.

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
