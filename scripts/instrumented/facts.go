package main

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// facts is what the answers of one run tell: who wrote which versions, and which rows
// each condition chose.
type facts struct {
	p      *plan
	h      *history.History
	txns   []*txn // by statement, nil: it is in none
	stores map[string]*store
	// shown is what each whole-table read showed, by statement.
	shown map[int]content
	// holds says, by condition and version, whether the version was among the answer.
	holds []map[stamp]bool
	// near is the whole-table read that a statement stands beside, by statement.
	near map[int]int
	// saved holds, by session, where savepoints were set.
	saved map[int]map[string]int
	// untold holds the statements of which derive cannot tell what they read, and why.
	untold map[int]string
}

// Errors of the server.
const errDuplicate = 1062

// gather reads a run. The error is a *notUsable for one from which nothing follows, and
// a *contradiction where answers do not go together.
func gather(p *plan, h *history.History) (*facts, error) {
	f := &facts{p: p, h: h, stores: map[string]*store{}, shown: map[int]content{}, near: map[int]int{}, saved: map[int]map[string]int{}, untold: map[int]string{}}
	for range p.preds {
		f.holds = append(f.holds, map[stamp]bool{})
	}
	if err := f.sound(); err != nil {
		return nil, err
	}
	for _, t := range p.tables {
		var initial *history.Table
		if i := slices.IndexFunc(h.Initial, func(o history.Table) bool { return strings.EqualFold(o.Name, t.name) }); i >= 0 {
			initial = &h.Initial[i]
		}
		var err error
		if f.stores[t.name], err = newStore(t, initial, h.Server.DBMS); err != nil {
			return nil, err
		}
	}
	f.transactions()
	for i := range h.Stmts {
		if err := f.take(i); err != nil {
			return nil, err
		}
	}
	return f, f.checkFinal()
}

func (f *facts) step(i int) *step { return &f.p.steps[f.h.Stmts[i].Line] }

func (f *facts) node(i int) ast.StmtNode { return f.p.c.Steps[f.h.Stmts[i].Line].Stmt }

const whyWaited = "a statement waited"

// sound says whether statements ran one behind the other and each transaction ended as
// it was told to.
func (f *facts) sound() error {
	if f.h.End != history.Complete {
		return unusable("the run did not end")
	}
	open := map[int]bool{}
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		if len(s.Waits) > 0 {
			return unusable(whyWaited)
		}
		if s.Line != i {
			return unusable("the lines ran in another order")
		}
		if s.Result.Err != nil && f.step(i).role != own {
			return unusable("a read of the instrumentation failed")
		}
		kind := stmt.KindOf(f.node(i))
		open[s.Session] = kind.Begins() || open[s.Session] && !kind.Ends()
		switch {
		case open[s.Session] && !s.Result.InTxn:
			return unusable("an error ended a transaction")
		case stmt.KindOf(f.node(i)).Ends() && s.Result.Err != nil:
			return unusable("a COMMIT or ROLLBACK failed")
		}
	}
	return nil
}

// take adds what the answer to a statement tells.
func (f *facts) take(i int) error {
	s, r := f.step(i), &f.h.Stmts[i].Result
	switch s.role {
	case versionSet, versionsNow:
		c, err := contentOf(i, r.Columns, r.Rows)
		if err != nil {
			return err
		}
		f.shown[i], f.near[i] = c, i
		if s.role == versionSet {
			_, err := f.stores[s.table].recognise(i, c)
			return err
		}
		return f.written(i)
	case match, matchNow:
		f.near[i] = f.beside(i)
		return f.learn(i)
	}
	switch of := stmt.Of(f.node(i)); of.Kind {
	case stmt.Savepoint:
		if r.Err == nil {
			f.savepoints(i)[strings.ToLower(of.Savepoint)] = i
		}
	case stmt.Rollback, stmt.RollbackTo:
		f.undo(i, of.Savepoint)
	case stmt.Begin, stmt.BeginSnapshot, stmt.Commit:
		delete(f.saved, f.h.Stmts[i].Session)
	}
	if s.table != "" {
		f.near[i] = f.beside(i)
	}
	return nil
}

