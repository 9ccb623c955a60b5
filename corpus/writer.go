package corpus

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

const restoreFlags = format.RestoreStringSingleQuotes | format.RestoreKeyWordUppercase |
	format.RestoreNameBackQuotes | format.RestoreSpacesAroundBinaryOperation |
	format.RestoreStringWithoutDefaultCharset

// sqlWriter receives the tokens that Restore writes and improves them: it drops
// needless quotes around names, sets spaces, keeps strings on one line, and
// knows the dialects. It relies on Restore writing a quote, the text between,
// and the other quote in three calls, for names and for strings alike.
type sqlWriter struct {
	out     []byte
	dialect Dialect
	state   writerState
	// share is where FOR SHARE starts if that was written last, else -1.
	share int
	// glue drops the next space: one has been written already.
	glue bool
	// stats holds the values of STATS_PERSISTENT that are still to be written.
	stats []string
	// updates says that a list of UPDATE INDEXES is being written.
	updates bool
	ctx     *format.RestoreCtx
}

type writerState uint8

const (
	inPlain writerState = iota
	inString
	atStringEnd
	inName
	atNameEnd
)

var writers = sync.Pool{New: func() any {
	w := &sqlWriter{}
	w.ctx = format.NewRestoreCtx(restoreFlags, w)
	return w
}}

// statsUnprinted is what Restore writes behind STATS_PERSISTENT = DEFAULT,
// whatever the value.
const statsUnprinted = " /* TableOptionStatsPersistent is not supported */ "

// What Restore does not put into a comment that TiDB alone reads, although it does so
// with TiDB's other additions to the definition of a table or an index. TiDB itself gets
// all of them without the comment: mysql's client strips comments, and a TiDB that does
// not know a feature had better refuse it.
const (
	globalWord    = " GLOBAL"
	globalComment = " /*T![global_index] GLOBAL */"
	updatesWords  = " UPDATE INDEXES ("
	updatesOpen   = " /*T![global_index] UPDATE INDEXES ("
	updatesClose  = ") */"
)

func (w *sqlWriter) reset(d Dialect) {
	w.out, w.dialect, w.state, w.share, w.glue, w.updates = w.out[:0], d, inPlain, -1, false, false
	w.ctx.Flags = restoreFlags
	w.ctx.CTENames = w.ctx.CTENames[:0]
}

// Write implements io.Writer: what Restore prints with a format.
func (w *sqlWriter) Write(p []byte) (int, error) {
	_, _ = w.WriteString(string(p)) // cannot fail
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *sqlWriter) WriteString(s string) (int, error) {
	switch w.state {
	case inString:
		w.out = appendEscaped(w.out, s)
		w.state = atStringEnd
	case atStringEnd:
		w.out = append(w.out, s...)
		w.state = inPlain
	case inName:
		w.name(s)
		w.state = atNameEnd
	case atNameEnd:
		w.state = inPlain
	default:
		w.plain(s)
	}
	return len(s), nil
}

// name writes a name whose backquotes are doubled already.
func (w *sqlWriter) name(s string) {
	if plainName(s) {
		w.out = append(w.out, s...)
		return
	}
	w.out = append(w.out, '`')
	w.out = append(w.out, s...)
	w.out = append(w.out, '`')
}

func (w *sqlWriter) plain(s string) {
	glue, share := w.glue, w.share
	w.glue, w.share = false, -1
	switch s {
	case "":
		w.glue = glue
		return
	case "'":
		w.out = append(w.out, '\'')
		w.state = inString
		return
	case "`":
		w.state = inName
		return
	case ",":
		w.out = append(w.out, ", "...)
		return
	case " ":
		if glue {
			return
		}
	case "=":
		if w.last() != ' ' {
			w.out = append(w.out, ' ')
		}
		w.out = append(w.out, "= "...)
		w.glue = true
		return
	case "FOR SHARE":
		w.share = len(w.out)
		if w.dialect == Text || w.dialect == MariaDB {
			s = "LOCK IN SHARE MODE"
		}
	case " OF ", " NOWAIT", " SKIP LOCKED":
		// The parser knows these only behind FOR SHARE, MariaDB the last two
		// only behind the older form.
		if share >= 0 && w.dialect == Text {
			w.out = append(w.out[:share], "FOR SHARE"...)
		}
	case statsUnprinted:
		if len(w.stats) > 0 {
			w.out = append(bytes.TrimSuffix(w.out, []byte("DEFAULT")), w.stats[0]...)
			w.stats = w.stats[1:]
		}
		return
	case globalWord:
		if w.ctx.Flags.HasTiDBSpecialCommentFlag() && !w.updates {
			s = globalComment
		}
	case updatesWords:
		if w.ctx.Flags.HasTiDBSpecialCommentFlag() {
			s, w.updates = updatesOpen, true
		}
	case ")":
		if w.updates {
			s, w.updates = updatesClose, false
		}
	case "INSERT_FUNC":
		s = "INSERT" // the parser's own name of the function
	case "ENFORCED", " ENFORCED":
		w.out = bytes.TrimSuffix(w.out, []byte(" "))
		return // the default, a word that MariaDB does not know
	}
	if len(s) > 2 && s[0] == 'x' && s[1] == '\'' && len(s) > 3 {
		// MariaDB takes x'41' for a string and 0x41 for a number where a number
		// is wanted; the others take both for a number.
		s = "0x" + strings.TrimSuffix(s[2:], "'")
	}
	if c := s[0]; (c == '-' || c == '!') && w.last() == c {
		// Two dashes could start a comment, and MySQL reads !! as one !.
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, s...)
}

