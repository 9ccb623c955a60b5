package export

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

func itoa(n int) string { return strconv.Itoa(n) }

// tidbReport writes the text that TiDB's repository asks for.
// https://github.com/pingcap/tidb/blob/master/.github/ISSUE_TEMPLATE/bug-report.md
func tidbReport(s *script) (Files, error) {
	if err := s.only("TiDB's tracker", history.TiDB); err != nil {
		return Files{}, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "## Bug Report\n\n%s\n\n### 1. Minimal reproduce step (Required)\n\n", inline(s.title()))
	s.needsParagraph(&b, code)
	fenced(&b, s.interleaved())
	where, expected, actual := s.wrong(code)
	fmt.Fprintf(&b, "### 2. What did you expect to see? (Required)\n\n%s  \n%s\n", where, s.should(expected, code))
	for _, q := range s.quotes() {
		fmt.Fprintf(&b, "\nThe manual says: “%s” (%s)\n", inline(q.sentence), q.link)
	}
	fmt.Fprintf(&b, "\n### 3. What did you see instead (Required)\n\n%s  \n%s\n\n", where, s.does(actual, code))
	if told := s.crashText(); told != "" {
		b.WriteString(told + "\n\n")
	}
	for _, w := range s.whyBesideStack() {
		fmt.Fprintf(&b, "- %s\n", inline(w))
	}
	for _, l := range s.finalLines() {
		fmt.Fprintf(&b, "- %s\n", inline(l))
	}
	for _, l := range s.Account.Links {
		fmt.Fprintf(&b, "- %s\n", l)
	}
	fmt.Fprintf(&b, "\n### 4. What is your TiDB version? (Required)\n\n%s\n", fencedText(serverVersion(s.History.Server)))
	return Files{Text: b.Bytes()}, nil
}

// jiraReport writes the description of an issue of MariaDB's Jira.
// https://jira.mariadb.org/secure/WikiRendererHelpAction.jspa?section=all
func jiraReport(s *script) (Files, error) {
	if err := s.only("MariaDB's Jira", history.MariaDB); err != nil {
		return Files{}, err
	}
	var b bytes.Buffer
	component := "Storage Engine - InnoDB"
	if s.History.Cluster != nil {
		component = "Galera"
	}
	fmt.Fprintf(&b, "Summary: %s\nAffects Version/s: %s\nComponent/s: %s\nEnvironment: %s\n\n",
		s.title(), number(s.History.Server.Version), component, serverText(s.History.Server))
	fmt.Fprintf(&b, "h3. How to repeat\n\n")
	s.needsParagraph(&b, jiraCode)
	fmt.Fprintf(&b, "{code:sql}\n%s\n{code}\n\n", strings.Join(s.interleaved(), "\n"))
	if text := s.gdbScript(); text != "" {
		fmt.Fprintf(&b, "{code}\n%s{code}\n\n", text)
	}
	where, expected, actual := s.wrong(jiraCode)
	fmt.Fprintf(&b, "h3. Expected\n\n%s\n%s\n", where, s.should(expected, jiraCode))
	for _, q := range s.quotes() {
		fmt.Fprintf(&b, "\n{quote}%s{quote}\n[%s]\n", jiraText(q.sentence), q.link)
	}
	fmt.Fprintf(&b, "\nh3. Actual\n\n%s\n%s\n\n", where, s.does(actual, jiraCode))
	for _, w := range slices.Concat(s.why(), s.finalLines()) {
		fmt.Fprintf(&b, "* %s\n", jiraText(w))
	}
	for _, l := range s.Account.Links {
		fmt.Fprintf(&b, "* [%s]\n", l)
	}
	return Files{Text: b.Bytes()}, nil
}

// mysqlReport writes the three fields of a report to bugs.mysql.com, whose text has
// no markup.
// https://bugs.mysql.com/how-to-report.php
func mysqlReport(s *script) (Files, error) {
	if err := s.only("bugs.mysql.com", history.MySQL); err != nil {
		return Files{}, err
	}
	var b bytes.Buffer
	category := "InnoDB storage engine"
	if s.History.Cluster != nil {
		category = "Group Replication"
	} else if s.Verdict.Kind.OfReplica() {
		category = "Replication"
	}
	fmt.Fprintf(&b, "Synopsis: %s\nCategory: MySQL Server: %s\nVersion: %s\n\nDescription:\n", s.title(), category, number(s.History.Server.Version))
	s.describe(&b)
	b.WriteString("\nHow to repeat:\n")
	s.needsParagraph(&b, plainCode)
	b.WriteString(strings.Join(s.interleaved(), "\n") + "\n")
	if text := s.gdbScript(); text != "" {
		b.WriteString("\n" + text)
	}
	b.WriteString("\nSuggested fix:\n(none)\n")
	return Files{Text: b.Bytes()}, nil
}

