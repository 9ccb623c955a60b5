package campaign

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/unique"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// input makes the cases of the n-th input of a worker, which differ in their
// submitted order. Of one that aims at a pattern it is one case. There are none where
// values are to be unique and cannot be.
func (c *campaign) input(worker, n int) (inputPlan, []*corpus.Case) {
	p, made := c.decode(worker, n)
	if !c.s.Unique {
		c.constrain(worker, n, &p, made)
		c.endSessions(worker, n, &p, made)
		return p, c.ownWords(worker, n, Sayable(c.target.Server().DBMS, made))
	}
	var out []*corpus.Case
	for _, k := range made {
		if u, err := unique.Case(k); err == nil {
			out = append(out, u)
		}
	}
	return p, Sayable(c.target.Server().DBMS, out)
}

// Sayable takes from cases what the server's dialect has no words for, and what nobody judges there: the values of
// sequences, which no session can choose, and LIMIT without an order. PostgreSQL's is the only dialect that the generator
// does not know itself.
func Sayable(dbms history.DBMS, made []*corpus.Case) (out []*corpus.Case) {
	if dbms != history.PostgreSQL {
		return made
	}
	for _, k := range made {
		if slices.ContainsFunc(k.Init, func(l corpus.Line) bool { return corpus.Contains(l.Stmt, takesNext) }) {
			continue
		}
		judged := *k
		judged.Steps = slices.DeleteFunc(slices.Clone(k.Steps), func(l corpus.Line) bool {
			v := stmt.Of(l.Stmt)
			return v.Limit != nil && v.Order == nil
		})
		if k = corpus.Sayable(&judged, corpus.PostgreSQL); k != nil && len(k.Steps) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// takesNext says that a node is the option of a column whose values a sequence gives.
func takesNext(n ast.Node) (found, skip bool) {
	o, ok := n.(*ast.ColumnOption)
	return ok && o.Tp == ast.ColumnOptionAutoIncrement, false
}

func (c *campaign) decode(worker, n int) (inputPlan, []*corpus.Case) {
	seed := inputSeed(c.s.Seed, worker, n)
	transactions := c.s.transactions(n)
	fresh := func() []byte { return newInput(freshSeed(c.s.Seed, worker, n), transactions) }
	p := inputPlan{variant: n}
	var r *rand.Rand
	if c.guide == nil {
		p.data = fresh()
	} else {
		r = rand.New(rand.NewPCG(seed, 1))
		p = c.guide.next(r, fresh, n, &c.litters[worker])
	}
	if p.parent == nil {
		p.aim = c.patterns.choose(seed, transactions)
	}
	switch {
	case p.data != nil:
		o := c.options(p.variant)
		p.aim.narrow(&o)
		var cases []*corpus.Case
		cases, p.weaving = mutate.FromInputWoven(p.data, c.known, o)
		return p, cases
	case p.again:
		return p, []*corpus.Case{p.parent.c}
	}
	src := mutate.NewBytes(newInput(r.Uint64(), transactions))
	return p, []*corpus.Case{mutate.Mutate(src, p.parent.c, c.guide.others(r), c.options(n))}
}

// originOf says where the i-th case of an input came from.
func (c *campaign) originOf(p *inputPlan, worker, n, i int) findings.Origin {
	switch {
	case p.parent == nil:
		return findings.Origin{Input: fmt.Sprintf("seed %d, worker %d, input %d, order %d", c.s.Seed, worker, n, i) + p.aim.text()}
	case p.data != nil:
		return findings.Origin{Input: inputText(p.data, i) + p.aim.text()}
	case p.again:
		return findings.Origin{Input: "kept input " + corpus.ID(p.parent.c)}
	}
	return findings.Origin{Input: "changed from kept input " + corpus.ID(p.parent.c)}
}

// newInput returns an input of a seed for a number of transactions.
func newInput(seed uint64, transactions int) []byte {
	if transactions > 2 {
		return mutate.WideInput(seed, transactions)
	}
	return mutate.InputOf(seed, mutate.InputLen)
}

// transactions is how many the n-th input is to have: all numbers of the settings' range
// in turn, or without one mostly two, and in one of eight inputs three or four.
func (s *Settings) transactions(n int) int {
	switch {
	case s.Transactions.Max > 0:
		return s.Transactions.Min + n%(s.Transactions.Max-s.Transactions.Min+1)
	case n%8 == 7:
		return 3 + n/8%2
	}
	return 2
}

// options varies what the input alone does not decide: every fifth family of inputs may
// have two tables. Of inputs that are not wide, as those that were kept once, every
// eighth has three transactions.
func (c *campaign) options(n int) mutate.Options {
	o := generatorOptions(c.target.Server(), c.levels, c.s.Conflict, n)
	o.Computed = computedOdds[c.s.SQL]
	o.Schema = c.schema
	o.Replicated = target.SendsRows(c.target.Name)
	return o
}

func generatorOptions(server history.Server, levels []corpus.Level, conflict mutate.Conflict, n int) mutate.Options {
	o := mutate.Options{
		Levels: levels, DBMS: server.DBMS, Conflict: conflict,
		ShareLocks: server.Settings["tidb_enable_noop_functions"] == "ON", SkipLocked: rules.SkipsLocked(server),
	}
	if n%8 == 7 {
		o.NumTx = 3
	}
	if mayPair(n) {
		o.Tables = 2
	}
	return o
}

// levelsWithin gives each session the level of the case's header; sessions
// without one, or with one that is not among those to run, get the n-th of
// them in turn.
func levelsWithin(c *corpus.Case, levels []corpus.Level, n int) map[int]corpus.Level {
	out := target.LevelsFor(c, 0)
	for s, l := range out {
		if !slices.Contains(levels, l) {
			out[s] = levels[n%len(levels)]
		}
	}
	return out
}

// inputSeed gives every input of every worker a seed of its own, by the
// finaliser of SplitMix64 over the three numbers.
func inputSeed(seed uint64, worker, n int) uint64 {
	z := seed + uint64(worker)*0x9e3779b97f4a7c15 + uint64(n)*0xd1b54a32d192ed03
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// inputText is the header line `input` of a case made from bytes.
func inputText(data []byte, order int) string {
	return fmt.Sprintf("base64 %s, order %d", base64.StdEncoding.EncodeToString(data), order)
}
