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
* **met**: the share of these in which it touched the same rows or the same condition as a
  statement of another transaction, one of the two writing, while both were open;
* **judged there**: the share of these in which one answer only was accepted, and the
  server's was compared with it;
* **unknown**: the share of cases with it whose verdict is ` + "`unknown`" + `.

A statement that waited for a lock, or whose error says that it met one, counts as met. For
a locking join any row of its tables counts. A SAVEPOINT counts as met if a statement after
it is, ROLLBACK TO and RELEASE if a statement between the savepoint and them is; they count
as judged if their case has a verdict, since what they undid would show in the rows at the
end. A statement that fails for its lock (NOWAIT, a deadlock's victim) returns no rows: it
counts as met, not as judged.

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
