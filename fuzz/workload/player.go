package workload

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// End says how a call ended.
type End string

const (
	// Committed: the server took its COMMIT.
	Committed End = "committed"
	// RolledBack: the transaction decided so.
	RolledBack End = "rolled back"
	// Aborted: the server ended it because of another one, as a deadlock's victim for
	// example; it may be tried again.
	Aborted End = "aborted"
	// Refused: a statement failed for what it said, as a duplicate key does.
	Refused End = "refused"
)

// aborts are the errors by which servers end a transaction, or a statement, because of
// another transaction.
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html
// https://mariadb.com/kb/en/mariadb-error-code-reference/
// https://docs.pingcap.com/tidb/stable/error-codes
var aborts = map[uint16]bool{
	1205: true, // lock wait time-out
	1213: true, // deadlock
	1020: true, // MariaDB: record has changed since last read
	1317: true, // a wait that nobody could have ended was interrupted
	3572: true, // NOWAIT
	8002: true, // TiDB: SELECT FOR UPDATE write conflict
	8022: true, // TiDB: commit failed and was rolled back
	9007: true, // TiDB: write conflict
}

// player runs one call in a session: it is a harness.Player.
type player struct {
	w       *workload.Workload
	call    *mutate.Call
	dialect solve.Dialect
	vars    map[string]ast.ExprNode
	frames  []frame
	asked   *workload.Node // the statement that is outstanding, nil: see sent
	sent    phase
	tries   int
	rows    [][]ast.ExprNode // of the last SELECT … INTO
	into    []string

	answers []answer
	end     End
	code    uint16 // of the error that ended it
	codes   []uint16
	steps   []step
}

// step is a statement that was sent.
type step struct {
	// at is where the workload has it; zero for BEGIN, COMMIT and ROLLBACK.
	at workload.Place
	// gave holds the variables that its answer set.
	gave map[string]ast.ExprNode
}

// phase is what a player has sent last.
type phase uint8

const (
	nothing phase = iota
	begin
	body
	commit
	rollback
	again // ROLLBACK before another try
)

// frame is a body under way.
type frame struct {
	nodes []workload.Node
	at    int
	// rows are those that a repeat has yet to go through, times how often it has
	// yet to run.
	rows  [][]ast.ExprNode
	into  []string
	times int
}

func newPlayer(w *workload.Workload, call *mutate.Call, d solve.Dialect) *player {
	return &player{w: w, call: call, dialect: d}
}

// Next implements harness.Player.
func (p *player) Next(last *history.Result) (ast.StmtNode, error) {
	stmt, err := p.next(last)
	if stmt != nil {
		s := step{}
		if p.sent == body {
			s.at = p.asked.Place
		}
		p.steps = append(p.steps, s)
	}
	return stmt, err
}

func (p *player) next(last *history.Result) (ast.StmtNode, error) {
	if p.sent != nothing && last != nil && last.Err != nil {
		return p.failed(last)
	}
	switch p.sent {
	case nothing, again:
		return p.start(), nil
	case commit:
		p.end = Committed
		return nil, nil
	case rollback:
		return nil, nil
	case body:
		p.answered(last)
	}
	return p.advance()
}

func (p *player) start() ast.StmtNode {
	p.vars = map[string]ast.ExprNode{}
	for name, v := range p.call.Args {
		p.vars[name] = v
	}
	maps.Copy(p.vars, p.call.Known)
	p.frames = []frame{{nodes: p.call.Transaction.Body, times: 1}}
	p.answers, p.rows, p.into, p.asked = nil, nil, nil, nil
	p.end, p.code, p.sent = "", 0, begin
	p.tries++
	return corpus.Begin()
}

// failed is told of an error.
func (p *player) failed(last *history.Result) (ast.StmtNode, error) {
	p.code, p.end = last.Err.Code, Refused
	if aborts[p.code] {
		p.end = Aborted
		p.codes = append(p.codes, p.code)
	}
	retry := p.end == Aborted && p.tries <= p.call.Transaction.Retry
	switch {
	case last.InTxn && p.sent != rollback && p.sent != again:
		p.sent = rollback
		if retry {
			p.sent = again
		}
		return &ast.RollbackStmt{}, nil
	case retry:
		return p.start(), nil
	}
	return nil, nil
}

