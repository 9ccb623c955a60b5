package pgsql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// UnsayableError says that PostgreSQL has no words for a part of a statement, or that its words
// mean something else.
type UnsayableError struct {
	// What names the part.
	What string
}

func (e *UnsayableError) Error() string { return "PostgreSQL does not know " + e.What }

// SQL returns a statement for PostgreSQL on one line, without a semicolon at its end; a CREATE
// TABLE or ALTER TABLE may be several statements with "; " between them. The error is an
// *UnsayableError. It does not change the tree. It panics on a tree that no parser makes, as one
// with a nil where an operand must be.
func SQL(n ast.StmtNode) (string, error) {
	p := &printer{}
	return p.done(p.statement(n))
}

// Expr returns an expression as a value: a condition becomes 1 or 0.
func Expr(e ast.ExprNode) (string, error) {
	p := &printer{}
	return p.done(p.value(e, bindAny))
}

// Name returns a name of a table or column, in quotes where PostgreSQL needs them.
func Name(name string) string { return quoted(name) }

// printer writes a statement by methods that return its parts. It does not visit the tree, which
// others may be reading: a visit writes into it.
type printer struct {
	// unsayable is the first part that cannot be said.
	unsayable string
	// read holds the columns written since somebody began to listen, by their lower-case names.
	read []string
	// groups says that the query that is being written has an aggregate or a window.
	groups bool
	// versions is what the next query that is written has as its last columns, unless it groups; it is empty behind that.
	versions string
}

// no says that something has no words; what is written then does not matter.
func (p *printer) no(what string) string {
	if p.unsayable == "" {
		p.unsayable = what
	}
	return ""
}

// not is no under a condition.
func (p *printer) not(bad bool, what string) {
	if bad {
		p.no(what)
	}
}

func (p *printer) done(sql string) (string, error) {
	if p.unsayable != "" {
		return "", &UnsayableError{What: p.unsayable}
	}
	return sql, nil
}

func (p *printer) statement(n ast.StmtNode) string {
	switch s := n.(type) {
	case *stmt.RawStmt:
		p.not(strings.Contains(s.SQL, "`"), "a raw statement with names in backquotes")
		return s.String()
	case *stmt.SessionStmt, *stmt.PreparedStmt, *stmt.AdvisoryStmt, *stmt.NotifyStmt, *stmt.SequenceStmt, *stmt.ModesStmt,
		*stmt.ConstraintsStmt:
		return s.(fmt.Stringer).String()
	case *stmt.TriggerStmt:
		return p.no("a trigger without a function")
	case *ast.SelectStmt, *ast.SetOprStmt:
		return p.query(s)
	case *ast.InsertStmt:
		return p.insert(s)
	case *ast.UpdateStmt:
		return p.update(s)
	case *ast.DeleteStmt:
		return p.delete(s)
	case *ast.BeginStmt:
		return p.begin(s)
	case *ast.CommitStmt:
		return "COMMIT" + p.completion(s.CompletionType)
	case *ast.RollbackStmt:
		if s.SavepointName != "" {
			return "ROLLBACK TO SAVEPOINT " + quoted(s.SavepointName)
		}
		return "ROLLBACK" + p.completion(s.CompletionType)
	case *ast.SavepointStmt:
		return "SAVEPOINT " + quoted(s.Name)
	case *ast.ReleaseSavepointStmt:
		return "RELEASE SAVEPOINT " + quoted(s.Name)
	case *ast.SetStmt:
		return p.set(s)
	case *ast.CreateTableStmt:
		return p.createTable(s)
	case *ast.AlterTableStmt:
		return p.alterTable(s)
	case *ast.CreateIndexStmt:
		return p.createIndex(s)
	case *ast.CreateViewStmt:
		return p.createView(s)
	case *ast.DropTableStmt:
		return p.dropTable(s)
	case *ast.TruncateTableStmt:
		return "TRUNCATE TABLE " + p.table(s.Table)
	}
	return p.no(words(n))
}

// words names a statement by the first words that MySQL has for it.
func words(n ast.StmtNode) string {
	name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."), "Stmt")
	var b strings.Builder
	for i, c := range name {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}

// The text of a BEGIN that says so, as the corpus keeps it.
const readWrite = "START TRANSACTION READ WRITE"

func (p *printer) begin(s *ast.BeginStmt) string {
	text := s.OriginalText()
	p.not(strings.HasPrefix(text, stmt.SnapshotText), "WITH CONSISTENT SNAPSHOT")
	p.not(s.Mode != "", "BEGIN "+s.Mode)
	p.not(s.CausalConsistencyOnly || s.AsOf != nil, "START TRANSACTION of TiDB's own")
	switch {
	case s.ReadOnly:
		return "START TRANSACTION READ ONLY"
	case text == readWrite:
		return readWrite
	case strings.HasPrefix(text, "START"):
		return "START TRANSACTION"
	}
	return "BEGIN"
}

func (p *printer) completion(c ast.CompletionType) string {
	switch c {
	case ast.CompletionTypeChain:
		return " AND CHAIN"
	case ast.CompletionTypeRelease:
		return p.no("RELEASE at the end of a transaction")
	}
	return ""
}

var levels = []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}

// set writes SET SESSION TRANSACTION, which the parser turns into variables.
func (p *printer) set(s *ast.SetStmt) string {
	var list []string
	for _, v := range s.Variables {
		name := strings.ToLower(v.Name)
		value, _ := v.Value.(ast.ValueExpr)
		if !v.IsSystem {
			return p.no("variables")
		}
		if value == nil {
			return p.no("SET " + v.Name)
		}
		if strings.HasSuffix(name, "_one_shot") {
			return p.no("SET TRANSACTION before the transaction")
		}
		what := ""
		switch strings.Replace(name, "transaction_", "tx_", 1) {
		case "tx_isolation":
			level := strings.ToUpper(strings.ReplaceAll(value.GetString(), "-", " "))
			if slices.Contains(levels, level) {
				what = "ISOLATION LEVEL " + level
			}
		case "tx_read_only":
			what = map[string]string{"0": "READ WRITE", "1": "READ ONLY"}[value.GetString()]
		}
		p.not(what == "", "SET "+v.Name)
		p.not(v.IsGlobal, "SET GLOBAL")
		list = append(list, what)
	}
	return "SET SESSION CHARACTERISTICS AS TRANSACTION " + strings.Join(list, ", ")
}
