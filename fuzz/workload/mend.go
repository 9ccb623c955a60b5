package workload

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// read is a plain SELECT of a transaction.
type read struct {
	transaction string
	index       int // among the parts of the body
	text        string
	line        int
}

// plainReads returns the SELECTs of tables without a lock.
func plainReads(t *workload.Transaction) []read {
	var out []read
	i := -1
	workload.Walk(t.Body, func(n *workload.Node) {
		i++
		if sel, ok := n.Stmt.(*ast.SelectStmt); ok && n.Kind == workload.Run && sel.LockInfo == nil && sel.From != nil {
			out = append(out, read{t.Name, i, n.SQL(), n.Place.Line})
		}
	})
	return out
}

// locking returns a copy of a transaction in which some reads are FOR UPDATE.
func locking(t *workload.Transaction, reads []read) *workload.Transaction {
	i := -1
	var change func(body []workload.Node) []workload.Node
	change = func(body []workload.Node) []workload.Node {
		body = slices.Clone(body)
		for k := range body {
			i++
			if slices.ContainsFunc(reads, func(r read) bool { return r.transaction == t.Name && r.index == i }) {
				sel := corpus.CloneStmt(body[k].Stmt).(*ast.SelectStmt)
				sel.LockInfo = &ast.SelectLockInfo{LockType: ast.SelectLockForUpdate}
				body[k].Stmt = sel
			}
			if body[k].Kind == workload.Repeat {
				body[k].Body = change(body[k].Body)
			}
		}
		return body
	}
	out := *t
	out.Body = change(t.Body)
	return &out
}

// mend looks for the reads that must be FOR UPDATE: the fewest with which the anomaly
// is no longer seen, on the input that showed it and on others; and for the levels at
// which it is not seen. What is proposed was tried.
func (c *campaign) mend(f *Finding, small shown, level corpus.Level) {
	if c.Tries <= 0 {
		return
	}
	set := make([]*workload.Transaction, len(f.Transactions))
	var reads []read
	for i, name := range f.Transactions {
		set[i] = c.w.Transaction(name)
		for _, r := range plainReads(set[i]) {
			if !slices.Contains(reads, r) {
				reads = append(reads, r)
			}
		}
	}
	// The whole transactions, in the state and with the parameters of the reduced case.
	whole := &mutate.Input{State: small.in.State, Order: small.in.Order}
	for _, call := range small.in.Calls {
		call.Transaction, call.Known = c.w.Transaction(call.Transaction.Name), nil
		whole.Calls = append(whole.Calls, call)
	}
	inputs := c.tryOn(small.whole, whole, set)
	for _, l := range c.Levels {
		if l > level {
			if seen, runs := c.seenIn(inputs, nil, f.Kind, l); seen == 0 && runs > 0 {
				f.notSeen[l] = runs
			}
		}
	}
	if len(reads) == 0 {
		f.MendFailed = "the transactions have no plain SELECT"
		return
	}
	seen, runs := c.seenIn(inputs, nil, f.Kind, level)
	switch {
	case runs == 0 || c.reduction.Err() != nil:
		f.MendFailed = noTime
		return
	case seen == 0:
		f.MendFailed = fmt.Sprintf("without any it was not seen in %d runs either, so that nothing would be shown", runs)
		return
	}
	c.mu.Lock()
	// What helped at another level is likely to help here.
	candidates := subsets(reads)
	if some := c.helped[f.cause()]; some != nil {
		candidates = slices.Insert(candidates, 0, some)
	}
	c.mu.Unlock()
	for _, some := range candidates {
		seen, runs := c.seenIn(inputs, some, f.Kind, level)
		if runs == 0 || c.reduction.Err() != nil {
			f.MendFailed = noTime
			return
		}
		if seen > 0 {
			continue
		}
		f.MendRuns, f.reads = runs, some
		for _, r := range some {
			f.Mend = append(f.Mend, r.String())
		}
		c.mu.Lock()
		c.helped[f.cause()] = some
		c.mu.Unlock()
		return
	}
	f.MendFailed = "with FOR UPDATE on every SELECT of these transactions it is seen, too"
}

const noTime = "there was no time to try it"

