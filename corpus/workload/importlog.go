package workload

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// logLine is a session, then a statement.
var logLine = regexp.MustCompile(`^\s*([\w.@-]+)\s*[:,|\t ]\s*(\S.*?);?\s*$`)

// ImportLog makes a workload of a log of SQL statements, one a line behind the name of
// its session: what a session ran from BEGIN to COMMIT is a transaction, its literals
// become parameters, and transactions of one form are one. It is where a person starts
// from: how values are carried from one statement to the next, and what must hold, no log
// tells. CREATE TABLE lines are the schema. Errors are *corpus.ParseError.
func ImportLog(name string, text []byte) (*Workload, error) {
	im := &importer{w: &Workload{File: name, tables: map[string]*Table{}}, open: map[string][]ast.StmtNode{}, inTxn: map[string]bool{}, forms: map[string]*form{}}
	l := lexer{name: name, text: string(text)}
	if at := invalid(l.text); at >= 0 {
		return nil, l.errorf(at, "not UTF-8")
	}
	at := 0
	for _, line := range strings.SplitAfter(l.text, "\n") {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "--") && !strings.HasPrefix(s, "#") {
			m := logLine.FindStringSubmatchIndex(strings.TrimRight(line, "\r\n"))
			if m == nil {
				return nil, l.errorf(at, "want a session and a statement, such as: s1 UPDATE t SET a = 1;")
			}
			stmt, err := corpus.ParseStatement(line[m[4]:m[5]])
			if err != nil {
				p := parser{lexer: l}
				return nil, p.shifted(at+m[4], err)
			}
			im.line(line[m[2]:m[3]], stmt)
		}
		at += len(line)
	}
	for session := range im.open {
		im.unfinished += min(1, len(im.open[session]))
	}
	if len(im.order) == 0 {
		return nil, l.errorf(len(l.text), "no transaction: want BEGIN, statements and COMMIT of a session")
	}
	im.finish()
	return im.w, nil
}

// form is all transactions that differ in literals only.
type form struct {
	body   []Node
	params []Param
	seen   int
}

type importer struct {
	w          *Workload
	open       map[string][]ast.StmtNode // by session
	inTxn      map[string]bool
	forms      map[string]*form
	order      []string
	rolledBack int
	unfinished int
	left       int
}

func (im *importer) line(session string, stmt ast.StmtNode) {
	switch x := stmt.(type) {
	case *ast.CreateTableStmt:
		if key := strings.ToLower(x.Table.Name.O); im.w.tables[key] == nil && len(x.Cols) > 0 {
			im.w.tables[key] = im.w.addTable(x)
			im.w.names = append(im.w.names, key)
			im.w.Schema = append(im.w.Schema, Statement{Stmt: x})
		}
	case *ast.BeginStmt:
		im.take(session) // BEGIN commits what is open
		im.inTxn[session] = true
	case *ast.CommitStmt:
		im.take(session)
	case *ast.RollbackStmt:
		if x.SavepointName == "" {
			im.rolledBack += min(1, len(im.open[session]))
			delete(im.open, session)
			im.inTxn[session] = false
			return
		}
		im.open[session] = append(im.open[session], stmt)
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
		im.open[session] = append(im.open[session], stmt)
		if !im.inTxn[session] {
			im.take(session)
		}
	default:
		im.left++
	}
}

// take makes a transaction of what a session has done.
func (im *importer) take(session string) {
	stmts := im.open[session]
	delete(im.open, session)
	im.inTxn[session] = false
	if len(stmts) == 0 {
		return
	}
	f := &form{}
	g := &generaliser{w: im.w, f: f, by: map[string]string{}}
	for _, s := range stmts {
		f.body = append(f.body, Node{Kind: Run, Stmt: g.statement(s)})
	}
	var b strings.Builder
	for i := range f.body {
		b.WriteString(f.body[i].SQL() + "\n")
	}
	for _, q := range f.params {
		fmt.Fprintf(&b, "%+v\n", q)
	}
	key := b.String()
	if old := im.forms[key]; old != nil {
		old.seen++
		return
	}
	f.seen = 1
	im.forms[key] = f
	im.order = append(im.order, key)
}

