package workload

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// codePlayer runs Go code as a harness.Player. The code runs on a goroutine of its own,
// on a database/sql connection that hands every statement to Next and waits for the
// answer; the two never run at the same time.
type codePlayer struct {
	w     *workload.Workload
	call  *mutate.Call
	wants chan request
	gives chan *history.Result
	quit  chan struct{} // closed when nobody will ask for statements any more
	once  sync.Once
	tries int
	ended bool // the code has returned

	result  CallOutcome
	began   bool
	current request
	open    bool // a transaction is
	misuse  error
}

// request is a statement that the code sends, or its end.
type request struct {
	stmt ast.StmtNode
	err  error
	end  bool
}

func newCodePlayer(w *workload.Workload, call *mutate.Call) *codePlayer {
	return &codePlayer{w: w, call: call, wants: make(chan request), gives: make(chan *history.Result), quit: make(chan struct{})}
}

// Next implements harness.Player.
func (p *codePlayer) Next(last *history.Result) (ast.StmtNode, error) {
	if !p.began {
		p.began = true
		p.start()
	} else {
		p.note(last)
		p.gives <- last
	}
	p.current = <-p.wants
	if !p.current.end {
		return p.current.stmt, nil
	}
	if p.result.End == Aborted && !p.result.kept && p.current.err == nil && p.tries <= p.call.Transaction.Retry {
		p.start()
		p.current = <-p.wants
		return p.current.stmt, nil
	}
	p.ended = true
	return nil, p.current.err
}

func (p *codePlayer) start() {
	p.tries++
	p.result, p.open = CallOutcome{Aborts: p.result.Aborts, End: RolledBack}, false
	go func() { p.wants <- request{end: true, err: p.run()} }()
}

// note keeps what a statement was answered.
func (p *codePlayer) note(last *history.Result) {
	r := &p.result
	p.open = last.InTxn
	if last.Err != nil {
		r.Code, r.End = last.Err.Code, Refused
		if aborts[r.Code] {
			r.End = Aborted
			r.Aborts = append(r.Aborts, r.Code)
		}
		return
	}
	switch p.current.stmt.(type) {
	case *ast.BeginStmt:
		r.apart = r.apart || r.kept
		if r.End == Aborted { // the code tries again
			r.answers, r.End = nil, RolledBack
		}
	case *ast.RollbackStmt:
	case *ast.CommitStmt:
		r.End, r.kept = Committed, true
	default:
		r.answers = append(r.answers, answer{p.current.stmt, last})
		if !last.InTxn {
			r.End, r.kept, r.apart = Committed, r.kept || last.Columns == nil, true
		}
	}
}

// run calls the code once. An error is a mistake in how it uses the database; what the
// code itself returns is its own affair.
func (p *codePlayer) run() (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("transaction %s panicked: %v", p.call.Transaction.Name, e)
		}
	}()
	db := sql.OpenDB(&bridge{p})
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	args := workload.Args{}
	for name, e := range p.call.Args {
		args[name] = goValue(e)
	}
	_ = p.call.Transaction.Code(ctx, conn, args) // the run has seen what the server said
	if p.open {
		_, _ = p.ask(&ast.RollbackStmt{})
	}
	return p.misuse
}

// wrong keeps the first thing that the code asked of its connection and cannot have.
func (p *codePlayer) wrong(err error) error {
	if p.misuse == nil {
		p.misuse = fmt.Errorf("transaction %s: %w", p.call.Transaction.Name, err)
	}
	return err
}

// close ends a code that still waits for an answer, because its run was given up.
func (p *codePlayer) close() {
	p.once.Do(func() { close(p.quit) })
	if p.began && !p.ended {
		go func() { // the code ends on its own, with errors
			for r := range p.wants {
				if r.end {
					return
				}
			}
		}()
	}
}

// ask sends a statement of the code and waits for the answer.
func (p *codePlayer) ask(stmt ast.StmtNode) (*history.Result, error) {
	select {
	case p.wants <- request{stmt: stmt}:
	case <-p.quit:
		return nil, driver.ErrBadConn
	}
	select {
	case r := <-p.gives:
		if r.Err != nil {
			e := &mysql.MySQLError{Number: r.Err.Code, Message: r.Err.Message}
			copy(e.SQLState[:], r.Err.State)
			return r, e
		}
		return r, nil
	case <-p.quit:
		return nil, driver.ErrBadConn
	}
}

// goValue is a literal as code gets it.
func goValue(e ast.ExprNode) any {
	minus := ""
	if u, ok := e.(*ast.UnaryOperationExpr); ok {
		e, minus = u.V, "-"
	}
	v, ok := e.(ast.ValueExpr)
	if !ok {
		return nil
	}
	switch l := corpus.LiteralOf(v); l.Kind {
	case corpus.KindNull:
		return nil
	case corpus.KindInt, corpus.KindUint:
		if n, err := strconv.ParseInt(minus+l.Text, 10, 64); err == nil {
			return n
		}
		return minus + l.Text
	case corpus.KindFloat:
		f, _ := strconv.ParseFloat(minus+l.Text, 64)
		return f
	default:
		return minus + l.Text
	}
}

