package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// mtr writes a test for mysql-test-run and the result that it must have on a
// server that keeps its promise. Where no single answer breaks the promise, or for
// a demonstration, the result is what was seen, so that the test passes where the
// anomaly shows. A server with other settings skips it; the options that
// mysql-test-run starts servers with go beside.
//
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQLTEST_LANGUAGE_REFERENCE.html
func mtr(s *script) (Files, error) {
	if err := s.notPostgres("mysql-test-run"); err != nil {
		return Files{}, err
	}
	m := &mtrWriter{s: s, gone: map[int]bool{}, killed: map[int]bool{}}
	c := func(format string, args ...any) { comment(&m.test, "#", format, args...) }
	c("%s", s.title())
	c("%s", s.serverLine())
	if needs := s.needsText(plainCode); needs != "" {
		c("%s", needs)
	}
	switch {
	case !s.seen():
		c("The result file holds what is promised: the test fails where the anomaly shows.")
	case s.decided:
		c("The result file holds what was seen: the test passes where the anomaly shows.")
	default:
		c("No single answer is wrong: the test passes where the anomaly shows.")
	}
	for _, w := range s.why() {
		c("%s", w)
	}
	for _, l := range s.Account.Links {
		c("%s", l)
	}
	m.command("disable_connect_log")
	m.command("disable_warnings")
	m.command("disable_query_log")
	m.skipOtherFamily()
	for _, x := range s.needed {
		m.skipUnless(x)
	}
	for _, sql := range s.settingsOfSetup() {
		fmt.Fprintf(&m.test, "%s;\n", sql)
	}
	if s.dialect != corpus.TiDB {
		// MariaDB's mysql-test-run makes tables of MyISAM by default.
		fmt.Fprintln(&m.test, "SET SESSION default_storage_engine = InnoDB;")
	}
	m.command("enable_query_log")
	if s.dialect != corpus.TiDB {
		// Purge runs beside the test and can change which locks stand in the
		// way; an old view holds it off, as in the servers' own tests.
		m.command("connect (stop_purge,localhost,root,,)")
		m.query(holdsPurge)
		m.command("connection default")
	}
	for _, sql := range s.setup() {
		m.query(sql)
	}
	for _, n := range s.Sessions {
		m.open(n)
		for _, sql := range s.prepare(n, false) {
			m.query(sql)
		}
	}
	for i := range s.actions {
		m.action(&s.actions[i])
	}
	for _, n := range s.Sessions {
		if !m.gone[n] || m.killed[n] {
			m.command("disconnect con%d", n)
		}
	}
	if s.dialect != corpus.TiDB {
		m.command("disconnect stop_purge")
	}
	m.command("connection default")
	m.final()
	for _, t := range slices.Backward(s.tables()) {
		m.query("DROP TABLE " + quoteName(t))
	}
	files := Files{Text: m.test.Bytes(), Beside: map[string][]byte{".result": m.result.Bytes()}}
	var opt strings.Builder
	if s.dialect == corpus.MariaDB {
		opt.WriteString("--innodb\n") // off in MariaDB's mysql-test-run unless a test asks for it
	}
	for _, x := range s.needed {
		if !ownOfSession[x.Name] {
			opt.WriteString(x.Option + "\n")
		}
	}
	if opt.Len() > 0 {
		// The older ending, which both mysql-test-run of MySQL and of MariaDB read.
		files.Beside["-master.opt"] = []byte(opt.String())
	}
	return files, nil
}

type mtrWriter struct {
	s            *script
	test, result bytes.Buffer
	current      int
	// gone holds the sessions that the server has dropped, killed those whose connection
	// mysqltest still has.
	gone, killed map[int]bool
}

// open connects a session.
func (m *mtrWriter) open(session int) {
	m.command("connect (con%d,localhost,root,,)", session)
	m.command("let $id%d= `SELECT CONNECTION_ID()`", session)
}

func (m *mtrWriter) command(format string, args ...any) {
	fmt.Fprintf(&m.test, "--"+format+"\n", args...)
}

// skipUnless ends the test, as skipped, on a server where a setting differs. A
// server that knows no such switch has it off.
func (m *mtrWriter) skipUnless(x setting) {
	if ownOfSession[x.Name] {
		return
	}
	quoted := strings.ReplaceAll(x.Value, "'", "''")
	also := ""
	if x.Value == "OFF" {
		also = " AND '$has' <> 'No such row'"
	}
	fmt.Fprintf(&m.test, `let $has= query_get_value(SHOW GLOBAL VARIABLES WHERE Variable_name = '%s', Value, 1);
let $differs= `+"`SELECT '$has' <> '%s'%s`"+`;
if ($differs)
{
  --skip needs %s=%s (%s), found $has
}
`, x.Name, quoted, also, x.Name, x.Value, x.Option)
}

