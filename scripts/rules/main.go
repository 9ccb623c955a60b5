// Command rules writes docs/rules.md: what is promised, and each known deviation
// with its scope, its links and a stored case that shows it.
//
//	go run -tags notidb ./scripts/rules > docs/rules.md
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

func main() {
	if err := page(os.Stdout, "corpus"); err != nil {
		fmt.Fprintln(os.Stderr, "rules:", err)
		os.Exit(1)
	}
}

const notAllowed = `A manual may describe what the server does there, and the answer is wrong all the same: MySQL's
says that at READ COMMITTED an UPDATE passes a locked row that does not match its condition
(semi-consistent-read), but not that it may miss one that matches when the UPDATE ends.
`

const head = `# Rules

This page lists what txnfuzz regards as promised, and the deviations that it knows.

A *promise* is what a vendor's manual says of an answer; what it describes of the server's
behaviour, such as when a snapshot is taken, counts as promised, too. A *deviation* is an answer
that differs from what is promised, but is of a kind that is known for this server, and has a
name. If deviations explain everything that is wrong in a case, its verdict is ` + "`known`" + `,
followed by their names. For example, MySQL 9.7 does not show a transaction its own UPDATE that
changed no value: ` + "`known no-op-update-unseen`" + `, [explained step by step](verdicts.md).

The first words of a line say where it holds: servers, isolation levels (RU, RC, RR, SER),
settings. A line without levels holds at all levels of the server, one without settings with all
settings. "without ` + "`innodb_snapshot_isolation`" + `" means versions that do not have this variable.
The numbers in brackets are links to the sources: a manual's page, or the report of a bug. For
"all servers" it is the page of one vendor; txnfuzz expects the same of the others.

Where a stored case shows a deviation, a command that runs it at one such level stands below the entry.
([findings.md](findings.md) names a case for the others, where there is one.)

Words used below:

* The *snapshot* (InnoDB's manual: *read view*) is the committed state of the database that plain
  SELECTs read. A *consistent read* is a SELECT that reads it and locks nothing.
* A *locking read* is ` + "`SELECT … FOR UPDATE`" + `, ` + "`FOR SHARE`" + ` or ` + "`LOCK IN SHARE MODE`" + `; the last two are
  *share locking reads*.
* A *version* of a row is what one statement made of it. The *newest* version can be uncommitted.
* An UPDATE or DELETE *matches* the rows for which its condition holds.
* TiDB *starts a statement again*: it executes it anew on newer data, because it waited for a lock
  for example. The client does not notice.
* *Snapshot isolation* is MariaDB's with ` + "`innodb_snapshot_isolation=ON`" + `.
* A server *merges* indexes when it uses more than one of them for a query, for ` + "`a = 1 OR b = 1`" + `
  for example.
* In a *serial order* the transactions run one after the other.

Other words are [explained on one page](words.md).

This page is written by ` + "`go run -tags notidb ./scripts/rules`" + ` from
[the table](../oracle/rules/table.go).

`

// page writes the page; stored is the folder of cases.
func page(w io.Writer, stored string) error {
	examples, err := examplesIn(stored)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(head + "## Promised and documented\n\n| where | rule |\n| --- | --- |\n")
	for i := range rules.Table {
		if r := &rules.Table[i]; r.Status != rules.Deviation {
			fmt.Fprintf(&b, "| %s | %s%s |\n", scope(r), r.Says, links(r))
		}
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
				line := fmt.Sprintf("* %s: %s%s\n", scope(s), s.Says, links(s))
				if !slices.Contains(told, line) {
					told = append(told, line)
					b.WriteString(line)
				}
			}
		}
		if e, ok := examples[r.Name]; ok {
			fmt.Fprintf(&b, "\nExample: `txnfuzz show %s --target %s --levels %s`\n", e.file, e.target, e.level)
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func scope(r *rules.Rule) string {
	var parts []string
	for _, d := range r.Scope.DBMS {
		parts = append(parts, map[string]string{"mysql": "MySQL", "mariadb": "MariaDB", "tidb": "TiDB"}[string(d)])
	}
	out := strings.Join(parts, ", ")
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
	if len(r.Scope.Before) > 0 {
		out += ", before " + strings.Join(r.Scope.Before, ", ")
	}
	return out
}

func links(r *rules.Rule) string {
	var out []string
	for i, l := range r.Links {
		out = append(out, fmt.Sprintf("[%d](%s)", i+1, l))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

type example struct{ file, target, level string }

// examplesIn returns, for each deviation, the shortest stored case whose header
// records it alone.
func examplesIn(dir string) (map[string]example, error) {
	out, steps := map[string]example{}, map[string]int{}
	for _, sub := range []string{"found", "known"} {
		stored, err := corpus.LoadDir(filepath.Join(dir, sub))
		if err != nil {
			return nil, fmt.Errorf("read the stored cases: %w", err)
		}
		for _, s := range stored {
			for _, c := range fuzz.RecordedCells(s.Case) {
				name, ok := strings.CutPrefix(c.Verdict, "known ")
				if n := len(s.Case.Steps); ok && !strings.ContainsAny(name, " ,+") && !strings.Contains(c.Level, "=") && (steps[name] == 0 || n < steps[name]) {
					steps[name] = n
					out[name] = example{"corpus/" + sub + "/" + filepath.Base(s.Path), strings.Replace(c.Target, " ", ":", 1), c.Level}
				}
			}
		}
	}
	return out, nil
}