func (f *facts) savepoints(i int) map[string]int {
	session := f.h.Stmts[i].Session
	if f.saved[session] == nil {
		f.saved[session] = map[string]int{}
	}
	return f.saved[session]
}

// undo takes back what a transaction wrote behind a savepoint. The reads behind it have
// to agree.
func (f *facts) undo(i int, savepoint string) {
	at, ok := f.savepoints(i)[strings.ToLower(savepoint)]
	if !ok || f.h.Stmts[i].Result.Err != nil {
		return
	}
	for _, s := range f.stores {
		for _, it := range s.items {
			for _, v := range it.versions {
				if v.by == f.txns[i] && v.stmt > at && v.undone == 0 {
					v.undone = i
				}
			}
		}
	}
}

// beside returns the read of the whole table that belongs to the same statement and
// stands on the same side of it. Nobody did anything between the two.
func (f *facts) beside(i int) int {
	s := f.step(i)
	for j := i - 1; j >= 0; j-- {
		if o := f.step(j); o.of == s.of && o.table == s.table && (o.role == versionsNow || o.role == versionSet && (s.role == own || s.before())) {
			return j
		}
	}
	return -1
}

// written compares the reads on both sides of a write.
func (f *facts) written(i int) error {
	s := f.step(i)
	if back(f.node(s.of)) {
		_, err := f.stores[s.table].recognise(i, f.shown[i])
		return err
	}
	before := f.near[s.of]
	if err := f.stores[s.table].wrote(s.of, f.txns[s.of], f.shown[before], f.shown[i]); err != nil {
		return err
	}
	if f.h.Stmts[s.of].Result.Err != nil && !same(f.shown[before], f.shown[i]) {
		return contradicts(s.of, "a statement failed, and table %s is not as before", s.table)
	}
	return nil
}

func same(a, b content) bool {
	for st := range a {
		if _, ok := b[st]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}

// learn notes which of the versions that the read beside it showed a condition chose.
func (f *facts) learn(i int) error {
	s, r := f.step(i), &f.h.Stmts[i].Result
	all := f.shown[f.near[i]]
	chosen, err := contentOf(i, r.Columns, r.Rows)
	if err != nil {
		return err
	}
	for st, row := range chosen {
		if was, ok := all[st]; !ok || format(was) != format(row) {
			return contradicts(i, "row %s matches, and the read of all rows just before had not got it", format(row))
		}
	}
	for _, st := range sorted(all) {
		_, is := chosen[st]
		if was, known := f.holds[s.pred][st]; known && was != is {
			return contradicts(i, "row %s matched before: %t, and now: %t", format(all[st]), was, is)
		}
		f.holds[s.pred][st] = is
	}
	return nil
}

// checkFinal holds the last committed versions against the tables as they were left.
func (f *facts) checkFinal() error {
	for _, t := range f.p.tables {
		i := slices.IndexFunc(f.h.Final, func(o history.Table) bool { return strings.EqualFold(o.Name, t.name) })
		if i < 0 {
			return unusable("a table was not read at the end")
		}
		last := len(f.h.Stmts)
		c, err := contentOf(last, f.h.Final[i].Columns, f.h.Final[i].Rows)
		if err != nil {
			return err
		}
		s := f.stores[t.name]
		left, err := s.recognise(last, c)
		if err != nil {
			return err
		}
		for _, it := range s.items {
			var want *version
			if list := installed(it); len(list) > 0 && list[len(list)-1].row != nil {
				want = list[len(list)-1]
			}
			if left[it] != want {
				return contradicts(last, "in the end %s is not as it was committed last", it.name)
			}
		}
	}
	return nil
}
