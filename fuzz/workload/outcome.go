package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// Stage runs calls of a workload on a server.
type Stage struct {
	W    *workload.Workload
	Pool *harness.Pool
	// Protocol is how the statements of the transactions are sent.
	Protocol protocol.Protocol
	// invariants are those of the file and those that the schema implies.
	invariants []*workload.Invariant
	probes     []ast.StmtNode
	dialect    solve.Dialect
	carriers   map[column][]string
	runs       atomic.Int64
}

// NewStage prepares runs of a workload.
func NewStage(w *workload.Workload, pool *harness.Pool) *Stage {
	s := &Stage{W: w, Pool: pool, dialect: solve.DialectOf(pool.Server()), carriers: carriersOf(w)}
	s.invariants = slices.Clone(w.Invariants)
	for _, v := range workload.Implied(w) {
		if !enforced(pool.Server(), v) {
			s.invariants = append(s.invariants, v)
		}
	}
	for _, v := range s.invariants {
		s.probes = append(s.probes, v.Query)
	}
	return s
}

// checkInvariants lets the server read the invariants before anything runs. What else may
// be wrong shows with the first case.
func (s *Stage) checkInvariants(ctx context.Context, sets [][]*workload.Transaction, level corpus.Level) error {
	_, err := s.Serial(ctx, mutate.Make(s.W, sets, nil), nil, level)
	var parse *corpus.ParseError
	if errors.As(err, &parse) {
		return parse
	}
	return nil
}

// placed names the place of the invariant that the server refuses.
func (s *Stage) placed(err error) error {
	var probe *harness.ProbeError
	if !errors.As(err, &probe) {
		return err
	}
	v := s.invariants[probe.Index]
	return &corpus.ParseError{File: s.W.File, Line: v.Place.Line, Column: v.Place.Column, Msg: fmt.Sprintf("invariant %s: the server refuses it with error %d: %s", v.Name, probe.Err.Code, probe.Err.Message)}
}

// enforced says that a server keeps what the schema demands by itself. TiDB reads CHECKs
// and ignores them by default.
// https://docs.pingcap.com/tidb/stable/constraints#check
func enforced(server history.Server, v *workload.Invariant) bool {
	return server.DBMS != history.TiDB || !v.IsCheck()
}

// Outcome is what a run came to.
type Outcome struct {
	Case    *corpus.Case
	History *history.History
	Calls   []CallOutcome
	// Broken holds the invariants that do not hold in the end, with what the server
	// answered; Before those that did not hold in the beginning.
	Broken, Before []Broken
	// final is the final state in the form in which states are compared.
	final string
}

// CallOutcome is what one call came to.
type CallOutcome struct {
	End     End
	Code    uint16
	Answers []string
	// Aborts are the errors of all tries.
	Aborts  []uint16
	answers []answer
	// kept says of code that some of what it did is committed, however it ended.
	kept bool
	// apart says of code that not all it did was in one transaction.
	apart bool
	// steps are the statements that were sent; nil for code.
	steps []step
}

// Broken is an invariant that does not hold.
type Broken struct {
	Invariant *workload.Invariant
	Answer    string
}

// Run runs calls against each other in an order.
func (s *Stage) Run(ctx context.Context, in *mutate.Input, level corpus.Level) (*Outcome, error) {
	return s.run(ctx, in, level, all(in))
}

// run is Run for calls that have other numbers than their places.
func (s *Stage) run(ctx context.Context, in *mutate.Input, level corpus.Level, calls []int) (*Outcome, error) {
	players := make([]caller, len(in.Calls))
	list := make([]harness.Player, len(in.Calls))
	for i := range in.Calls {
		if call := &in.Calls[i]; call.Transaction.Code != nil {
			p := newCodePlayer(s.W, call)
			defer p.close()
			players[i] = p
		} else {
			players[i] = newPlayer(s.W, call, s.dialect)
		}
		list[i] = players[i]
	}
	if len(list) == 0 {
		list = []harness.Player{idle{}} // somebody must look at the tables
	}
	s.runs.Add(1)
	played, err := s.Pool.Play(ctx, harness.Play{Init: in.State.Init(), Players: list, Order: in.Order, Levels: harness.At(level), Protocol: s.Protocol, Probes: s.probes})
	err = s.placed(err)
	if played == nil {
		return nil, err
	}
	o := &Outcome{Case: played.Case, History: played.History}
	if err != nil || played.History == nil || played.History.End != history.Complete {
		return o, err
	}
	o.Calls = []CallOutcome{} // nil: the run did not end
	for _, p := range players {
		o.Calls = append(o.Calls, p.outcome())
	}
	for i, v := range s.invariants {
		if v.Judge != workload.Constant && !holds(v, &played.Before[i], nil) {
			o.Before = append(o.Before, Broken{v, rowsText(&played.Before[i], false)})
		}
		if !holds(v, &played.After[i], &played.Before[i]) {
			o.Broken = append(o.Broken, Broken{v, rowsText(&played.After[i], false)})
		}
	}
	d := s.drawnIn(o, calls)
	for i := range o.Calls {
		for k := range o.Calls[i].answers {
			o.Calls[i].Answers = append(o.Calls[i].Answers, s.text(&o.Calls[i].answers[k], d))
		}
	}
	o.final = s.stateText(played.History.Final, d)
	return o, nil
}

