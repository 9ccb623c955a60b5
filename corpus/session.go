package corpus

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Some lines of a case are about sessions and not about rows:
//
//	/* tx1 */ KILL QUERY tx2;
//	/* tx1 */ KILL tx2;
//	/* tx2 */ disconnect;
//	/* tx2 */ connect;
//
// KILL names a session of the case and nothing else, so a case can do no harm to the
// connections of others. Any other KILL is refused, wherever in a statement it stands.

var (
	sessionPattern = regexp.MustCompile(`(?i)^(kill|disconnect|connect)\b`)
	killedPattern  = regexp.MustCompile(`(?i)^kill(?: +(query|connection))? +tx([0-9]+)$`)
	killWord       = regexp.MustCompile(`(?i)\bkill\b`)
	// byText begin the statements whose strings are statements themselves.
	byText = regexp.MustCompile(`(?i)^(prepare|execute|set|call)\b`)
)

const wantKill = "KILL takes a session of the case, as in KILL QUERY tx2 or KILL tx2: a case may not reach the connections of others"

// killLine is a KILL of a case, and where it stands.
type killLine struct {
	at     int
	target int
}

// sessionStmt reads text[start:end] if it is a statement about a session; nil if it is none.
func (r *caseReader) sessionStmt(start, end int) (ast.StmtNode, error) {
	at := end - len(strings.TrimLeft(r.text[start:end], " \t\r\n"))
	if !sessionPattern.MatchString(r.text[at:end]) {
		if kill := strayKill(r.text[start:end]); kill >= 0 {
			return nil, r.errorf(start+kill, "%s", wantKill)
		}
		return nil, nil
	}
	if code := strings.Index(r.text[at:end], "/*"); code >= 0 && isCode(r.text[at+code+2:end]) {
		return nil, r.errorf(at+code, "%s", wantKill)
	}
	text, err := r.rawText(at, end)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(text) {
	case "disconnect":
		return &stmt.SessionStmt{Does: stmt.Disconnect}, nil
	case "connect":
		return &stmt.SessionStmt{Does: stmt.Connect}, nil
	}
	m := killedPattern.FindStringSubmatch(text)
	if m == nil {
		if !killWord.MatchString(text) {
			return nil, r.errorf(at, "nothing stands behind connect and disconnect: they are about the session whose line they are")
		}
		return nil, r.errorf(at, "%s", wantKill)
	}
	target, err := strconv.Atoi(m[2])
	if err != nil || target < 1 || target > MaxSession {
		return nil, r.errorf(at, "session %s is not in 1…%d", m[2], MaxSession)
	}
	does := stmt.Kill
	if strings.EqualFold(m[1], "query") {
		does = stmt.KillQuery
	}
	r.kills = append(r.kills, killLine{at, target})
	return &stmt.SessionStmt{Does: does, Target: target}, nil
}

// strayKill returns where the word KILL stands in a statement, -1 for nowhere. It is reserved on
// all servers, so that unquoted it is never a name; in a string it counts where strings are run.
func strayKill(sql string) int {
	if !killWord.MatchString(sql) { // nearly always
		return -1
	}
	inStrings := byText.MatchString(strings.TrimLeft(sql, " \t\r\n"))
	for i := 0; i < len(sql); {
		n := 1
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			if n = EndOfQuote(sql, i) - i; n < 0 {
				return -1 // it is refused for that
			}
			if at := killWord.FindStringIndex(sql[i : i+n]); at != nil && inStrings && c != '`' {
				return i + at[0]
			}
		case c == '#', strings.HasPrefix(sql[i:], "--") && (i+2 == len(sql) || sql[i+2] <= ' '):
			if n = strings.IndexByte(sql[i:], '\n'); n < 0 {
				return -1
			}
		case strings.HasPrefix(sql[i:], "/*") && !isCode(sql[i+2:]):
			if n = strings.Index(sql[i+2:], "*/") + 4; n < 4 {
				return -1
			}
		case wordAt(sql, i):
			for n < len(sql)-i && wordAt(sql, i+n) {
				n++
			}
			if strings.EqualFold(sql[i:i+n], "kill") && (i == 0 || sql[i-1] != '.' && sql[i-1] != '@') {
				return i
			}
		}
		i += n
	}
	return -1
}

func wordAt(s string, i int) bool {
	c := s[i]
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// killedSessions complains of a KILL of a session that the case does not have.
func (r *caseReader) killedSessions() error {
	if len(r.kills) == 0 {
		return nil
	}
	sessions := r.c.Sessions()
	for _, k := range r.kills {
		if !slices.Contains(sessions, k.target) {
			return r.errorf(k.at, "this case has no session tx%d: KILL takes a session of the case", k.target)
		}
	}
	return nil
}

// EndsSessions reports whether some line of a case is about a session: KILL, disconnect, connect.
func (c *Case) EndsSessions() bool {
	return slices.ContainsFunc(c.Steps, func(l Line) bool { return stmt.KindOf(l.Stmt).OfSession() })
}

// Kills reports whether some line of a case is a KILL.
func (c *Case) Kills() bool {
	return slices.ContainsFunc(c.Steps, func(l Line) bool {
		k := stmt.KindOf(l.Stmt)
		return k == stmt.Kill || k == stmt.KillQuery
	})
}