// answered keeps what a statement gave.
func (p *player) answered(last *history.Result) {
	n := p.asked
	p.vars[workload.VarAffected] = corpus.IntLit(max(last.Affected, 0))
	p.vars[workload.VarLastID] = corpus.IntLit(last.LastID)
	p.answers = append(p.answers, answer{n.Stmt, last})
	if last.Columns == nil {
		return
	}
	p.vars[workload.VarFound] = corpus.IntLit(int64(len(last.Rows)))
	if len(n.Into) == 0 {
		return
	}
	texts := textual(p.w, n)
	p.rows, p.into = nil, n.Into
	for _, row := range last.Rows {
		values := make([]ast.ExprNode, len(n.Into))
		for i := range n.Into {
			values[i] = corpus.NullLit()
			if i < len(row) {
				values[i] = literal(row[i], i < len(texts) && texts[i])
			}
		}
		p.rows = append(p.rows, values)
	}
	for i, name := range n.Into {
		p.vars[name] = corpus.NullLit()
		if len(p.rows) > 0 {
			p.vars[name] = p.rows[0][i]
		}
	}
	gave := map[string]ast.ExprNode{workload.VarFound: p.vars[workload.VarFound]}
	for _, name := range n.Into {
		gave[name] = p.vars[name]
	}
	p.steps[len(p.steps)-1].gave = gave
}

// advance goes on to the next statement.
func (p *player) advance() (ast.StmtNode, error) {
	for {
		f := &p.frames[len(p.frames)-1]
		if f.at >= len(f.nodes) {
			if !p.turn(f) {
				if len(p.frames) == 1 {
					p.sent = commit
					return &ast.CommitStmt{}, nil
				}
				p.frames = p.frames[:len(p.frames)-1]
			}
			continue
		}
		n := &f.nodes[f.at]
		f.at++
		switch n.Kind {
		case workload.Run:
			p.asked, p.sent = n, body
			return workload.Bind(n.Stmt, p.value), nil
		case workload.Unless:
			holds, err := p.holds(n)
			if err != nil {
				return nil, err
			}
			switch {
			case holds:
			case n.Do == workload.Rollback:
				p.sent, p.end = rollback, RolledBack
				return &ast.RollbackStmt{}, nil
			case n.Do == workload.Commit:
				p.sent = commit
				return &ast.CommitStmt{}, nil
			default:
				f.at++
			}
		case workload.Repeat:
			inner := frame{nodes: n.Body, at: len(n.Body)} // turn begins it
			if n.Times == nil {
				inner.rows, inner.into = p.rows, p.into
			} else {
				times, err := p.number(n)
				if err != nil {
					return nil, err
				}
				inner.times = times
			}
			p.frames = append(p.frames, inner)
		}
	}
}

// turn begins the next round of a body; false: there is none.
func (p *player) turn(f *frame) bool {
	switch {
	case len(f.rows) > 0:
		for i, name := range f.into {
			p.vars[name] = f.rows[0][i]
		}
		f.rows = f.rows[1:]
	case f.times > 0 && len(p.frames) > 1:
		f.times--
	default:
		return false
	}
	f.at = 0
	return true
}

func (p *player) value(name string) ast.ExprNode {
	if v := p.vars[name]; v != nil {
		return corpus.CloneExpr(v)
	}
	return nil
}

// holds evaluates the condition of an unless as the server would.
func (p *player) holds(n *workload.Node) (bool, error) {
	text, null, err := p.evaluate(n.Cond)
	if err != nil {
		return false, fmt.Errorf("%s:%d:%d: the condition cannot be evaluated: %w", p.w.File, n.Place.Line, n.Place.Column, err)
	}
	v, err := strconv.ParseFloat(text, 64)
	return !null && err == nil && v != 0, nil
}

// maxTimes bounds a repeat.
const maxTimes = 50

func (p *player) number(n *workload.Node) (int, error) {
	text, null, err := p.evaluate(n.Times)
	if err != nil {
		return 0, fmt.Errorf("%s:%d:%d: the number of rounds cannot be evaluated: %w", p.w.File, n.Place.Line, n.Place.Column, err)
	}
	v, err := strconv.ParseFloat(text, 64)
	if null || err != nil || v < 0 {
		return 0, nil
	}
	return int(min(v, maxTimes)), nil
}