// describe writes what was expected and seen, and why, as text without markup.
func (s *script) describe(b *bytes.Buffer) {
	where, expected, actual := s.wrong(plainCode)
	if s.notSerializable() {
		fmt.Fprintf(b, "%s.\n\nAll transactions commit, and no order of them, one after the other, gives their answers.\n",
			s.serverLine())
	} else {
		fmt.Fprintf(b, "%s.\n\n%s\nExpected: %s\nActual:   %s\n", s.serverLine(), where, expected, actual)
	}
	for _, q := range s.quotes() {
		fmt.Fprintf(b, "\nThe manual says: \"%s\"\n%s\n", q.sentence, q.link)
	}
	b.WriteByte('\n')
	for _, w := range slices.Concat(s.why(), s.finalLines()) {
		fmt.Fprintf(b, "* %s\n", w)
	}
	for _, l := range s.Account.Links {
		fmt.Fprintf(b, "* See %s\n", l)
	}
}

// plainCode is SQL in a text without markup.
func plainCode(text string) string { return text }

// only refuses a tracker of another vendor.
func (s *script) only(tracker string, dbms history.DBMS) error {
	if is := s.History.Server.DBMS; is != dbms {
		return fmt.Errorf("%s takes reports of %s only; this ran on %s (markdown is for any)", tracker, serverNames[dbms], serverText(s.History.Server))
	}
	return nil
}

func (s *script) needsParagraph(b *bytes.Buffer, code func(string) string) {
	if often := s.howOften(code); often != "" {
		b.WriteString(often + "\n\n")
	}
	if text := s.topologyText(); text != "" {
		b.WriteString(text + "\n\n")
	}
	var parts []string
	if text := s.needsText(code); text != "" {
		parts = append(parts, text)
	}
	var start []string
	for _, x := range s.options(false) {
		start = append(start, code(x.Option))
	}
	if len(start) > 0 {
		parts = append(parts, fmt.Sprintf("Start the server with %s.", strings.Join(start, " ")))
	}
	if len(parts) == 0 {
		return
	}
	b.WriteString(strings.Join(parts, " "))
	b.WriteString("\n\n")
}

// interleaved is the case in the order of its statements, one a line, each with
// the session that sends it and what comes back.
func (s *script) interleaved() []string {
	out := append(s.before(), "")
	for i := range s.actions {
		a := &s.actions[i]
		note := fmt.Sprintf(" -- tx%d, step %d", a.Session, a.Step)
		for _, hand := range a.byHand(a.Session) {
			note += ", " + hand
		}
		switch {
		case a.Resumed:
			out = append(out, fmt.Sprintf("-- tx%d returns from step %d: %s", a.Session, a.Step, oneLine(s.told(a))))
			continue
		case a.Waits && a.Answered:
			note += ", " + a.WaitText()
		case !a.Answered && s.crashed():
			note += ": " + s.unanswered()
		case a.Waits:
			note += ", never returns"
		default:
			if shown := oneLine(s.told(a)); shown != "" {
				note += ": " + shown
			}
		}
		out = append(out, a.sql+";"+note)
	}
	if s.crashed() {
		out = append(out, s.answersFirst()...)
	}
	return out
}

// told is what a statement shows, in the words of the server's own client, and what it had to show: where transactions
// have no serial order, no statement alone is wrong.
func (s *script) told(a *action) string {
	m := *a.Moment
	m.Differs = m.Differs && !s.notSerializable()
	own := action{Moment: &m}
	if s.onPostgres() {
		m.Answer, m.Expected = tag(a.kind, m.Answer), tag(a.kind, m.Expected)
	}
	return result(&own)
}

func (s *script) notSerializable() bool { return s.Verdict.Kind == promise.NotSerializable }

// finalLines tell which tables hold in the end what they should not.
func (s *script) finalLines() []string {
	var out []string
	for i, t := range s.History.Final {
		if i < len(s.Account.Final) && bag(t.Rows) != bag(s.Account.Final[i].Rows) {
			out = append(out, fmt.Sprintf("In the end table %s holds %s instead of %s.", t.Name, timeline.Rows(t.Rows), timeline.Rows(s.Account.Final[i].Rows)))
		}
	}
	return out
}

// serverVersion is the server's name, its version and how it was built, on lines.
func serverVersion(server history.Server) string {
	text := serverNames[server.DBMS] + " " + server.Version
	if server.Build != "" {
		text += "\n" + server.Build
	}
	for _, name := range []string{"store", "pessimistic-auto-commit"} {
		if v, ok := server.Settings[name]; ok && !strings.Contains(strings.ToLower(server.Build), name+": "+v) {
			text += "\n" + name + ": " + v
		}
	}
	return text
}

// number is a version as trackers list it: its numbers.
func number(version string) string {
	n, _, _ := strings.Cut(version, "-")
	return n
}

func fencedText(text string) string { return "```\n" + text + "\n```" }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// jiraText makes text that has no meaning to Jira's renderer.
func jiraText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\*_?-+^~{}[]|!#`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(printable(r))
	}
	return b.String()
}

// jiraCode is text in a fixed-width font, where Jira still reads its marks.
func jiraCode(text string) string {
	if text == "" {
		return "nothing"
	}
	return "{{" + jiraText(text) + "}}"
}
