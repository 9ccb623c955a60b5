package target

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plainsql"
)

// witnessEvery is every how many judgements the server is asked what is plain, too, and has to say the same.
const witnessEvery = 16

// plainCounts counts the judgements of a target that may do without the server, the answers of package plainsql that
// were taken, and those that the server was asked for, too.
type plainCounts struct {
	judgements, taken, compared atomic.Int64
	// always has the server asked each time.
	always bool
}

// plainly answers questions of which package plainsql knows the answer, which saves round trips. It is for one
// judgement.
type plainly struct {
	counts *plainCounts
	p      *plainsql.Case // nil: all is left to the server
	// witness says that the server is to be asked all the same.
	witness bool
	// used holds the keys of the questions about one statement that were answered so; some says that any was.
	used map[string]bool
	some bool
}

func (t *Target) plainly(c *corpus.Case) *plainly {
	x := &plainly{counts: &t.plain, used: map[string]bool{}}
	if t.solver != ByServer {
		x.p = plainsql.Of(c)
		x.witness = t.plain.judgements.Add(1)%witnessEvery == 0 || t.plain.always
	}
	return x
}

// off leaves all to the server from now on; it reports whether something was not left to it.
func (x *plainly) off() bool {
	x.p = nil
	return x.some
}

func (x *plainly) answer(key string, q *history.Question) *history.Answer {
	if x.p == nil || x.witness {
		return nil
	}
	a := x.p.Answer(q)
	if a != nil {
		x.used[key], x.some = true, true
		x.counts.taken.Add(1)
	}
	return a
}

func (x *plainly) alone(q *history.Solo) *history.SoloAnswer {
	if x.p == nil || x.witness {
		return nil
	}
	a := x.p.Alone(q)
	if a != nil {
		x.some = true
		x.counts.taken.Add(1)
	}
	return a
}

// saysAlike is an error if the server answers a question otherwise than package plainsql computes.
func (x *plainly) saysAlike(q *history.Question, said *history.Answer) error {
	if !x.witness || x.p == nil {
		return nil
	}
	a := x.p.Answer(q)
	if a == nil || said.Open != "" {
		return nil
	}
	x.counts.compared.Add(1)
	if history.SameAnswer(&a.Result, &said.Result, false) && slices.EqualFunc(a.After, said.After, sameContents) {
		return nil
	}
	return disagrees(q.SQL, q.Tables, []history.Result{said.Result}, []history.Result{a.Result}, said.After, a.After)
}

// saysAlikeAlone is saysAlike for whole statements.
func (x *plainly) saysAlikeAlone(c *corpus.Case, q *history.Solo, said *history.SoloAnswer) error {
	if !x.witness || x.p == nil {
		return nil
	}
	a := x.p.Alone(q)
	if a == nil || said.Open != "" {
		return nil
	}
	x.counts.compared.Add(1)
	same := func(a, b history.Result) bool { return history.SameAnswer(&a, &b, false) }
	if slices.EqualFunc(a.Results, said.Results, same) &&
		slices.EqualFunc(a.After, said.After, sameContents) {
		return nil
	}
	texts := make([]string, len(q.Steps))
	for i, step := range q.Steps {
		texts[i] = corpus.SQL(c.Steps[step].Stmt, corpus.Text)
	}
	return disagrees(strings.Join(texts, "; "), q.Tables, said.Results, a.Results, said.After, a.After)
}

func disagrees(
	sql string, on []history.Table, server, own []history.Result, serverAfter, ownAfter []history.Table,
) error {
	return fmt.Errorf("%s on %s: the server answers %s and leaves %s, the plain solver says %s and %s",
		sql, inWords(on), describeAll(server), inWords(serverAfter), describeAll(own), inWords(ownAfter))
}

func describeAll(results []history.Result) string {
	var out []string
	for i := range results {
		r := &results[i]
		switch {
		case r.Err != nil:
			out = append(out, r.Err.String())
		case r.Columns != nil:
			out = append(out, fmt.Sprintf("%v%v", r.Columns, history.RowTexts(r.Rows)))
		default:
			out = append(out, fmt.Sprintf("%d rows", r.Affected))
		}
	}
	return strings.Join(out, "; ")
}

func inWords(tables []history.Table) string {
	var out []string
	for _, t := range tables {
		out = append(out, fmt.Sprintf("%s%v", t.Name, history.RowTexts(t.Rows)))
	}
	return strings.Join(out, " ")
}