// bridge is a database/sql driver whose one connection is a session of the run.
type bridge struct{ p *codePlayer }

func (b *bridge) Connect(context.Context) (driver.Conn, error) { return &bridgeConn{b.p}, nil }
func (b *bridge) Driver() driver.Driver                        { return bridgeDriver{} }

type bridgeDriver struct{}

func (bridgeDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("a workload's connection is given to it")
}

type bridgeConn struct{ p *codePlayer }

func (c *bridgeConn) Prepare(query string) (driver.Stmt, error) { return &bridgeStmt{c, query}, nil }
func (c *bridgeConn) Close() error                              { return nil }
func (c *bridgeConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *bridgeConn) BeginTx(_ context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts != (driver.TxOptions{}) {
		return nil, c.p.wrong(errors.New("BeginTx with options: the level is that of the run"))
	}
	_, err := c.p.ask(corpus.Begin())
	return bridgeTx{c.p}, err
}

type bridgeTx struct{ p *codePlayer }

func (t bridgeTx) Commit() error {
	_, err := t.p.ask(&ast.CommitStmt{})
	return err
}

func (t bridgeTx) Rollback() error {
	_, err := t.p.ask(&ast.RollbackStmt{})
	return err
}

type bridgeStmt struct {
	c     *bridgeConn
	query string
}

func (s *bridgeStmt) Close() error  { return nil }
func (s *bridgeStmt) NumInput() int { return -1 }

func (s *bridgeStmt) run(args []driver.Value) (*history.Result, error) {
	text, err := interpolate(s.query, args)
	if err != nil {
		return nil, s.c.p.wrong(err)
	}
	stmt, err := corpus.ParseStatement(text)
	if err != nil {
		return nil, s.c.p.wrong(fmt.Errorf("%s: %w", text, err))
	}
	return s.c.p.ask(stmt)
}

func (s *bridgeStmt) Exec(args []driver.Value) (driver.Result, error) {
	r, err := s.run(args)
	if err != nil {
		return nil, err
	}
	return bridgeResult{r}, nil
}

func (s *bridgeStmt) Query(args []driver.Value) (driver.Rows, error) {
	r, err := s.run(args)
	if err != nil {
		return nil, err
	}
	return &bridgeRows{r, 0}, nil
}

type bridgeResult struct{ r *history.Result }

func (r bridgeResult) LastInsertId() (int64, error) { return r.r.LastID, nil }
func (r bridgeResult) RowsAffected() (int64, error) { return r.r.Affected, nil }

type bridgeRows struct {
	r  *history.Result
	at int
}

func (r *bridgeRows) Columns() []string { return r.r.Columns }
func (r *bridgeRows) Close() error      { return nil }
func (r *bridgeRows) Next(to []driver.Value) error {
	if r.at >= len(r.r.Rows) {
		return io.EOF
	}
	for i, c := range r.r.Rows[r.at] {
		if to[i] = nil; !c.Null {
			to[i] = []byte(c.Text)
		}
	}
	r.at++
	return nil
}

// interpolate puts values in place of the question marks of a statement, as
// go-sql-driver's InterpolateParams does.
func interpolate(query string, args []driver.Value) (string, error) {
	var b strings.Builder
	n := 0
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := i + 1
			for end < len(query) && query[end] != c {
				if query[end] == '\\' && c != '`' {
					end++
				}
				end++
			}
			end = min(end+1, len(query))
			b.WriteString(query[i:end])
			i = end - 1
		case c == '?':
			if n >= len(args) {
				return "", fmt.Errorf("%s: want more than %d arguments", query, len(args))
			}
			text, err := literalText(args[n])
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			n++
		default:
			b.WriteByte(c)
		}
	}
	if n != len(args) {
		return "", fmt.Errorf("%s: want %d arguments, not %d", query, n, len(args))
	}
	return b.String(), nil
}

func literalText(v driver.Value) (string, error) {
	switch x := v.(type) {
	case nil:
		return "NULL", nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case float64:
		return strconv.FormatFloat(x, 'e', -1, 64), nil
	case bool:
		return strings.ToUpper(strconv.FormatBool(x)), nil
	case []byte:
		return exprText(corpus.StringLit(string(x))), nil
	case string:
		return exprText(corpus.StringLit(x)), nil
	case time.Time:
		return "'" + x.Format("2006-01-02 15:04:05.999999") + "'", nil
	}
	return "", fmt.Errorf("a %T is no argument of a statement", v)
}
