package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// rehearsal sends each statement of a transaction once, whatever the conditions around it
// say, until the server refuses the text of one.
type rehearsal struct {
	call  *mutate.Call
	nodes []*workload.Node
	at    int // how many of them were sent
	begun bool
	error *history.Error
}

func rehearse(call *mutate.Call) *rehearsal {
	r := &rehearsal{call: call}
	workload.Walk(call.Transaction.Body, func(n *workload.Node) {
		if n.Kind == workload.Run {
			r.nodes = append(r.nodes, n)
		}
	})
	return r
}

// Next implements harness.Player.
func (r *rehearsal) Next(last *history.Result) (ast.StmtNode, error) {
	if r.at > 0 && last != nil && last.Err != nil && oracle.TextError(last.Err.Code) {
		r.error = last.Err
		return nil, nil
	}
	switch {
	case r.at == len(r.nodes):
		return nil, nil
	case !r.begun || last != nil && !last.InTxn:
		r.begun = true
		return corpus.Begin(), nil
	}
	r.at++
	return workload.Bind(r.nodes[r.at-1].Stmt, func(name string) ast.ExprNode {
		if v := r.call.Args[name]; v != nil {
			return corpus.CloneExpr(v)
		}
		return nil
	}), nil
}

// checkStatements gives the server each statement of some transactions before anything
// runs, since a campaign may reach one late. Tables are empty for it: servers look at the
// names in a statement before they look at rows. What else may be wrong shows with the first case.
func (s *Stage) checkStatements(ctx context.Context, transactions []*workload.Transaction, level corpus.Level) error {
	for _, t := range transactions {
		if t.Code != nil {
			continue // nobody knows beforehand what it sends
		}
		in := mutate.Make(s.W, [][]*workload.Transaction{{t}}, nil)
		r := rehearse(&in.Calls[0])
		s.runs.Add(1)
		_, err := s.Pool.Play(ctx, harness.Play{Init: in.State.Without(0, in.State.Rows()).Init(), Players: []harness.Player{r}, Levels: harness.At(level)})
		var beyond *harness.RefusedError
		switch {
		case r.at == 0:
		case r.error != nil:
			n := r.nodes[r.at-1]
			return refused(s.W, t.Name, n.Place, oneLine(n.String()), r.error)
		case errors.As(err, &beyond):
			n := r.nodes[r.at-1]
			return &corpus.ParseError{File: s.W.File, Line: n.Place.Line, Column: n.Place.Column, Msg: fmt.Sprintf("transaction %s: %s", t.Name, beyond)}
		}
	}
	return nil
}

// refused tells where the workload has a statement whose text a server does not take.
func refused(w *workload.Workload, transaction string, at workload.Place, stmt string, e *history.Error) error {
	text := fmt.Sprintf("transaction %s: %s: the server refuses it with error %d: %s", transaction, stmt, e.Code, e.Message)
	if at.Line == 0 { // code has no place in the file
		return &SettingError{text}
	}
	return &corpus.ParseError{File: w.File, Line: at.Line, Column: at.Column, Msg: text}
}

// misspelt tells a statement of a run whose text no server takes. Where checkStatements did
// not meet it, it is of code, or a value is to blame, as in ORDER BY :n.
func misspelt(w *workload.Workload, calls []mutate.Call, o *Outcome) error {
	sent := make([]int, len(o.Calls))
	for i := range o.History.Stmts {
		st := &o.History.Stmts[i]
		n := st.Session - 1
		if n >= len(sent) {
			continue
		}
		sent[n]++
		if e := st.Result.Err; e != nil && oracle.TextError(e.Code) {
			var at workload.Place
			if steps := o.Calls[n].steps; sent[n] <= len(steps) {
				at = steps[sent[n]-1].at
			}
			return refused(w, calls[n].Transaction.Name, at, oneLine(corpus.SQL(o.Case.Steps[st.Line].Stmt, corpus.Text)), e)
		}
	}
	return nil
}
