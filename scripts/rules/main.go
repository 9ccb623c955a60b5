package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

func main() {
	write := page
	switch {
	case len(os.Args) == 2 && os.Args[1] == "tidb":
		write = tidbPage
	case len(os.Args) == 2 && os.Args[1] == "postgres":
		write = postgresTable
	case len(os.Args) > 1:
		fmt.Fprintln(os.Stderr, "usage: rules [tidb | postgres]")
		os.Exit(2)
	}
	if err := write(os.Stdout, "corpus"); err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
}

const notAllowed = `A manual can describe what a server does without saying that an answer then comes out wrong. Such an
answer is a deviation all the same. MySQL's manual, for example, says that at READ COMMITTED an
UPDATE passes a locked row that does not match its condition (semi-consistent-read). It does not
say that the UPDATE can thereby miss a row that does match by the time it ends.

If a stored case shows the deviation alone, with all sessions at one level, the entry ends with a command that runs it.
` + "`--target embedded`" + ` needs a build with TiDB; fetch other servers first, with ` + "`scripts/servers mysql:9.7`" + ` for example. An entry
without a command may have a case in [findings.md](findings.md).

"Seen in stored cases" tells on which versions a stored case shows the deviation, alone or beside others. "no stored case" says
nothing about such a version. "not meant for" a version: this page limits the deviation to others. Two commits of TiDB are
tested; [one page](tidb.md) compares their verdicts.
`

const notIsolation = `No isolation level promises any of this, but which rows a statement comes to, or whether it fails, depends on it.

`

const head = `# Rules

This page lists what txnfuzz regards as promised, and the deviations that it knows.

A *promise* is what a vendor's manual says about an answer, or about the server's behaviour, such as when a snapshot is taken
(with [one exception](#known-deviations)). A *deviation* is an answer that differs from what is promised, but is of a kind that
is known for this server, and has a name. If deviations explain everything that is wrong in a case, its verdict is ` + "`known`" + `,
followed by their names. An example is [explained step by step](verdicts.md).

The first words of a line say where it holds: servers, isolation levels (RU, RC, RR, SER), settings. A line without levels
holds at all levels. If it is about a snapshot, it matters only where a transaction keeps one: at RR, and with MariaDB's
snapshot isolation at SER, too. (When the snapshot is taken there, at SER, has a line of its own.) A line without settings holds
with all settings. "without ` + "`innodb_snapshot_isolation`" + `" means versions that do not have this variable.

The numbers in brackets are links to the sources: a manual's page, or the report of a bug. A line for "all servers" links to
the manual of one vendor only; txnfuzz expects the same of the others.

Each line is tested by histories with the verdicts that they get: some that show it, and some that come near but are
violations, [for MySQL and MariaDB](../oracle/testdata/scripts/innodb) and [for TiDB](../oracle/testdata/scripts/tidb).

Words used below ([all words](words.md)):

* The *snapshot* (InnoDB's manual: *read view*) is the committed state of the database that plain
  SELECTs read. A *consistent read* is a SELECT that reads it and locks nothing.
* A *locking read* is ` + "`SELECT … FOR UPDATE`" + `, ` + "`FOR SHARE`" + ` or ` + "`LOCK IN SHARE MODE`" + `; the last two are
  *share locking reads*.
* Each statement that writes a row makes a new *version* of it. The *newest* version may be one that
  is not committed.
* An UPDATE or DELETE *matches* the rows for which its condition holds.
* TiDB sometimes *starts a statement again*, after it waited for a lock for example: it runs the
  statement from the beginning, on newer data. The client does not notice.
* *Snapshot isolation* is what MariaDB has with ` + "`innodb_snapshot_isolation=ON`" + `.
* A server *merges* indexes when it uses more than one of them for a query, for ` + "`a = 1 OR b = 1`" + `
  for example.
* In a *serial order* the transactions run one after the other.

This page is written by ` + "`go run -tags notidb ./scripts/rules`" + ` from
[the table](../oracle/rules/table.go).

`