// skipOtherFamily skips the test on a server of another vendor, which promises something
// else.
func (m *mtrWriter) skipOtherFamily() {
	is := serverNames[m.s.History.Server.DBMS]
	fmt.Fprintf(&m.test, `let $other= `+"`SELECT CASE WHEN VERSION() LIKE '%%MariaDB%%' THEN 'MariaDB' WHEN VERSION() LIKE '%%TiDB%%' THEN 'TiDB' ELSE 'MySQL' END <> '%s'`"+`;
if ($other)
{
  --skip seen on %s; this is another server
}
`, is, is)
}

// query writes a statement that returns nothing, and its echo.
func (m *mtrWriter) query(sql string) {
	fmt.Fprintf(&m.test, "%s;\n", sql)
	fmt.Fprintf(&m.result, "%s;\n", sql)
}

func (m *mtrWriter) action(a *action) {
	if !a.Waits && !a.Resumed && m.sessionEnd(a) {
		return
	}
	if m.current != a.Session {
		m.command("connection con%d", a.Session)
		m.current = a.Session
	}
	if a.Waits {
		if a.Answered {
			m.command("send %s", a.sql)
			fmt.Fprintf(&m.result, "%s;\n", a.sql)
			m.untilItWaits(a.Session)
		} else {
			comment(&m.test, "#", "never returned: %s", a.sql)
		}
		return
	}
	want := a.promised
	if m.s.seen() {
		want = a.recorded
	}
	switch {
	case want == nil: // the server died
		m.send(a)
	case want.err != 0:
		m.quietly(a, want.err)
	case want.unknown || len(want.columns) == 0 && a.kind != stmt.Update && a.kind != stmt.Delete:
		m.send(a)
	case len(want.columns) > 0:
		if !want.ordered {
			m.command("sorted_result")
		}
		m.send(a)
		m.rows(want.columns, want.rows, !want.ordered)
	default:
		m.command("enable_info")
		m.send(a)
		m.command("disable_info")
		fmt.Fprintf(&m.result, "affected rows: %d\n", want.changed)
		// A server that sees an impossible condition tells no matched rows.
		if a.kind == stmt.Update && a.recorded.matched >= 0 {
			fmt.Fprintf(&m.result, "info: Rows matched: %d  Changed: %d  Warnings: %d\n", max(want.matched, want.changed), want.changed, want.warnings)
		}
	}
}

// send writes a statement, or the reading of its result if it was sent.
func (m *mtrWriter) send(a *action) {
	if a.Resumed {
		m.command("reap")
		return
	}
	m.query(a.sql)
}

// quietly writes a statement that has to fail: the text of the message differs
// from version to version, its number is what counts.
func (m *mtrWriter) quietly(a *action, code int) {
	m.command("disable_result_log")
	if code == history.ErrLost { // MariaDB may tell before the connection breaks
		m.command("error %d,1927,1053", code)
	} else {
		m.command("error %d", code)
	}
	m.send(a)
	m.command("enable_result_log")
}

// untilItWaits makes the test go on once the server says that the session
// waits. TiDB does not show waits at once.
func (m *mtrWriter) untilItWaits(session int) {
	if m.s.dialect == corpus.TiDB {
		m.command("real_sleep 0.5")
		return
	}
	m.command("connection default")
	m.current = 0
	fmt.Fprintf(&m.test, `let $left= 100;
while ($left)
{
  let $waits= `+"`SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = $id%d AND trx_state = 'LOCK WAIT'`"+`;
  dec $left;
  if ($waits)
  {
    let $left= 0;
  }
  if (!$waits)
  {
    --real_sleep 0.1
  }
}
`, session)
}

func (m *mtrWriter) rows(columns []string, rows [][]history.Cell, sorted bool) {
	fmt.Fprintln(&m.result, strings.Join(columns, "\t"))
	lines := make([]string, len(rows))
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = c.Raw()
		}
		lines[i] = strings.Join(cells, "\t")
	}
	if sorted {
		slices.Sort(lines)
	}
	for _, l := range lines {
		fmt.Fprintln(&m.result, l)
	}
}

// final reads what the tables hold in the end.
func (m *mtrWriter) final() {
	for i, t := range m.s.History.Final {
		rows := t.Rows
		if !m.s.seen() && i < len(m.s.Account.Final) {
			rows = m.s.Account.Final[i].Rows
		}
		m.command("sorted_result")
		m.query("SELECT * FROM " + quoteName(t.Name))
		m.rows(t.Columns, rows, true)
	}
}