func (p *player) evaluate(e ast.ExprNode) (text string, null bool, err error) {
	sel := &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true}, Fields: &ast.FieldList{Fields: []*ast.SelectField{{Expr: workload.BindExpr(e, p.value)}}}}
	r, err := solve.New(p.dialect).Select(sel, noTables{})
	if err != nil {
		return "", false, err
	}
	text, null = r.Rows[0][0].Text()
	return text, null, nil
}

type noTables struct{}

func (noTables) Table(name string) (*solve.Table, []solve.Row, error) {
	return nil, nil, &solve.SQLError{Code: 1146, Message: "no table " + name}
}

var numberPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// literal makes a value of what the server answered.
func literal(c history.Cell, isText bool) ast.ExprNode {
	switch {
	case c.Null:
		return corpus.NullLit()
	case isText || !numberPattern.MatchString(c.Text):
		return corpus.StringLit(c.Text)
	}
	if n, err := strconv.ParseInt(c.Text, 10, 64); err == nil {
		return corpus.IntLit(n)
	}
	if n, err := strconv.ParseUint(c.Text, 10, 64); err == nil {
		return corpus.UintLit(n)
	}
	if d, err := corpus.DecimalLit(c.Text); err == nil {
		return d
	}
	return corpus.StringLit(c.Text)
}

// textual tells which columns of a SELECT are strings, as far as they come from a
// column of a table.
func textual(w *workload.Workload, n *workload.Node) []bool {
	sel, ok := n.Stmt.(*ast.SelectStmt)
	if !ok {
		return nil
	}
	var out []bool
	tables := tablesOf(w, n.Stmt)
	for _, f := range sel.Fields.Fields {
		if f.WildCard != nil {
			for _, t := range tables {
				for i := range t.Columns {
					out = append(out, t.Columns[i].IsText())
				}
			}
			continue
		}
		v := &columnFinder{}
		f.Expr.Accept(v)
		isText := false
		for _, name := range v.names {
			for _, t := range tables {
				if i := t.Column(name); i >= 0 {
					isText = isText || t.Columns[i].IsText()
				}
			}
		}
		if a, ok := f.Expr.(*ast.AggregateFuncExpr); ok && slices.Contains([]string{ast.AggFuncCount, ast.AggFuncSum, ast.AggFuncAvg}, strings.ToLower(a.F)) {
			isText = false
		}
		out = append(out, isText)
	}
	return out
}

type columnFinder struct{ names []string }

func (v *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		v.names = append(v.names, c.Name.Name.O)
	}
	return n, false
}

func (v *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// tablesOf returns the tables that a statement names, each once, in order.
func tablesOf(w *workload.Workload, n ast.Node) []*workload.Table {
	v := &tableFinder{w: w}
	n.Accept(v)
	return v.tables
}

type tableFinder struct {
	w      *workload.Workload
	tables []*workload.Table
}

func (v *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	if x, ok := n.(*ast.TableName); ok {
		if t := v.w.Table(x.Name.O); t != nil && !slices.Contains(v.tables, t) {
			v.tables = append(v.tables, t)
		}
	}
	return n, false
}

func (v *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// ordered reports whether a query says in which order its rows come.
func ordered(s ast.StmtNode) bool {
	switch x := s.(type) {
	case *ast.SelectStmt:
		return x.OrderBy != nil
	case *ast.SetOprStmt:
		return x.OrderBy != nil
	}
	return false
}

// rowsText is an answer as it is compared.
func rowsText(r *history.Result, inOrder bool) string {
	lines := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		var b strings.Builder
		for k, c := range row {
			if k > 0 {
				b.WriteString(", ")
			}
			if c.Null {
				b.WriteString("NULL")
			} else {
				b.WriteString(strconv.Quote(c.Text))
			}
		}
		lines[i] = "(" + b.String() + ")"
	}
	if !inOrder {
		slices.Sort(lines)
	}
	return strings.Join(lines, " ")
}

func exprText(e ast.ExprNode) string {
	s, err := corpus.FormatExpr(e, corpus.Text)
	if err != nil {
		return ""
	}
	return s
}

// namesOfTables returns the tables that a tree names, lower-case, in order.
func namesOfTables(n ast.Node) []string {
	v := &nameFinder{}
	n.Accept(v)
	return v.names
}

type nameFinder struct{ names []string }

func (v *nameFinder) Enter(n ast.Node) (ast.Node, bool) {
	if x, ok := n.(*ast.TableName); ok {
		v.names = append(v.names, x.Name.L)
	}
	return n, false
}

func (v *nameFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
