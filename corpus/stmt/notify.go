package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// NotifyStmt is one of PostgreSQL's statements of notifications between sessions.
// https://www.postgresql.org/docs/current/sql-notify.html
type NotifyStmt struct {
	// KillStmt is empty: it lends the methods of a statement that no other package can write.
	ast.KillStmt
	// Does is one of Listen, Unlisten and Notify.
	Does Kind
	// Channel is the channel's name in the case, empty in UNLISTEN *. No server sees it: channels are one space for a
	// whole database, so whoever runs the case sends another name.
	Channel string
	// Payload is the text of a notification, without a quote or a backslash.
	Payload string
	// Called says that the notification is sent by the function pg_notify.
	Called bool
}

// Accept shows the node alone: there is nothing beneath it.
func (s *NotifyStmt) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(s)
	return v.Leave(n)
}

// Restore writes the statement as the text form of a case has it.
func (s *NotifyStmt) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(s.String())
	return nil
}

// String returns the statement as the text form of a case has it.
func (s *NotifyStmt) String() string { return s.On(s.Channel) }

// On returns the statement with another channel.
func (s *NotifyStmt) On(channel string) string {
	switch {
	case s.Called:
		return "SELECT pg_notify('" + channel + "', '" + s.Payload + "')"
	case s.Does == Unlisten && s.Channel == "":
		return "UNLISTEN *"
	case s.Payload != "":
		return "NOTIFY " + channel + ", '" + s.Payload + "'"
	}
	return string(s.Does) + " " + channel
}
