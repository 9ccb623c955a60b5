package corpus

import (
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"pgregory.net/rapid"
)

// The generators here make trees as code that builds them by hand would:
// without parentheses.

func column(name string) ast.ExprNode {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: model.NewCIStr(name)}}
}

var binaryOps = []opcode.Op{
	opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor, opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT,
	opcode.GE, opcode.NullEQ, opcode.Plus, opcode.Minus, opcode.Mul, opcode.Div, opcode.IntDiv, opcode.Mod,
	opcode.And, opcode.Or, opcode.Xor, opcode.LeftShift, opcode.RightShift,
}

var unaryOps = []opcode.Op{opcode.Not, opcode.Not2, opcode.Minus, opcode.Plus, opcode.BitNeg}

func drawLeaf(t *rapid.T) ast.ExprNode {
	switch rapid.IntRange(0, 7).Draw(t, "leaf") {
	case 0:
		return NullLit()
	case 1:
		return BoolLit(rapid.Bool().Draw(t, "bool"))
	case 2:
		return IntLit(rapid.Int64().Draw(t, "int"))
	case 3:
		return UintLit(rapid.Uint64().Draw(t, "uint"))
	case 4:
		return StringLit(rapid.String().Draw(t, "string"))
	case 5:
		text := rapid.StringMatching(`-?[0-9]{1,12}\.[0-9]{1,9}`).Draw(t, "decimal")
		d, err := DecimalLit(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	default:
		return column(rapid.SampledFrom([]string{"a", "b", "c0", "select", "x y", "`"}).Draw(t, "column"))
	}
}

func drawExpr(t *rapid.T, depth int) ast.ExprNode {
	if depth == 0 {
		return drawLeaf(t)
	}
	sub := func() ast.ExprNode { return drawExpr(t, rapid.IntRange(0, depth-1).Draw(t, "depth")) }
	not := rapid.Bool().Draw(t, "not")
	switch rapid.IntRange(0, 15).Draw(t, "node") {
	case 0, 1, 2, 3:
		return &ast.BinaryOperationExpr{Op: rapid.SampledFrom(binaryOps).Draw(t, "op"), L: sub(), R: sub()}
	case 4, 5:
		return &ast.UnaryOperationExpr{Op: rapid.SampledFrom(unaryOps).Draw(t, "op"), V: sub()}
	case 6:
		return &ast.IsNullExpr{Expr: sub(), Not: not}
	case 7:
		return &ast.IsTruthExpr{Expr: sub(), Not: not, True: int64(rapid.IntRange(0, 1).Draw(t, "true"))}
	case 8:
		return &ast.BetweenExpr{Expr: sub(), Left: sub(), Right: sub(), Not: not}
	case 9:
		return &ast.PatternInExpr{Expr: sub(), List: []ast.ExprNode{sub(), sub()}, Not: not}
	case 10:
		return &ast.PatternLikeOrIlikeExpr{Expr: sub(), Pattern: sub(), Not: not, IsLike: true, Escape: '\\'}
	case 11:
		return &ast.CaseExpr{Value: sub(), WhenClauses: []*ast.WhenClause{{Expr: sub(), Result: sub()}}, ElseClause: sub()}
	case 12:
		return &ast.FuncCallExpr{FnName: model.NewCIStr("COALESCE"), Args: []ast.ExprNode{sub(), sub()}}
	case 13:
		return &ast.ParenthesesExpr{Expr: sub()}
	case 14:
		return &ast.PatternInExpr{Expr: sub(), Sel: &ast.SubqueryExpr{Query: selectStmt(sub()), MultiRows: true}, Not: not}
	default:
		return &ast.ExistsSubqueryExpr{Sel: &ast.SubqueryExpr{Query: selectStmt(sub()), Exists: true}, Not: not}
	}
}

// mustParse is for fixed texts.
func mustParse(sql string) ast.StmtNode {
	s, err := ParseStatement(sql)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", sql, err))
	}
	return s
}

func selectStmt(where ast.ExprNode) *ast.SelectStmt {
	s := mustParse("SELECT a FROM t").(*ast.SelectStmt)
	s.Where = where
	return s
}

// writtenByPeople are forms of set-up and session statements that no generator
// makes.
var writtenByPeople = []string{
	"COMMIT WORK", "rollback work", "SELECT a FROM t ORDER BY a ASC", "START TRANSACTION READ ONLY",
	"SET autocommit = 0", "SET AUTOCOMMIT = ON", "SET TRANSACTION READ ONLY", "SET innodb_lock_wait_timeout = 1",
	"SET @@transaction_isolation = 'READ-COMMITTED'", "SET @@session.tx_isolation = 'serializable'", "SET @@tx_read_only = 1",
	"CREATE TABLE t (a INT) ENGINE = InnoDB, ROW_FORMAT = COMPACT STATS_PERSISTENT = 0 AUTO_INCREMENT = 7 CHARSET latin1",
	"CREATE TABLE `t u` LIKE test.t", "CREATE INDEX i ON t (a ASC, b(3) DESC)", "DROP TABLE IF EXISTS t, u", "DROP VIEW v",
	"ALTER TABLE t ADD INDEX i (a), MODIFY b BIGINT NOT NULL, STATS_PERSISTENT = 1", "CREATE OR REPLACE VIEW v AS SELECT a FROM t",
	"CREATE DATABASE IF NOT EXISTS test", "DROP DATABASE IF EXISTS test", "USE test", "SELECT test.t.a FROM test.t",
}

