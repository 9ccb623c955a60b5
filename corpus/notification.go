package corpus

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Lines on notifications are in words that only PostgreSQL has:
//
//	/* tx1 */ LISTEN c;
//	/* tx2 */ NOTIFY c, 'text';
//	/* tx2 */ SELECT pg_notify('c', 'text');
//	/* tx1 */ UNLISTEN *;

var (
	notificationWord = regexp.MustCompile(`(?i)\b(?:listen|unlisten|notify|pg_notify)\b`)
	notifyPattern    = regexp.MustCompile(`(?i)^(listen|unlisten|notify) ?(.*)$`)
	notifyCall       = regexp.MustCompile(`(?i)^select pg_notify *\( *'([^']*)' *, *'([^']*)' *\)$`)
	notifyArguments  = regexp.MustCompile(`^([^ ,]+) *(?:, *'([^']*)')?$`)

	channelName   = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,29}$`)
	payloadSyntax = regexp.MustCompile(`^[A-Za-z0-9_ .:-]{0,40}$`)
)

// notification reads text[start:end] if it is a statement on notifications; nil if it is none.
func (r *caseReader) notification(start, end int) (ast.StmtNode, error) {
	at, text := r.blankless(start, end, notificationWord)
	s := &stmt.NotifyStmt{Does: stmt.Notify}
	if m := notifyCall.FindStringSubmatch(text); m != nil {
		s.Channel, s.Payload, s.Called = m[1], m[2], true
	} else if m := notifyPattern.FindStringSubmatch(text); m != nil {
		s.Does = stmt.Kind(strings.ToUpper(m[1]))
		if s.Does == stmt.Unlisten && m[2] == "*" {
			return s, nil
		}
		a := notifyArguments.FindStringSubmatch(m[2])
		if a == nil || s.Does != stmt.Notify && a[1] != m[2] {
			return nil, r.errorf(at, "want LISTEN c, UNLISTEN c, UNLISTEN *, NOTIFY c, or NOTIFY c, 'text'")
		}
		s.Channel, s.Payload = strings.ToLower(a[1]), a[2]
	} else {
		return nil, nil
	}
	if !channelName.MatchString(s.Channel) || pgsql.Name(s.Channel) != s.Channel {
		return nil, r.errorf(at, "the name of a channel is up to 30 small letters, digits and _, without quotes, "+
			"and no reserved word")
	}
	if !payloadSyntax.MatchString(s.Payload) {
		return nil, r.errorf(at, "the text of a notification is up to 40 letters, digits, blanks and any of _.:-")
	}
	return s, nil
}
