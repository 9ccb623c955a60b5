package pgsql_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	generated = flag.Int("cases", 300, "how many generated cases are printed")
	allTypes  = flag.Bool("alltypes", false, "generate tables of all types")
	computed  = flag.Int("computed", 0, "how many of 256 cases with a rarer statement have one for the server alone")
)

// badlyTyped are the errors of statements whose text is wrong: syntax error, datatype mismatch,
// undefined function, no such cast, and the like.
var badlyTyped = []string{"42601", "42804", "42883", "42846", "42P18", "42725", "42P08", "42P10", "42803", "0A000"}

// tally counts what happened to statements, and keeps an example of each.
type tally struct {
	n       int
	of      map[string]int
	example map[string]string
}

func (y *tally) add(what, example string) {
	if y.of == nil {
		y.of, y.example = map[string]int{}, map[string]string{}
	}
	if y.of[what]++; y.example[what] == "" {
		y.example[what] = example
	}
}

func (y *tally) sum() (n int) {
	for _, k := range y.of {
		n += k
	}
	return n
}

func (y *tally) String() string {
	var b strings.Builder
	most := func(a, b string) int { return cmp.Or(y.of[b]-y.of[a], strings.Compare(a, b)) }
	for _, what := range slices.SortedFunc(maps.Keys(y.of), most) {
		fmt.Fprintf(&b, "\n%6.2f %% %5d %s: %s", 100*float64(y.of[what])/float64(y.n), y.of[what], what, y.example[what])
	}
	return b.String()
}

// options are those that a campaign on MySQL gives the n-th input.
func options(n int) mutate.Options {
	o := mutate.Options{DBMS: history.MySQL, SkipLocked: true, AllTypes: *allTypes, Computed: *computed}
	if n%8 == 7 {
		o.NumTx = 3
	}
	if n%5 == 4 {
		o.Tables = 2
	}
	return o
}

// report is what happened to the statements of cases.
type report struct {
	*server
	// statements and cases cannot be said; setUp and errs are refused by the server.
	statements, cases, setUp, errs tally
	// wrong counts the errors of statements whose text is wrong.
	wrong int
}

// add prints a case, runs its set-up and lets the server analyse the rest, but for a case of which
// a table cannot be made.
func (r *report) add(c *corpus.Case) {
	r.must("BEGIN; CREATE SCHEMA one; SET LOCAL search_path = one")
	r.cases.n++
	first, tables := "", true
	for i, l := range slices.Concat(c.Init, c.Steps) {
		init := i < len(c.Init)
		r.statements.n++
		mysql := corpus.SQL(l.Stmt, corpus.MySQL)
		sql, err := corpus.Format(l.Stmt, corpus.PostgreSQL)
		var unsayable *pgsql.UnsayableError
		switch {
		case errors.As(err, &unsayable):
			r.statements.add(unsayable.What, mysql)
			first = cmp.Or(first, unsayable.What)
			_, table := l.Stmt.(*ast.CreateTableStmt)
			tables = tables && !(init && table)
		case err != nil:
			r.Fatalf("%s: %v", mysql, err)
		case !tables || stmt.KindOf(l.Stmt).OfSession():
		case init:
			r.setUp.n++
			if err := r.try(sql, true); err != nil {
				r.setUp.add(sqlState(r.T, err), fmt.Sprintf("%s: %v", sql, err))
			}
		default:
			r.errs.n++
			if defines(sql) {
				err = r.try(sql, true)
			} else {
				err = r.prepare(sql)
			}
			if err != nil {
				state := sqlState(r.T, err)
				r.errs.add(state, fmt.Sprintf("%s: %v\n\t\t\tfor %s", sql, err, mysql))
				if slices.Contains(badlyTyped, state) {
					r.wrong++
				}
			}
		}
	}
	if first != "" {
		r.cases.add(first, corpus.ID(c))
	}
	r.must("ROLLBACK")
}

// end tells what was seen. At most such a share of the statements is badly typed, in percent, and
// half of all can be said.
func (r *report) end(most int) {
	r.Helper()
	r.Logf("%d statements of %d cannot be said:%v", r.statements.sum(), r.statements.n, &r.statements)
	r.Logf("%d cases of %d cannot be said:%v", r.cases.sum(), r.cases.n, &r.cases)
	r.Logf("%d statements of %d of set-ups fail:%v", r.setUp.sum(), r.setUp.n, &r.setUp)
	r.Logf("%d statements of %d fail:%v", r.errs.sum(), r.errs.n, &r.errs)
	if 2*r.errs.n < r.statements.n {
		r.Errorf("only %d statements of %d were analysed", r.errs.n, r.statements.n)
	}
	if 100*r.wrong > most*r.errs.n {
		r.Errorf("%d of %d statements are badly typed", r.wrong, r.errs.n)
	}
}

// TestGenerated prints generated cases and lets a server analyse what can be said of them.
func TestGenerated(t *testing.T) {
	r := &report{server: startServer(t)}
	for n := range *generated {
		r.add(mutate.Generate(mutate.NewBytes(mutate.InputOf(uint64(n), mutate.InputLen)), options(n)))
	}
	r.end(1)
}

// TestConstrained does the same with cases whose tables watch over each other.
func TestConstrained(t *testing.T) {
	r := &report{server: startServer(t)}
	for n := range *generated {
		r.add(mutate.Constrained(uint64(n), options(n)))
	}
	r.end(1)
}

// TestStored does the same with the stored cases, some of which are about values of the wrong type.
func TestStored(t *testing.T) {
	r := &report{server: startServer(t)}
	for _, folder := range []string{"known", "found", "audit", "workloads"} {
		list, err := corpus.LoadAny("../" + folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range list {
			r.add(stored.Case)
		}
	}
	r.end(2)
}