func drawStmt(t *rapid.T) ast.StmtNode {
	e := drawExpr(t, 4)
	switch rapid.IntRange(0, 7).Draw(t, "statement") {
	case 0:
		return selectStmt(e)
	case 1:
		s := mustParse("SELECT 1 FROM t JOIN u ON x GROUP BY y HAVING z ORDER BY w LIMIT 2 FOR SHARE").(*ast.SelectStmt)
		s.Fields.Fields[0].Expr, s.From.TableRefs.On.Expr, s.Having.Expr = e, drawExpr(t, 2), drawExpr(t, 2)
		return s
	case 2:
		s := mustParse("UPDATE t SET a = 1, b = 2 WHERE c").(*ast.UpdateStmt)
		s.List[1].Expr, s.Where = e, drawExpr(t, 3)
		return s
	case 3:
		s := mustParse("DELETE FROM t WHERE a").(*ast.DeleteStmt)
		s.Where = e
		return s
	case 4:
		s := mustParse("INSERT INTO t VALUES (1, 2), (3, 4) ON DUPLICATE KEY UPDATE a = 1").(*ast.InsertStmt)
		s.Lists[1][0], s.OnDuplicate[0].Expr = e, drawExpr(t, 2)
		return s
	case 5:
		s := mustParse("INSERT INTO t SELECT a FROM u").(*ast.InsertStmt)
		s.Select = selectStmt(e)
		return s
	case 6:
		s := mustParse("CREATE TABLE t (a INT, b INT AS (a) STORED, CHECK (a))").(*ast.CreateTableStmt)
		s.Cols[1].Options[0].Expr, s.Constraints[0].Expr = e, drawExpr(t, 2)
		return s
	default:
		return rapid.SampledFrom([]func() ast.StmtNode{
			func() ast.StmtNode { return Begin() },
			func() ast.StmtNode { return BeginSnapshot() },
			func() ast.StmtNode { return mustParse("START TRANSACTION") },
			func() ast.StmtNode { return &ast.CommitStmt{} },
			func() ast.StmtNode { return &ast.RollbackStmt{} },
			func() ast.StmtNode { return &ast.SavepointStmt{Name: "s 1"} },
			func() ast.StmtNode { return mustParse("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY") },
			func() ast.StmtNode {
				return mustParse(rapid.SampledFrom(writtenByPeople).Draw(t, "written"))
			},
		}).Draw(t, "plain")()
	}
}

func drawCase(t *rapid.T) *Case {
	c := &Case{}
	for range rapid.IntRange(0, 3).Draw(t, "header") {
		c.Header = append(c.Header, Field{
			Key:   rapid.StringMatching(`[a-z]([a-z ()]{0,8}[a-z)])?`).Filter(func(s string) bool { return s != levelKey }).Draw(t, "key"),
			Value: trim(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a\\\nr]{0,6}`)).Draw(t, "value")),
		})
	}
	line := func(session int) Line {
		l := Line{Session: session, Stmt: drawStmt(t)}
		for range rapid.IntRange(0, 2).Draw(t, "above") {
			l.Above = append(l.Above, oneLine(rapid.String().Draw(t, "comment")))
		}
		l.Note = oneLine(rapid.String().Draw(t, "note"))
		return l
	}
	for range rapid.IntRange(1, 3).Draw(t, "init") {
		c.Init = append(c.Init, line(InitSession))
	}
	// Before the first statement a comment can be a header line.
	for i, a := range c.Init[0].Above {
		c.Init[0].Above[i] = "." + a
	}
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		c.Steps = append(c.Steps, line(rapid.IntRange(1, 4).Draw(t, "session")))
	}
	if rapid.Bool().Draw(t, "levels") {
		levels := map[int]Level{}
		for _, s := range []int{1, 2, 3, 4} {
			if rapid.Bool().Draw(t, "has level") {
				levels[s] = rapid.SampledFrom(Levels).Draw(t, "level")
			}
		}
		c.SetLevels(levels)
	}
	for range rapid.IntRange(0, 2).Draw(t, "tail") {
		c.Tail = append(c.Tail, oneLine(rapid.String().Draw(t, "tail comment")))
	}
	return c
}
