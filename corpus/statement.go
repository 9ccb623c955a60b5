package corpus

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// The parser gives BEGIN, START TRANSACTION and START TRANSACTION WITH
// CONSISTENT SNAPSHOT one and the same tree, although the last of them decides
// where the snapshot is. The difference is kept in the text of the node, which
// a parser sets anyway and which survives copying.
const (
	textBegin    = "BEGIN"
	textStart    = "START TRANSACTION"
	textSnapshot = stmt.SnapshotText
	// textReadWrite matters only after SET SESSION TRANSACTION READ ONLY.
	textReadWrite = "START TRANSACTION READ WRITE"
	// What goes behind textSnapshot. Of READ ONLY the tree tells.
	behindReadWrite, behindReadOnly = ", READ WRITE", ", READ ONLY"
)

// oneShot is what the parser appends to the name of a variable for SET
// TRANSACTION without a scope, which is for the next transaction only. It does
// so for the isolation level, and forgets it for READ ONLY.
const oneShot = "_one_shot"

// Begin returns BEGIN.
func Begin() *ast.BeginStmt { return newBegin(textBegin) }

// BeginSnapshot returns START TRANSACTION WITH CONSISTENT SNAPSHOT.
func BeginSnapshot() *ast.BeginStmt { return newBegin(textSnapshot) }

func newBegin(text string) *ast.BeginStmt {
	s := &ast.BeginStmt{}
	s.SetText(nil, text)
	return s
}

// BeginsReadWrite reports whether a statement is START TRANSACTION READ WRITE, with a
// snapshot or without.
func BeginsReadWrite(b *ast.BeginStmt) bool {
	return b.OriginalText() == textReadWrite || b.OriginalText() == textSnapshot+behindReadWrite
}

// snapshotPattern finds WITH CONSISTENT SNAPSHOT, in front of an access mode or behind
// it, which servers take and the parser does not.
// https://dev.mysql.com/doc/refman/9.7/en/commit.html
// https://mariadb.com/docs/server/reference/sql-statements/transactions/start-transaction
var snapshotPattern = regexp.MustCompile(`(?i)^\s*START\s+TRANSACTION\s+(?:` +
	`(WITH\s+CONSISTENT\s+SNAPSHOT\s*,)\s*READ\s+(?:ONLY|WRITE)|READ\s+(?:ONLY|WRITE)\s*(,\s*WITH\s+CONSISTENT\s+SNAPSHOT))\s*;?\s*$`)

// withoutSnapshot puts blanks in its place, so that positions stay what they are.
func withoutSnapshot(sql string) (_ string, found bool) {
	m := snapshotPattern.FindStringSubmatchIndex(sql)
	if m == nil {
		return sql, false
	}
	from, to := m[2], m[3]
	if from < 0 {
		from, to = m[4], m[5]
	}
	return sql[:from] + strings.Repeat(" ", to-from) + sql[to:], true
}

// keepSnapshot says of a tree that was read without it that it takes a snapshot.
func keepSnapshot(b *ast.BeginStmt) {
	text := textSnapshot
	if b.OriginalText() == textReadWrite {
		text += behindReadWrite
	}
	b.SetText(nil, text)
}

// keepLost stores in a fresh tree what the parser does not: see Begin, oneShot.
func keepLost(stmt ast.StmtNode) {
	switch s := stmt.(type) {
	case *ast.BeginStmt:
		text := textStart
		for _, word := range words(s) {
			switch word {
			case "BEGIN":
				text = textBegin
			case "SNAPSHOT":
				text = textSnapshot
			case "WRITE":
				text = textReadWrite
			}
		}
		s.SetText(nil, text)
	case *ast.SetStmt:
		w := words(s)
		once := len(w) > 1 && w[1] == "TRANSACTION"
		for _, v := range s.Variables {
			keepVariable(v, once, s.OriginalText())
		}
	case *ast.CreateTableStmt:
		keepStatsPersistent(s.Options, s.OriginalText())
	case *ast.AlterTableStmt:
		for _, spec := range s.Specs {
			keepStatsPersistent(spec.Options, s.OriginalText())
		}
	}
}

var statsPattern = regexp.MustCompile(`(?i)\bSTATS_PERSISTENT\s*=?\s*([01])\b`)

// keepStatsPersistent stores the value of STATS_PERSISTENT, which the parser drops.
func keepStatsPersistent(options []*ast.TableOption, text string) {
	for _, o := range options {
		if o.Tp != ast.TableOptionStatsPersistent {
			continue
		}
		m := statsPattern.FindStringSubmatch(text)
		if o.Default = m == nil; m != nil && m[1] == "1" {
			o.UintValue = 1
		}
	}
}

// statsPersistent returns these values as SQL, in order.
func statsPersistent(stmt ast.StmtNode) (out []string) {
	values := func(options []*ast.TableOption) {
		for _, o := range options {
			switch {
			case o.Tp != ast.TableOptionStatsPersistent:
			case o.Default:
				out = append(out, "DEFAULT")
			default:
				out = append(out, strconv.FormatUint(o.UintValue, 10))
			}
		}
	}
	switch s := stmt.(type) {
	case *ast.CreateTableStmt:
		values(s.Options)
	case *ast.AlterTableStmt:
		for _, spec := range s.Specs {
			values(spec.Options)
		}
	}
	return out
}

var (
	wordPattern = regexp.MustCompile(`[A-Za-z_]+`)
	// commentPattern leaves version comments, which are code, as they are.
	commentPattern = regexp.MustCompile(`(?s)/\*[^!].*?\*/|(?:--|#)[^\n]*`)
)

// words returns the words of a statement that holds no strings, in upper case.
func words(s ast.StmtNode) []string {
	text := commentPattern.ReplaceAllString(s.OriginalText(), " ")
	return wordPattern.FindAllString(strings.ToUpper(text), -1)
}
