package workload

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// Args are the parameters of one call: int64, float64, string, bool or nil.
type Args map[string]any

// Int returns a parameter that is an integer, 0 if it is none.
func (a Args) Int(name string) int64 { n, _ := a[name].(int64); return n }

// Text returns a parameter that is a string, "" if it is none.
func (a Args) Text(name string) string { s, _ := a[name].(string); return s }

// Code is a transaction with logic of its own. It is called within a transaction: what
// it returns nil from is committed, else rolled back. An error of a statement must be
// returned, or the transaction ended as the application would; it must do the same each
// time, and use tx from one goroutine.
type Code func(ctx context.Context, tx *sql.Tx, args Args) error

// ConnCode is Code that begins and ends its transactions itself, or does without. What it
// leaves open is rolled back. All that one call does counts as one transaction: a serial
// order runs calls as wholes. It may try again after an error of its own accord.
type ConnCode func(ctx context.Context, conn *sql.Conn, args Args) error

// AddCode adds a transaction that is Go code to a workload. parameters are written as in
// a file: ":who account.id, :amount INT 1..100". As nobody knows beforehand which tables
// it touches, it is run against every other one.
func (w *Workload) AddCode(name, parameters string, code Code) error {
	return w.AddConn(name, parameters, func(ctx context.Context, conn *sql.Conn, args Args) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := code(ctx, tx, args); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// AddConn is AddCode for code that gets the whole connection.
func (w *Workload) AddConn(name, parameters string, code ConnCode) error {
	p := &parser{lexer: lexer{name: name, text: parameters}, w: w}
	t := &Transaction{Name: name, Code: code}
	if w.Transaction(name) != nil {
		return p.errorf(0, "there are two transactions %s", name)
	}
	if err := p.params(t, 0, len(parameters)); err != nil {
		return err
	}
	for _, q := range t.Params {
		if table := w.Table(q.Table); q.Table != "" && (table == nil || table.Column(q.Column) < 0) {
			return p.errorf(0, "there is no column %s.%s", q.Table, q.Column)
		}
	}
	w.Transactions = append(slices.Clip(w.Transactions), t)
	return nil
}

// ParseSchema is Parse for a file without transactions, which AddCode adds.
func ParseSchema(name string, text []byte) (*Workload, error) {
	p := &parser{lexer: lexer{name: name, text: string(text)}, w: &Workload{File: name}, coded: true}
	if at := invalid(p.text); at >= 0 {
		return nil, p.errorf(at, "not UTF-8")
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	return p.w, nil
}
