package export

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// markdown writes the text of an issue: version, level, settings, a table of
// the steps, expected against actual, why, and the vendor's pages.
func markdown(s *script) (Files, error) {
	var b bytes.Buffer
	server := s.History.Server
	fmt.Fprintf(&b, "# %s\n\n", inline(s.title()))
	fmt.Fprintf(&b, "Server: %s  \nIsolation level: %s\n", inline(serverText(server)), s.LevelText())
	if len(s.needed) > 0 {
		heading := "Settings that it was seen with; other values were not tried:"
		if s.triedWithout() {
			heading = "Settings that it needs; with the vendor's defaults it does not show:"
		}
		b.WriteString("\n" + heading + "\n\n")
		for _, x := range s.needed {
			fmt.Fprintf(&b, "- %s (%s)\n", code(x.Name+"="+x.Value), s.how(x))
		}
	}
	if len(server.Settings) > 0 {
		names := make([]string, 0, len(server.Settings))
		for n := range server.Settings {
			names = append(names, n)
		}
		sort.Strings(names)
		b.WriteString("\n<details><summary>All settings</summary>\n\n")
		for _, n := range names {
			fmt.Fprintf(&b, "- %s = %s\n", code(n), code(server.Settings[n]))
		}
		b.WriteString("\n</details>\n")
	}
	b.WriteString("\n## How to reproduce\n\n")
	if often := s.howOften(code); often != "" {
		b.WriteString(often + "\n\n")
	}
	if text := s.topologyText(); text != "" {
		b.WriteString(text + "\n\n")
	}
	fenced(&b, s.before())
	b.WriteString("| step |")
	for _, n := range s.Sessions {
		fmt.Fprintf(&b, " tx%d |", n)
	}
	b.WriteString(" result |\n|---:|" + strings.Repeat("---|", len(s.Sessions)+1) + "\n")
	for i := range s.actions {
		a := &s.actions[i]
		fmt.Fprintf(&b, "| %d |", a.Step)
		for _, n := range s.Sessions {
			cell := " |"
			if n == a.Session {
				cell = " " + tableCode(a.sql) + " |"
				if a.Resumed {
					cell = " … returns |"
				}
			}
			b.WriteString(cell)
		}
		fmt.Fprintf(&b, " %s |\n", s.resultCell(a))
	}
	if text := s.gdbScript(); text != "" {
		fmt.Fprintf(&b, "\n%s\n", fencedText(strings.TrimRight(text, "\n")))
	}
	for i, t := range s.History.Final {
		if i < len(s.Account.Final) && bag(t.Rows) != bag(s.Account.Final[i].Rows) {
			fmt.Fprintf(&b, "\nIn the end table %s holds %s instead of %s.\n", code(t.Name), code(timeline.Rows(t.Rows)), code(timeline.Rows(s.Account.Final[i].Rows)))
		}
	}
	where, expected, actual := s.wrong(code)
	fmt.Fprintf(&b, "\n## What is expected\n\n%s  \n%s\n", where, s.should(expected, code))
	for _, q := range s.quotes() {
		fmt.Fprintf(&b, "\nThe manual says: “%s” (%s)\n", inline(q.sentence), q.link)
	}
	fmt.Fprintf(&b, "\n## What is seen\n\n%s  \n%s\n", where, s.does(actual, code))
	if told := s.crashText(); told != "" {
		b.WriteString("\n" + told + "\n")
	}
	if why := s.whyBesideStack(); len(why) > 0 {
		b.WriteString("\n## Why\n\n")
		for _, w := range why {
			fmt.Fprintf(&b, "- %s\n", inline(w))
		}
	}
	if len(s.Account.Links) > 0 {
		b.WriteString("\nSee " + strings.Join(s.Account.Links, ", ") + "\n")
	}
	return Files{Text: b.Bytes()}, nil
}

// before lists the lines that make the tables and prepare the sessions.
func (s *script) before() []string {
	names := make([]string, len(s.Sessions))
	for i, n := range s.Sessions {
		names[i] = fmt.Sprintf("tx%d", n)
	}
	make, use := s.fresh()
	place := "database"
	if s.onPostgres() {
		place = "schema"
	}
	out := []string{
		"-- Each of " + strings.Join(names, ", ") + " is a session of its own, in the " + place + " anomaly.",
		make + ";",
		use + "; -- in each session",
	}
	if len(names) == 1 {
		out[0] = "-- " + names[0] + " is a session in the " + place + " anomaly."
	}
	out = append(out, terminated(s.settingsOfSetup())...)
	if s.past() {
		out = append(out, holdsPurge+"; -- in one more session, left open: it keeps InnoDB from purging deleted rows")
	}
	out = append(out, terminated(s.setup())...)
	for _, n := range s.Sessions {
		for _, sql := range s.prepare(n, true) {
			out = append(out, fmt.Sprintf("%s; -- in tx%d", sql, n))
		}
	}
	for _, n := range s.killed() {
		out = append(out, fmt.Sprintf("SELECT CONNECTION_ID(); -- in tx%d: note the number, KILL takes it", n))
	}
	return out
}

// how says how a server or a client comes by a setting.
func (s *script) how(x setting) string {
	switch {
	case ofDatabase[x.Name]:
		return "the database is made with it below"
	case x.Session:
		return "set below by each session; for the server " + code(x.Option)
	}
	return "start the server with " + code(x.Option)
}

func (s *script) resultCell(a *action) string {
	switch {
	case !a.Answered && s.crashed():
		return s.unanswered()
	case a.Waits && a.Answered:
		return a.WaitText()
	case !a.Answered:
		return a.WaitText() + ", never returns"
	case a.Differs:
		return "**" + tableCode(a.Answer) + "**, expected **" + tableCode(a.Expected) + "**"
	}
	return tableCode(a.Answer)
}

func terminated(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l + ";"
	}
	return out
}

// fenced writes a block of SQL behind a fence that no line of it closes.
func fenced(b *bytes.Buffer, lines []string) {
	fence := "```"
	for strings.Contains(strings.Join(lines, "\n"), fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%ssql\n%s\n%s\n\n", fence, strings.Join(lines, "\n"), fence)
}

// code makes a code span of any text, as CommonMark has it: fenced by more
// backticks than it holds in a row.
func code(text string) string {
	if text == "" {
		return "nothing"
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return fence + pad + strings.Map(printable, text) + pad + fence
}

// tableCode is code inside a table, where GitHub's parser sees the bars first.
func tableCode(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// inline makes text that has no meaning to a Markdown parser.
func inline(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>|#&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(printable(r))
	}
	return b.String()
}
