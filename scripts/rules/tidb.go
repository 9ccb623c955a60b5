package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// The targets of the page's columns.
const builtIn, newer, older = "embedded", "tidb:2025-11", "tidb:2024-07"

const tidbHead = `# Two commits of TiDB

This page lists the stored cases that have another [verdict](verdicts.md) than ` + "`ok`" + ` on TiDB, with their
verdicts on two commits. The newer commit is there twice: built in (` + "`embedded`" + `), and as a private
server (` + "`tidb:2025-11`" + `). All verdicts are those in the headers of the cases, which
` + "`go test ./fuzz -run TestCorpus`" + ` compares with what these targets do. – means that none is recorded.

The built-in TiDB has another ` + "`txn-total-size-limit`" + ` than the vendor's ([why](findings.md)). An assertion that
fails goes to the log of a private server: its verdict is ` + "`server-log`" + `. The built-in TiDB has no such log.

`

const tidbFoot = `
The [rules](rules.md#known-deviations) say what each known deviation is, and [cases](cases.md) how a case is read.

This page is written by ` + "`go run -tags notidb ./scripts/rules tidb`" + ` from the headers of the stored cases.
`

// row is a case at levels that have the same verdicts.
type row struct {
	path   string
	levels []string
	// verdicts are those of the built-in TiDB, the newer commit and the older one.
	verdicts [3]string
}

// tidbPage writes the page about TiDB; stored is the folder of cases.
func tidbPage(w io.Writer, stored string) error {
	r, err := readRecorded(stored)
	if err != nil {
		return err
	}
	all, cases := r.tidbRows()
	var commits, processes, same []row
	for _, x := range all {
		switch v := x.verdicts; {
		case v[1] != v[2]:
			commits = append(commits, x)
		case v[0] != v[1]:
			processes = append(processes, x)
		default:
			same = append(same, x)
		}
	}
	var b strings.Builder
	b.WriteString(tidbHead + "| target | version |\n| --- | --- |\n")
	for _, t := range r.targets {
		if t.dbms == history.TiDB {
			fmt.Fprintf(&b, "| `%s` | `%s` |\n", t.name, t.version)
		}
	}
	fmt.Fprintf(&b, "\nOf %d stored cases that are recorded on TiDB, %d have another verdict than `ok` somewhere.\n",
		cases, countCases(all))
	table(&b, "Where the commits differ", commits, builtIn, newer, older)
	table(&b, "Where only the built-in TiDB differs", processes, builtIn, newer, older)
	table(&b, "Where all three agree", same, "all three")
	b.WriteString(tidbFoot)
	_, err = io.WriteString(w, b.String())
	return err
}

// table writes rows with one column for each target, or a single one where the verdicts are the same.
func table(b *strings.Builder, title string, rows []row, columns ...string) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if len(rows) == 0 {
		b.WriteString("Nowhere.\n")
		return
	}
	b.WriteString("| case | level | " + strings.Join(columns, " | ") + " |\n")
	b.WriteString("| --- | --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	for _, x := range rows {
		name := strings.TrimPrefix(x.path, "corpus/")
		fmt.Fprintf(b, "| [%s](../%s) | %s |", name, x.path, strings.Join(x.levels, ", "))
		for _, v := range x.verdicts[:len(columns)] {
			b.WriteString(" " + verdictText(v) + " |")
		}
		b.WriteByte('\n')
	}
}

// verdictText links the names of known deviations.
func verdictText(verdict string) string {
	if verdict == "" {
		return "–"
	}
	known := knownRules(verdict)
	if len(known) == 0 {
		return verdict
	}
	for i, name := range known {
		if rules.ByName(name) != nil {
			known[i] = "[" + name + "](rules.md#" + name + ")"
		}
	}
	return "known " + strings.Join(known, " + ")
}

// tidbRows returns what is not ok on every TiDB, and the number of cases with a verdict on one.
func (r *recorded) tidbRows() (rows []row, cases int) {
	for _, c := range r.cases {
		of := c.tidbRows()
		if len(of) > 0 {
			cases++
		}
		rows = append(rows, slices.DeleteFunc(of, func(x row) bool {
			return !slices.ContainsFunc(x.verdicts[:], func(v string) bool { return v != "ok" && v != "" })
		})...)
	}
	return rows, cases
}

// tidbRows joins the levels of a case at which the targets have the same verdicts.
func (c *storedCase) tidbRows() []row {
	var rows []row
	for _, cell := range c.cells {
		i := slices.Index([]string{builtIn, newer, older}, strings.Replace(cell.Target, " ", ":", 1))
		if i < 0 {
			continue
		}
		at := slices.IndexFunc(rows, func(x row) bool { return x.levels[0] == cell.Level })
		if at < 0 {
			at = len(rows)
			rows = append(rows, row{path: c.path, levels: []string{cell.Level}})
		}
		rows[at].verdicts[i] = cell.Verdict
	}
	var out []row
	for _, x := range rows {
		if i := slices.IndexFunc(out, func(o row) bool { return o.verdicts == x.verdicts }); i >= 0 {
			out[i].levels = append(out[i].levels, x.levels...)
			continue
		}
		out = append(out, x)
	}
	return out
}

func countCases(rows []row) int {
	paths := map[string]bool{}
	for _, x := range rows {
		paths[x.path] = true
	}
	return len(paths)
}
