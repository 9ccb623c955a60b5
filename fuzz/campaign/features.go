package campaign

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Features counts, for each kind of feature (statement, type, schema, operator,
// error, rule) and each feature of that kind, the cases that have it and that
// were judged while their transactions conflicted. A feature that was seen in
// other cases only has the count 0.
type Features map[string]map[string]int

// The kinds of features; JSON keys.
const (
	statementFeature = "statement"
	typeFeature      = "type"
	schemaFeature    = "schema"
	operatorFeature  = "operator"
	errorFeature     = "error"
	ruleFeature      = "rule"
)

type feature struct{ kind, name string }

func (f Features) add(r *target.Trial) {
	n := 0
	if r.Verdict.Outcome != oracle.Unknown && r.Verdict.Conflicting {
		n = 1
	}
	for x := range featuresOf(r) {
		f.count(x.kind)[x.name] += n
	}
}

// merge adds the counts of g.
func (f Features) merge(g Features) {
	for kind, m := range g {
		addTo(f.count(kind), m)
	}
}

func (f Features) count(kind string) map[string]int {
	if f[kind] == nil {
		f[kind] = map[string]int{}
	}
	return f[kind]
}

func (f Features) clone() Features {
	out := make(Features, len(f))
	out.merge(f)
	return out
}

// featuresOf returns the features of a case and of what its run showed.
func featuresOf(r *target.Trial) map[feature]bool {
	v := &featureFinder{seen: map[feature]bool{}}
	for _, l := range r.Case.Init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			v.table(s)
		}
	}
	for _, l := range r.Case.Steps {
		if name := statementName(l.Stmt); name != "" {
			v.add(statementFeature, name)
			l.Stmt.Accept(v)
		}
	}
	for _, name := range r.Verdict.Rules {
		v.add(ruleFeature, name)
	}
	if r.History != nil {
		for i := range r.History.Stmts {
			if e := r.History.Stmts[i].Result.Err; e != nil {
				v.add(errorFeature, strconv.Itoa(int(e.Code)))
			}
		}
	}
	return v.seen
}

// statementName tells the kind of a statement that touches tables; "" for any
// other.
func statementName(n ast.StmtNode) string {
	if s, ok := n.(*ast.InsertStmt); ok {
		switch {
		case s.IsReplace:
			return "REPLACE"
		case s.Select != nil:
			return "INSERT SELECT"
		case len(s.OnDuplicate) > 0:
			return "INSERT ON DUPLICATE KEY UPDATE"
		case s.IgnoreErr:
			return "INSERT IGNORE"
		}
	}
	if kind := stmt.KindOf(n); kind.TouchesRows() {
		return string(kind)
	}
	return ""
}

// featureFinder collects what a statement's tree holds.
type featureFinder struct{ seen map[feature]bool }

func (v *featureFinder) add(kind, name string) { v.seen[feature{kind, name}] = true }

func (v *featureFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v *featureFinder) Enter(n ast.Node) (ast.Node, bool) {
	not := func(negated bool, name string) string {
		if negated {
			return "NOT " + name
		}
		return name
	}
	name := ""
	switch x := n.(type) {
	case *ast.BinaryOperationExpr:
		name = operatorName(x.Op)
	case *ast.UnaryOperationExpr:
		name = "unary " + operatorName(x.Op)
	case *ast.BetweenExpr:
		name = not(x.Not, "BETWEEN")
	case *ast.PatternInExpr:
		name = not(x.Not, "IN")
	case *ast.PatternLikeOrIlikeExpr:
		name = not(x.Not, "LIKE")
	case *ast.IsNullExpr:
		name = "IS " + not(x.Not, "NULL")
	case *ast.IsTruthExpr:
		name = "IS " + not(x.Not, strings.ToUpper(strconv.FormatBool(x.True != 0)))
	case *ast.CaseExpr:
		name = "CASE"
	case *ast.FuncCallExpr:
		name = strings.ToUpper(x.FnName.L)
	case *ast.FuncCastExpr:
		name = "CAST AS " + strings.ToUpper(baseType(x.Tp))
	case *ast.AggregateFuncExpr:
		name = strings.ToUpper(x.F)
	case *ast.ExistsSubqueryExpr:
		name = not(x.Not, "EXISTS")
	case *ast.SubqueryExpr:
		name = "subquery"
	case *ast.DefaultExpr:
		name = "DEFAULT"
	case *ast.Join:
		if x.Right != nil {
			name = "JOIN"
		}
	case *ast.OrderByClause:
		name = "ORDER BY"
	case *ast.Limit:
		name = "LIMIT"
	}
	if name != "" {
		v.add(operatorFeature, name)
	}
	return n, false
}

// operatorName writes an operator as SQL does.
func operatorName(op opcode.Op) string {
	var b strings.Builder
	op.Format(&b)
	return strings.ToUpper(strings.TrimSpace(b.String()))
}

func baseType(t *types.FieldType) string {
	s := t.CompactStr()
	if i := strings.IndexByte(s, '('); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

func (v *featureFinder) table(s *ast.CreateTableStmt) {
	for _, col := range s.Cols {
		name := strings.ToUpper(strings.Fields(col.Tp.InfoSchemaStr() + " ")[0])
		if i := strings.IndexByte(name, '('); i >= 0 {
			name = name[:i]
		}
		if strings.Contains(col.Tp.InfoSchemaStr(), "unsigned") {
			name += " UNSIGNED"
		}
		v.add(typeFeature, name)
		for _, o := range col.Options {
			if known, ok := columnFeatures[o.Tp]; ok {
				v.add(schemaFeature, known)
			}
		}
	}
	for _, c := range s.Constraints {
		if known, ok := keyFeatures[c.Tp]; ok {
			v.add(schemaFeature, known)
		}
		if len(c.Keys) > 1 {
			v.add(schemaFeature, "key of several columns")
		}
		for _, p := range c.Keys {
			if p.Length > 0 {
				v.add(schemaFeature, "prefix key")
			}
			if p.Desc {
				v.add(schemaFeature, "descending key")
			}
		}
	}
}

var columnFeatures = map[ast.ColumnOptionType]string{
	ast.ColumnOptionPrimaryKey: "PRIMARY KEY", ast.ColumnOptionUniqKey: "UNIQUE KEY", ast.ColumnOptionNotNull: "NOT NULL",
	ast.ColumnOptionDefaultValue: "DEFAULT", ast.ColumnOptionAutoIncrement: "AUTO_INCREMENT", ast.ColumnOptionGenerated: "generated column",
}

var keyFeatures = map[ast.ConstraintType]string{
	ast.ConstraintPrimaryKey: "PRIMARY KEY", ast.ConstraintUniq: "UNIQUE KEY", ast.ConstraintUniqKey: "UNIQUE KEY",
	ast.ConstraintUniqIndex: "UNIQUE KEY", ast.ConstraintKey: "KEY", ast.ConstraintIndex: "KEY",
}