// finish names the transactions and says what was left out.
func (im *importer) finish() {
	im.w.Comments = []string{"Imported from " + im.w.File + ". What one statement gives the next, INTO :x, and what must", "hold, /* invariant */, are yours to add."}
	if im.rolledBack+im.unfinished+im.left > 0 {
		im.w.Comments = append(im.w.Comments, fmt.Sprintf("Left out: %d transactions that were rolled back, %d that did not end, %d other statements.", im.rolledBack, im.unfinished, im.left))
	}
	var missing []string
	for _, key := range im.order {
		f := im.forms[key]
		var words []string
		for i := range f.body {
			v := &reader{}
			f.body[i].Stmt.Accept(v)
			for _, t := range v.tables {
				if im.w.Table(t) == nil && !slices.Contains(missing, t) {
					missing = append(missing, t)
				}
			}
			if word := strings.ToLower(firstOf(f.body[i].SQL())); len(v.tables) > 0 && len(words) < 2 {
				words = append(words, word+"-"+strings.ToLower(v.tables[0]))
			}
		}
		base := strings.Join(slices.Compact(words), "-")
		name := base
		for n := 2; im.w.Transaction(name) != nil; n++ {
			name = base + "-" + strconv.Itoa(n)
		}
		im.w.Transactions = append(im.w.Transactions, &Transaction{Above: []string{fmt.Sprintf("Seen %d times.", f.seen)}, Name: name, Params: f.params, Body: f.body})
	}
	if len(missing) > 0 {
		im.w.Comments = append(im.w.Comments, "The log has no CREATE TABLE of "+strings.Join(missing, ", ")+": put it under /* schema */.")
	}
}

func firstOf(sql string) string {
	word, _ := firstWord(sql)
	return word
}

// generaliser puts parameters in place of the literals of a transaction, the same for
// the same value of the same column.
type generaliser struct {
	w      *Workload
	f      *form
	by     map[string]string // by column and value
	tables []string
	domain map[ast.Node]Param
}

func (g *generaliser) statement(s ast.StmtNode) ast.StmtNode {
	out := corpus.CloneStmt(s)
	v := &reader{}
	out.Accept(v)
	g.tables, g.domain = v.tables, map[ast.Node]Param{}
	if ins, ok := out.(*ast.InsertStmt); ok && len(g.tables) > 0 {
		t := g.w.Table(g.tables[0])
		for _, list := range ins.Lists {
			for i, e := range list {
				switch {
				case len(ins.Columns) > i:
					g.domain[e] = g.column(ins.Columns[i].Name.O)
				case len(ins.Columns) == 0 && t != nil && i < len(t.Columns):
					g.domain[e] = Param{Name: t.Columns[i].Name, Table: t.Name, Column: t.Columns[i].Name}
				}
			}
		}
	}
	n, _ := out.Accept(g)
	return n.(ast.StmtNode)
}

// column is the parameter that stands for a column of the statement's tables.
func (g *generaliser) column(name string) Param {
	for _, table := range g.tables {
		if t := g.w.Table(table); t != nil && t.Column(name) >= 0 {
			return Param{Name: name, Table: t.Name, Column: t.Columns[t.Column(name)].Name}
		}
	}
	return Param{Name: name}
}

func (g *generaliser) Enter(n ast.Node) (ast.Node, bool) {
	pair := func(column, value ast.ExprNode) {
		if c, ok := column.(*ast.ColumnNameExpr); ok {
			if _, ok := value.(ast.ValueExpr); ok {
				g.domain[value] = g.column(c.Name.Name.O)
			}
		}
	}
	switch x := n.(type) {
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.EQ {
			pair(x.L, x.R)
			pair(x.R, x.L)
		}
	case *ast.PatternInExpr:
		for _, e := range x.List {
			pair(x.Expr, e)
		}
	case *ast.Assignment:
		if _, ok := x.Expr.(ast.ValueExpr); ok {
			g.domain[x.Expr] = g.column(x.Column.Name.O)
		}
	case *ast.Limit, *ast.ByItem: // numbers there are no values
		return n, true
	}
	return n, false
}

var notWord = regexp.MustCompile(`\W+`)

func (g *generaliser) Leave(n ast.Node) (ast.Node, bool) {
	e, ok := n.(ast.ValueExpr)
	if !ok {
		return n, true
	}
	l := corpus.LiteralOf(e)
	if l.Kind == corpus.KindNull || l.Bool || l.Kind == corpus.KindBytes {
		return n, true
	}
	q := g.domain[n]
	key := q.Table + "." + q.Column + "=" + l.Text
	name := g.by[key]
	if name == "" {
		base := strings.ToLower(strings.Trim(notWord.ReplaceAllString(q.Name, "_"), "_"))
		if base == "" || !isLetter(base[0]) || slices.Contains(builtin, base) {
			base = "p"
		}
		name = base
		for k := 2; slices.ContainsFunc(g.f.params, func(o Param) bool { return o.Name == name }); k++ {
			name = base + strconv.Itoa(k)
		}
		q.Name = name
		if q.Table == "" {
			q.Type = map[corpus.LiteralKind]string{corpus.KindInt: "INT", corpus.KindUint: "BIGINT", corpus.KindDecimal: "DECIMAL(10, 2)", corpus.KindFloat: "DOUBLE", corpus.KindString: "VARCHAR(20)"}[l.Kind]
		}
		g.by[key] = name
		g.f.params = append(g.f.params, q)
	}
	return &ast.VariableExpr{Name: model.NewCIStr(name).L}, true
}