// page writes the page; stored is the folder of cases.
func page(w io.Writer, stored string) error {
	recorded, err := readRecorded(stored)
	if err != nil {
		return err
	}
	examples := recorded.examples()
	var b strings.Builder
	b.WriteString(head + "## Promised and documented\n\n| where | rule |\n| --- | --- |\n")
	for i := range rules.Table {
		if r := &rules.Table[i]; r.Status != rules.Deviation {
			fmt.Fprintf(&b, "| %s | %s%s |\n", scope(r), r.Says, links(r.Links))
		}
	}
	b.WriteString("\n## What only some servers do\n\n" + notIsolation + "| where | what |\n| --- | --- |\n")
	for i := range rules.TraitTable {
		r := &rules.TraitTable[i]
		fmt.Fprintf(&b, "| %s | %s%s |\n", vendors(r.DBMS), r.Says, links(r.Links))
	}
	b.WriteString("\n## Known deviations\n\n" + notAllowed)
	var done []string
	for i := range rules.Table {
		r := &rules.Table[i]
		if r.Status != rules.Deviation || slices.Contains(done, r.Name) {
			continue
		}
		done = append(done, r.Name)
		fmt.Fprintf(&b, "\n### %s\n\n", r.Name)
		var told []string
		for j := range rules.Table {
			if s := &rules.Table[j]; s.Status == rules.Deviation && s.Name == r.Name {
				line := fmt.Sprintf("* %s: %s%s\n", scope(s), s.Says, links(s.Links))
				if !slices.Contains(told, line) {
					told = append(told, line)
					b.WriteString(line)
				}
			}
		}
		if seen := recorded.seenOn(r.Name); seen != "" {
			b.WriteString("\nSeen in stored cases:\n\n" + seen)
		}
		if e, ok := examples[r.Name]; ok {
			fmt.Fprintf(&b, "\nExample: `txnfuzz show %s --target %s --levels %s`\n", e.file, e.target, e.level)
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func vendors(list []history.DBMS) string {
	var parts []string
	for _, d := range list {
		parts = append(parts, map[history.DBMS]string{history.MySQL: "MySQL", history.MariaDB: "MariaDB", history.TiDB: "TiDB", history.PostgreSQL: "PostgreSQL"}[d])
	}
	return strings.Join(parts, ", ")
}

func scope(r *rules.Rule) string {
	out := vendors(r.Scope.DBMS)
	if out == "" {
		out = "all servers"
	}
	var levels []string
	for _, l := range r.Scope.Levels {
		levels = append(levels, l.Short())
	}
	if len(levels) > 0 {
		out += " at " + strings.Join(levels, ", ")
	}
	names := make([]string, 0, len(r.Scope.Settings))
	for n := range r.Scope.Settings {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if v := r.Scope.Settings[n]; v == "" {
			out += ", without `" + n + "`"
		} else {
			out += ", `" + n + "=" + v + "`"
		}
	}
	return out + before(r.Scope.Before)
}

// before says which versions come before the first of each series: "10.6.23" is all
// up to 10.6.22, a later "11.4.8" is 11.4.0 to 11.4.7; "8.3.0" is all before 8.3.
func before(firsts []string) string {
	var out strings.Builder
	for i, f := range firsts {
		dot := strings.LastIndex(f, ".")
		patch, _ := strconv.Atoi(f[dot+1:])
		last := fmt.Sprintf("%s.%d", f[:dot], patch-1)
		switch {
		case patch == 0:
			out.WriteString(", versions before " + f[:dot])
		case i == 0:
			out.WriteString(", versions up to " + last)
		default:
			out.WriteString(", " + f[:dot] + ".0 to " + last)
		}
	}
	return out.String()
}

func links(to []string) string {
	var out []string
	for i, l := range to {
		out = append(out, fmt.Sprintf("[%d](%s)", i+1, l))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

type example struct{ file, target, level string }

// examples returns, for each deviation, the shortest committed case whose header
// records it alone. The audit is for judging, not for showing.
func (r *recorded) examples() map[string]example {
	out, steps := map[string]example{}, map[string]int{}
	for _, s := range r.cases {
		for _, c := range s.cells {
			known := knownRules(c.Verdict)
			if s.sub == "audit" || len(known) != 1 || strings.Contains(c.Level, "=") {
				continue
			}
			if name := known[0]; steps[name] == 0 || s.steps < steps[name] {
				steps[name] = s.steps
				out[name] = example{s.path, strings.Replace(c.Target, " ", ":", 1), c.Level}
			}
		}
	}
	return out
}
