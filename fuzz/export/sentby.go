package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

// prepares are what a client does to send a statement in a way, and what it does once.
var prepares = map[protocol.Way][2]string{
	protocol.Prepare: {"COM_STMT_PREPARE, COM_STMT_EXECUTE and COM_STMT_CLOSE for each", "Parse, Bind, Execute and Close for each"},
	protocol.Execute: {"COM_STMT_PREPARE once for each text in its session, COM_STMT_EXECUTE each time",
		"Parse once for each text in its session, Bind and Execute each time"},
}

// sendText are the forms that can send statements as text alone. mysqltest prepares what it sends only if it is started
// with --ps-protocol: a test cannot ask for that.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQL_TEST_COMMANDS.html
var sendText = []string{"mtr", "isolationtester"}

var errPrepared = errors.New("its statements were sent prepared, and need not show this as text, which is all that such a test " +
	"can send: want --format go or two-terminals")

// protocolText says by which protocol the statements must be sent; empty for text. Every form of export tells it.
func (s *script) protocolText() []string {
	p := s.Case.Protocol()
	if p.IsText() {
		return nil
	}
	at, of := 0, "MySQL's protocol for prepared statements"
	if s.onPostgres() {
		at, of = 1, "PostgreSQL's protocol for extended queries"
	}
	how := ""
	switch {
	case p.IsMixed():
		var all []string
		for i := range s.History.Stmts {
			if x := s.History.Stmts[i].Sent; x == protocol.Prepare.String() || x == protocol.Execute.String() {
				all = append(all, fmt.Sprintf("step %d: %s", i+1, x))
			}
		}
		how = fmt.Sprintf("some of them (%s; prepare: %s; execute: %s)", strings.Join(all, ", "), prepares[protocol.Prepare][at], prepares[protocol.Execute][at])
	case p == protocol.All(protocol.Prepare):
		how = prepares[protocol.Prepare][at]
	default:
		how = prepares[protocol.Execute][at]
	}
	out := fmt.Sprintf("The statements were sent by %s: %s. Sent as text, or by the SQL statements PREPARE and EXECUTE, they need "+
		"not show this; the Go test that txnfuzz export --format go writes sends them so.", of, how)
	return []string{out}
}

// sentAs is how the Go test sends a statement of the history.
func (s *script) sentAs(stmt int) string {
	if x := s.History.Stmts[stmt].Sent; slices.Contains([]string{protocol.Prepare.String(), protocol.Execute.String()}, x) {
		return x
	}
	return protocol.Text.String()
}