// idle is a player that sends nothing.
type idle struct{}

func (idle) Next(*history.Result) (ast.StmtNode, error) { return nil, nil }

// caller is a player that tells what came of its call.
type caller interface {
	harness.Player
	outcome() CallOutcome
}

func (p *player) outcome() CallOutcome {
	return CallOutcome{End: p.end, Code: p.code, Aborts: p.codes, answers: p.answers, steps: p.steps}
}

func (p *codePlayer) outcome() CallOutcome { return p.result }

// Serial runs some of the calls one after the other.
func (s *Stage) Serial(ctx context.Context, in *mutate.Input, order []int, level corpus.Level) (*Outcome, error) {
	return s.run(ctx, serially(in, order), level, order)
}

// serially returns an input with some of the calls, one after the other.
func serially(in *mutate.Input, order []int) *mutate.Input {
	one := &mutate.Input{State: in.State}
	for k, i := range order {
		one.Calls = append(one.Calls, in.Calls[i])
		one.Order = append(one.Order, slices.Repeat([]int{k + 1}, longest)...)
	}
	return one
}

// longest is more statements than a call sends.
const longest = 1000

// holds judges the answer of an invariant.
func holds(v *workload.Invariant, now, before *history.Result) bool {
	switch v.Judge {
	case workload.Constant:
		return rowsText(now, false) == rowsText(before, false)
	case workload.OneOf:
		if len(now.Rows) != 1 || len(now.Rows[0]) != 1 {
			return false
		}
		return slices.ContainsFunc(v.Values, func(e ast.ExprNode) bool { return sameValue(e, now.Rows[0][0]) })
	}
	return len(now.Rows) == 0
}

// sameValue compares a literal with what the server printed.
func sameValue(e ast.ExprNode, c history.Cell) bool {
	minus := ""
	if u, ok := e.(*ast.UnaryOperationExpr); ok {
		e, minus = u.V, "-"
	}
	v, ok := e.(ast.ValueExpr)
	if !ok {
		return false
	}
	l := corpus.LiteralOf(v)
	if l.Kind == corpus.KindNull || c.Null {
		return l.Kind == corpus.KindNull && c.Null
	}
	trim := func(s string) string {
		if strings.Contains(s, ".") && numberPattern.MatchString(s) {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	return trim(minus+l.Text) == trim(c.Text)
}

// stateText is a state as it is compared: rows in no order.
func (s *Stage) stateText(tables []history.Table, d *drawn) string {
	var b strings.Builder
	for i := range tables {
		t := &tables[i]
		sources := make([][]string, len(t.Columns))
		for k, name := range t.Columns {
			sources[k] = s.carriers[key(t.Name, name)]
		}
		fmt.Fprintf(&b, "%s: %s\n", t.Name, rowsText(d.renamed(&history.Result{Rows: t.Rows}, sources), false))
	}
	return b.String()
}

// text is what a call answered, as it is compared.
func (c *CallOutcome) text() string {
	return strings.Join(append(slices.Clone(c.Answers), c.endText()), "; ")
}

func (c *CallOutcome) endText() string {
	if c.End == Refused {
		return fmt.Sprintf("%s with error %d", c.End, c.Code)
	}
	return string(c.End)
}

// aborted says that the server took a call back, if only once.
func (o *Outcome) aborted() bool {
	return slices.ContainsFunc(o.Calls, func(c CallOutcome) bool { return len(c.Aborts) > 0 })
}

// decided are the calls that count: those that the server did not take back.
func (o *Outcome) decided() []int {
	var out []int
	for i := range o.Calls {
		if e := o.Calls[i].End; e == Committed || e == RolledBack {
			out = append(out, i)
		}
	}
	return out
}
