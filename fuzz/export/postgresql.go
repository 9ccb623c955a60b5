package export

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// onPostgres says that a case ran on PostgreSQL, whose clients spell what is about sessions otherwise.
func (s *script) onPostgres() bool { return s.History.Server.DBMS == history.PostgreSQL }

// fresh are the statements by which a session makes a place for the tables, and uses it.
func (s *script) fresh() (make, use string) {
	if s.onPostgres() {
		return "CREATE SCHEMA anomaly", "SET search_path = anomaly"
	}
	return "CREATE DATABASE anomaly" + s.database(), "USE anomaly"
}

// readsTable is the query for the rows of a table.
func (s *script) readsTable(name string) string {
	if s.onPostgres() {
		return "SELECT * FROM " + pgsql.Name(name)
	}
	return "SELECT * FROM " + quoteName(name)
}

// notPostgres refuses a format that only servers of MySQL's protocol can act out.
func (s *script) notPostgres(format string) error {
	if s.onPostgres() {
		return fmt.Errorf("%s speaks MySQL's protocol only; isolationtester, two-terminals and pgsql-bugs are for PostgreSQL", format)
	}
	return nil
}

// platform is what version() tells of the system, which is in the middle of it.
func platform(build string) string {
	if m := regexp.MustCompile(` on (\S+),`).FindStringSubmatch(build); m != nil {
		return m[1]
	}
	return buildText(build)
}

// behindWait says that the wrong statement has waited for another transaction, which a reader of titles wants to know.
func (s *script) behindWait() string {
	if w := s.Account.Wrong; w >= 0 && !s.notSerializable() && len(s.History.Stmts[w].Waits) > 0 {
		return ", behind a wait for another transaction"
	}
	return ""
}

// tag is how psql prints the answer to a write.
// https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-COMMANDCOMPLETE
func tag(kind stmt.Kind, answer string) string {
	n, writes := strings.CutSuffix(answer, " affected")
	if _, err := strconv.Atoi(n); err != nil || !writes {
		return answer
	}
	switch kind {
	case stmt.Insert:
		return "INSERT 0 " + n
	case stmt.Update, stmt.Delete:
		return string(kind) + " " + n
	}
	return answer
}

// postgresReport writes the fields of PostgreSQL's form for bugs, which becomes a mail to pgsql-bugs.
// https://www.postgresql.org/account/submitbug/
// https://www.postgresql.org/docs/current/bug-reporting.html
func postgresReport(s *script) (Files, error) {
	if err := s.only("pgsql-bugs", history.PostgreSQL); err != nil {
		return Files{}, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Short description: %s\nPostgreSQL version: %s\nOperating system: %s\n\nDetails:\n\n",
		s.title()+s.behindWait(), s.History.Server.Version, platform(s.History.Server.Build))
	s.describe(&b)
	b.WriteByte('\n')
	s.needsParagraph(&b, plainCode)
	if s.Verdict.Oracle == oracle.RowVersions {
		b.WriteString("The versions of rows are seen if each SELECT has tableoid, ctid and xmin as its last columns, and each write\n" +
			"RETURNING with these.\n\n")
	}
	b.WriteString("To reproduce, in psql, each of tx1, tx2 and so on in a terminal of its own:\n\n")
	b.WriteString(strings.Join(s.interleaved(), "\n") + "\n\nDROP SCHEMA anomaly CASCADE;\n")
	if text := s.gdbScript(); text != "" {
		b.WriteString("\nThe script for gdb:\n\n" + text)
	}
	return Files{Text: b.Bytes()}, nil
}