// tryOn returns the inputs on which a mend is tried: the one that showed the anomaly
// before its calls were cut, the one with the fewest rows in its own order and others,
// and new ones.
func (c *campaign) tryOn(first, whole *mutate.Input, set []*workload.Transaction) []*mutate.Input {
	r := rand.New(rand.NewPCG(c.Seed, 7))
	data := func() []byte {
		out := make([]byte, inputLen)
		for i := range out {
			out[i] = byte(r.Uint32())
		}
		return out
	}
	out := []*mutate.Input{first, first, whole, whole}
	for range c.Tries / 2 {
		out = append(out, whole.Reorder(data()))
	}
	for len(out) < c.Tries {
		in := mutate.Make(c.w, [][]*workload.Transaction{set}, data())
		for range 4 {
			out = append(out, in.Reorder(data()))
		}
	}
	return out
}

// seenIn counts in how many runs of some inputs a kind of anomaly shows, with some
// reads FOR UPDATE; it ends with the first.
func (c *campaign) seenIn(inputs []*mutate.Input, reads []read, kind Kind, level corpus.Level) (seen, runs int) {
	var refs *serials
	var of *mutate.State
	for _, in := range inputs {
		x := *in
		x.Calls = slices.Clone(in.Calls)
		for i := range x.Calls {
			x.Calls[i].Transaction = locking(x.Calls[i].Transaction, reads)
		}
		if in.State != of { // inputs of one state follow each other, with the same calls
			refs, of = c.stage.serials(&x, level), in.State
		}
		o, err := c.stage.Run(c.reduction, &x, level)
		if err != nil || o.Calls == nil {
			continue
		}
		a, err := refs.judge(c.reduction, o)
		if err != nil {
			continue
		}
		runs++
		if a != nil && a.kind == kind && check(o).Outcome != oracle.Violation {
			return 1, runs
		}
	}
	return seen, runs
}

// subsets returns single reads, then pairs, then all.
func subsets(reads []read) [][]read {
	var out [][]read
	for i := range reads {
		out = append(out, reads[i:i+1])
	}
	for i := range reads {
		for j := i + 1; j < len(reads) && len(reads) > 2; j++ {
			out = append(out, []read{reads[i], reads[j]})
		}
	}
	if len(reads) > 1 {
		out = append(out, reads)
	}
	return out
}

// String tells which read is meant and what becomes of it.
func (r read) String() string {
	return fmt.Sprintf("line %d, %s: %s FOR UPDATE", r.line, r.transaction, r.text)
}

// Mended is the workload with all the reads FOR UPDATE that were proposed for a level.
type Mended struct {
	Level     string   `json:"level"`
	File      string   `json:"file"`
	ForUpdate []string `json:"for_update"`
	// Left are the findings for which nothing is proposed.
	Left []string `json:"left"`
}

// writeMended writes a workload for each level at which something was found that reads
// FOR UPDATE mend.
func (c *campaign) writeMended() error {
	for _, l := range c.Levels {
		m := Mended{Level: l.Short(), Left: []string{}}
		var reads []read
		for _, f := range c.report.Findings {
			if f.level != l || f.Class != Isolation {
				continue
			}
			if len(f.reads) == 0 {
				m.Left = append(m.Left, f.ID)
			}
			for _, r := range f.reads {
				if !slices.Contains(reads, r) {
					reads = append(reads, r)
				}
			}
		}
		if len(reads) == 0 {
			continue
		}
		slices.SortFunc(reads, func(a, b read) int { return a.line - b.line })
		w := *c.w
		w.Transactions = nil
		for _, t := range c.w.Transactions {
			w.Transactions = append(w.Transactions, locking(t, reads))
		}
		for _, r := range reads {
			m.ForUpdate = append(m.ForUpdate, r.String())
		}
		name := strings.TrimSuffix(c.report.Workload, filepath.Ext(c.report.Workload))
		m.File = filepath.Join(c.Out, strings.ToLower(name+"-mended-"+l.Short()+"-"+string(c.server().DBMS))+".workload")
		if err := wholefile.Write(m.File, workload.Print(&w)); err != nil {
			return fmt.Errorf("write the mended workload: %w", err)
		}
		c.report.Mended = append(c.report.Mended, m)
	}
	return nil
}
