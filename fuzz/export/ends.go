package export

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// errNoEnds is why a form cannot express a case.
var errNoEnds = errors.New("it knows neither KILL nor a session that disconnects")

// ofSession notes what an action does to a session, and whether txnfuzz has sent it at all.
func (a *action) ofSession(n *stmt.SessionStmt, st *history.Stmt) {
	a.about = n
	code := uint16(0)
	if st.Result.Err != nil {
		code = st.Result.Err.Code
	}
	a.unsent = code == history.ErrGone || n != nil && code == history.ErrNoSession
	switch {
	case n == nil:
	case n.Target != 0:
		a.sql = fmt.Sprintf("%s <connection id of tx%d>", n.Does, n.Target)
	case n.Does == stmt.Disconnect:
		a.sql = "-- close the client"
	default:
		a.sql = "-- start the client again"
	}
}

// byHand says what a person does for a line that is not for the server.
func (a *action) byHand(session int) []string {
	switch {
	case a.unsent:
		return []string{"cannot be sent: the session is gone"}
	case a.about == nil:
		return nil
	case a.about.Target != 0:
		return []string{fmt.Sprintf("the number that SELECT CONNECTION_ID() gave in tx%d", a.about.Target)}
	case a.about.Does == stmt.Disconnect:
		return []string{fmt.Sprintf("end the client of tx%d without COMMIT", session)}
	}
	return []string{"if it was closed or killed"}
}

// sessionEnd writes what mysqltest does for a line about a session; false: the line is another one.
func (m *mtrWriter) sessionEnd(a *action) bool {
	switch {
	case a.unsent:
		comment(&m.test, "#", "not sent, since the session is gone: %s", a.sql)
		return true
	case a.about == nil:
		return false
	}
	switch n := a.about; n.Does {
	case stmt.Connect:
		if !m.gone[a.Session] {
			break
		}
		if m.killed[a.Session] { // mysqltest has yet to close its side
			m.command("disconnect con%d", a.Session)
		}
		m.open(a.Session)
		m.current = a.Session
		for _, sql := range m.s.prepare(a.Session, false) {
			m.query(sql)
		}
		m.gone[a.Session], m.killed[a.Session] = false, false
	case stmt.Disconnect:
		m.command("disconnect con%d", a.Session)
		m.end(a.Session)
		m.killed[a.Session] = false
	default:
		m.on(a.Session)
		m.command("disable_query_log")
		if a.recorded != nil && a.recorded.err != 0 { // it kills itself
			m.command("error %d,1317,1927,2013", a.recorded.err)
		}
		fmt.Fprintf(&m.test, "eval %s $id%d;\n", n.Does, n.Target)
		m.command("enable_query_log")
		if n.Does == stmt.Kill {
			m.end(n.Target)
			m.killed[n.Target] = true
		}
	}
	return true
}

// end waits until the server is done with a session.
func (m *mtrWriter) end(session int) {
	m.gone[session] = true
	m.on(0)
	fmt.Fprintf(&m.test, `let $left= 100;
while ($left)
{
  let $there= `+"`SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = $id%d`"+`;
  let $open= `+"`SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = $id%d`"+`;
  dec $left;
  if (!$there)
  {
    if (!$open)
    {
      let $left= 0;
    }
  }
  if ($left)
  {
    --real_sleep 0.1
  }
}
`, session, session)
}

// on makes a session's connection the current one, 0 that of the test itself.
func (m *mtrWriter) on(session int) {
	if session == 0 {
		m.command("connection default")
	} else if m.current != session {
		m.command("connection con%d", session)
	}
	m.current = session
}

// killed lists the sessions that a KILL names, in their order.
func (s *script) killed() []int {
	var out []int
	for _, n := range s.Sessions {
		if slices.ContainsFunc(s.actions, func(a action) bool { return a.about != nil && a.about.Target == n }) {
			out = append(out, n)
		}
	}
	return out
}

// Steps of a generated Go test, beside run, send and reap.
const (
	doKillQuery  = "kill query"
	doKill       = "kill"
	doDisconnect = "disconnect"
	doConnect    = "connect"
	doNothing    = "unsent"
)

// does is how a generated Go test carries out an action about a session; "" for others.
func (a *action) does() (do string, target int) {
	switch {
	case a.unsent:
		return doNothing, 0
	case a.about == nil:
		return "", 0
	}
	return map[stmt.Kind]string{stmt.KillQuery: doKillQuery, stmt.Kill: doKill, stmt.Disconnect: doDisconnect, stmt.Connect: doConnect}[a.about.Does], a.about.Target
}

// idsByHand tells a person to note the numbers of connections.
func (s *script) idsByHand(b *bytes.Buffer) {
	if s.Case.Kills() {
		comment(b, "--", "Note what SELECT CONNECTION_ID() gives in each terminal: KILL takes this number.")
	}
}
