package judging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/plainsql"
)

// Plain counts the answers of package plainsql that were taken without a question, and those that the server was
// asked for, too, and had to say the same.
type Plain struct{ Taken, Compared int64 }

// Disagreement is an answer of the server that is another one than txnfuzz computes: one of the two is wrong.
type Disagreement struct{ Why error }

func (d *Disagreement) Error() string { return d.Why.Error() }

func (d *Disagreement) Unwrap() error { return d.Why }

// plainly answers questions of which package plainsql knows the answer, which saves round trips. It is for one state
// of a judging.
type plainly struct {
	counts *Plain
	p      *plainsql.Case
	// witness says that the server is to be asked all the same.
	witness bool
	// some says that a question was answered so.
	some bool
}

func (j *Judging) plainly() *plainly { return newPlainly(j.c, j.h, j.o, &j.Plain) }

func newPlainly(c *corpus.Case, h *history.History, o Options, counts *Plain) *plainly {
	x := &plainly{counts: counts, p: &plainsql.Case{}}
	if o.Solver != ByServer && h.Server.DBMS == history.PostgreSQL {
		x.p, x.witness = plainsql.Of(c), o.Witness
	}
	return x
}

// off leaves all to the server from now on; it reports whether something was not left to it.
func (x *plainly) off() bool {
	x.p = &plainsql.Case{}
	return x.some
}

// answer is nil where the server is to be asked.
func (x *plainly) answer(q *history.Question) *history.Answer {
	if x.witness {
		return nil
	}
	a := x.p.Answer(q)
	if a != nil {
		x.some = true
		x.counts.Taken++
	}
	return a
}

// alone is answer for whole statements.
func (x *plainly) alone(q *history.Solo) *history.SoloAnswer {
	if x.witness {
		return nil
	}
	a := x.p.Alone(q)
	if a != nil {
		x.some = true
		x.counts.Taken++
	}
	return a
}

// saysAlike is an error if the server answers a question otherwise than package plainsql computes.
func (x *plainly) saysAlike(q *history.Question, said *history.Answer) error {
	if !x.witness || said.Open != "" {
		return nil
	}
	a := x.p.Answer(q)
	if a == nil {
		return nil
	}
	n, err := corpus.ParseStatement(q.SQL)
	if err != nil {
		return fmt.Errorf("read a question: %w", err)
	}
	return x.alike([]stmt.Kind{stmt.KindOf(n)}, q.SQL, q.Tables,
		&history.SoloAnswer{Results: []history.Result{said.Result}, After: said.After},
		&history.SoloAnswer{Results: []history.Result{a.Result}, After: a.After})
}

// saysAlikeAlone is saysAlike for whole statements.
func (x *plainly) saysAlikeAlone(c *corpus.Case, q *history.Solo, said *history.SoloAnswer) error {
	if !x.witness || said.Open != "" {
		return nil
	}
	a := x.p.Alone(q)
	if a == nil {
		return nil
	}
	kinds, texts := make([]stmt.Kind, len(q.Steps)), make([]string, len(q.Steps))
	for i, step := range q.Steps {
		kinds[i], texts[i] = stmt.KindOf(c.Steps[step].Stmt), corpus.SQL(c.Steps[step].Stmt, corpus.Text)
	}
	return x.alike(kinds, strings.Join(texts, "; "), q.Tables, said, a)
}

// alike compares what the server says to statements of some kinds on tables with what package plainsql computes.
func (x *plainly) alike(kinds []stmt.Kind, sql string, on []history.Table, server, own *history.SoloAnswer) error {
	x.counts.Compared++
	same := func(a, b history.Result) bool { return history.SameAnswer(&a, &b, false) }
	if slices.EqualFunc(own.Results, server.Results, same) && slices.EqualFunc(own.After, server.After, func(a, b history.Table) bool {
		return a.Name == b.Name && history.SameRows(a.Rows, b.Rows, false)
	}) {
		return nil
	}
	return fmt.Errorf("%s on %s: the server answers %s, txnfuzz %s",
		sql, tablesInWords(on), answerInWords(kinds, server), answerInWords(kinds, own))
}

func answerInWords(kinds []stmt.Kind, a *history.SoloAnswer) string {
	var out []string
	for i := range a.Results {
		out = append(out, history.Describe(kinds[i], &a.Results[i]))
	}
	return strings.Join(out, "; ") + " and leaves " + tablesInWords(a.After)
}

func tablesInWords(tables []history.Table) string {
	var out []string
	for _, t := range tables {
		rows := make([]string, len(t.Rows))
		for i, row := range t.Rows {
			rows[i] = history.RowText(row, history.Cell.String)
		}
		out = append(out, t.Name+": "+strings.Join(rows, " "))
	}
	return strings.Join(out, ", ")
}
