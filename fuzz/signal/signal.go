package signal

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Class is the hash of one class of behaviour.
type Class uint32

// Of returns the classes that a run shows, ascending, each once. h may be nil.
func Of(c *corpus.Case, h *history.History, v *oracle.Verdict) []Class {
	f := &finder{c: c, h: h, seen: map[Class]bool{}}
	f.add("verdict", string(v.Outcome), string(v.Kind), strings.Join(v.Rules, "+"), reason(v))
	if h != nil {
		f.statements()
		f.pairs()
		f.waits()
		f.plans()
	}
	out := make([]Class, 0, len(f.seen))
	for k := range f.seen {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// reason is that of an unknown verdict, a slug; those of others are sentences.
func reason(v *oracle.Verdict) string {
	if v.Outcome == oracle.Unknown {
		return v.Reason
	}
	return ""
}

type finder struct {
	c    *corpus.Case
	h    *history.History
	seen map[Class]bool
}

func (f *finder) add(parts ...string) {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // a hash does not fail
		_, _ = h.Write([]byte{0})
	}
	f.seen[Class(h.Sum32())] = true
}

// kind names a statement, transaction control among them.
func (f *finder) kind(s *history.Stmt) string {
	n := f.c.Steps[s.Line].Stmt
	k, _ := mutate.KindOf(n)
	if k != stmt.Other {
		return string(k)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast.")
}

func (f *finder) level(s *history.Stmt) string { return f.h.Levels[s.Session].Short() }

// outcome is how a statement ended: an error code, or how many rows it gave or
// touched, in the buckets none, one, more; and whether it waited.
func outcome(s *history.Stmt) string {
	out := "no answer"
	switch r := &s.Result; {
	case s.Return == 0:
	case r.Err != nil:
		out = strconv.Itoa(int(r.Err.Code))
	case len(r.Columns) > 0:
		out = "rows " + bucket(int64(len(r.Rows)))
	default:
		out = "touched " + bucket(r.Affected)
	}
	if len(s.Waits) > 0 {
		out += ", waited"
	}
	return out
}

// ending is outcome without the rows.
func ending(s *history.Stmt) string {
	out := "ok"
	if s.Result.Err != nil {
		out = strconv.Itoa(int(s.Result.Err.Code))
	}
	if len(s.Waits) > 0 {
		out += ", waited"
	}
	return out
}

func bucket(n int64) string {
	switch {
	case n <= 0:
		return "0"
	case n == 1:
		return "1"
	}
	return "n"
}

func (f *finder) statements() {
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		f.add("statement", f.level(s), f.kind(s), outcome(s))
	}
	f.add("end", string(f.h.End))
}

// pairs are statements of different sessions of which one was submitted right
// after the other: what conflict construction makes, and what came of it.
func (f *finder) pairs() {
	var last *history.Stmt
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		if _, control := f.c.Steps[s.Line].Stmt.(*ast.BeginStmt); control {
			continue
		}
		if last != nil && last.Session != s.Session {
			f.add("pair", f.kind(last), f.level(s), f.kind(s), ending(s))
		}
		last = s
	}
}

// waits are the shapes of the wait-for graph: who waits for whom while how many
// others wait, in kinds.
func (f *finder) waits() {
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		for _, w := range s.Waits {
			together := 0
			for j := range f.h.Stmts {
				for _, o := range f.h.Stmts[j].Waits {
					if j != i && o.From < w.From && (o.Until == 0 || o.Until > w.From) {
						together++
					}
				}
			}
			f.add("wait", f.level(s), f.kind(s), string(w.Kind), strconv.Itoa(together), strconv.Itoa(len(w.Holders)), f.release(&w), outcome(s))
		}
	}
}

// release is the kind of the statement that returned last before a wait ended.
func (f *finder) release(w *history.Wait) string {
	var by *history.Stmt
	for i := range f.h.Stmts {
		s := &f.h.Stmts[i]
		if s.Return > w.From && (w.Until == 0 || s.Return < w.Until) && (by == nil || s.Return > by.Return) {
			by = s
		}
	}
	if by == nil {
		return ""
	}
	return f.kind(by)
}

// plans are the shapes of access paths: the words of EXPLAIN's text, without
// numbers, which are estimates.
func (f *finder) plans() {
	for i, text := range f.h.Plans {
		shape := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r == '.' {
				return -1
			}
			return r
		}, text)
		f.add("plan", f.kind(&f.h.Stmts[i]), shape)
	}
}