func (w *sqlWriter) last() byte {
	if len(w.out) == 0 {
		return 0
	}
	return w.out[len(w.out)-1]
}

// appendEscaped writes the inside of a string, whose quotes and backslashes are
// escaped already, without line ends and NUL bytes.
func appendEscaped(out []byte, s string) []byte {
	if !strings.ContainsAny(s, "\n\r\x00\x1a") {
		return append(out, s...)
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case 0:
			out = append(out, `\0`...)
		case 0x1a:
			out = append(out, `\Z`...)
		default:
			out = append(out, s[i])
		}
	}
	return out
}

// statement writes one statement. Where Restore writes what some server does
// not take, or loses a difference, it is written here.
func (w *sqlWriter) statement(n ast.StmtNode) error {
	switch s := n.(type) {
	case *stmt.RawStmt:
		w.out = append(w.out, s.String()...)
		return nil
	case *stmt.SessionStmt, *stmt.PreparedStmt, *stmt.AdvisoryStmt, *stmt.NotifyStmt, *stmt.SequenceStmt, *stmt.ModesStmt,
		*stmt.ConstraintsStmt:
		w.plain(s.(fmt.Stringer).String())
		return nil
	case *stmt.TriggerStmt:
		w.out = append(w.out, s.SQL...)
		return nil
	case *ast.BeginStmt:
		if s.ReadOnly && s.OriginalText() == textSnapshot {
			w.plain(textSnapshot + behindReadOnly)
			return nil
		}
		if s.Mode == "" && !s.ReadOnly && !s.CausalConsistencyOnly && s.AsOf == nil {
			switch text := s.OriginalText(); text {
			case textStart, textSnapshot, textReadWrite, textSnapshot + behindReadWrite:
				w.plain(text)
			default:
				w.plain(textBegin)
			}
			return nil
		}
	case *ast.SavepointStmt:
		w.plain("SAVEPOINT ")
		w.quote(s.Name)
		return nil
	case *ast.ReleaseSavepointStmt:
		w.plain("RELEASE SAVEPOINT ")
		w.quote(s.Name)
		return nil
	case *ast.RollbackStmt:
		if s.SavepointName != "" {
			w.plain("ROLLBACK TO ")
			w.quote(s.SavepointName)
			return nil
		}
	case *ast.SetStmt:
		if sql := setTransaction(s); sql != "" {
			w.plain(sql)
			return nil
		}
	case *ast.CreateTableStmt, *ast.AlterTableStmt, *ast.CreateIndexStmt:
		if w.dialect != TiDB {
			w.ctx.Flags |= format.RestoreTiDBSpecialComment
		}
	case *ast.ExplainStmt:
		// EXPLAIN without a format carries the format that it means in TiDB;
		// the others do not know that name.
		if _, isDesc := s.Stmt.(*ast.ShowStmt); !isDesc && !s.Analyze && s.Format == "row" {
			w.plain("EXPLAIN ")
			return w.statement(s.Stmt)
		}
	}
	w.stats = statsPersistent(n)
	return bracketedStmt(n).Restore(w.ctx)
}

func (w *sqlWriter) quote(name string) { w.name(strings.ReplaceAll(name, "`", "``")) }

// setTransaction returns SET [SESSION | GLOBAL] TRANSACTION …, which the parser
// turns into variables, or "" for other statements. MySQL has dropped the name
// tx_isolation, and MariaDB gave it the other name only in version 11.1.
func setTransaction(s *ast.SetStmt) string {
	if len(s.Variables) == 0 {
		return ""
	}
	sql := ""
	for i, v := range s.Variables {
		scope, what := transactionVariable(v)
		switch {
		case what == "" || i > 0 && !strings.HasPrefix(sql, scope):
			return ""
		case i == 0:
			sql = scope + what
		default:
			sql += ", " + what
		}
	}
	return sql
}

func transactionVariable(v *ast.VariableAssignment) (scope, what string) {
	value, ok := v.Value.(ast.ValueExpr)
	if !ok || !v.IsSystem {
		return "", ""
	}
	name, once := strings.CutSuffix(strings.ToLower(v.Name), oneShot)
	switch {
	case once:
		scope = "SET TRANSACTION "
	case v.IsGlobal:
		scope = "SET GLOBAL TRANSACTION "
	default:
		scope = "SET SESSION TRANSACTION "
	}
	switch text := value.GetString(); name {
	case varIsolation:
		if l, err := ParseLevel(strings.ReplaceAll(text, "-", " ")); err == nil {
			return scope, "ISOLATION LEVEL " + l.String()
		}
	case varReadOnly:
		switch text {
		case "0":
			return scope, "READ WRITE"
		case "1":
			return scope, "READ ONLY"
		}
	}
	return "", ""
}
