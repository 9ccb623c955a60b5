package pattern

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Case returns the pattern as a case on one table t(k, v). Row x has the key 1, y 2,
// z 3. Every value that is written is unique, so that a reader sees whose write it
// read: the tens tell the row, the units are 0 at first and else the transaction, plus
// 3 at its second write. A transaction begins directly before its first operation, so
// that servers which take a snapshot at BEGIN have it at the same place as those which
// take it at the first read.
func (p *Pattern) Case() *corpus.Case {
	c := &corpus.Case{}
	c.Set("source", fmt.Sprintf("pattern %s (%s)", p.Name(), p.Kind))
	add := func(to *[]corpus.Line, session int, sql string) {
		*to = append(*to, corpus.Line{Session: session, Stmt: statement(sql)})
	}
	add(&c.Init, corpus.InitSession, "CREATE TABLE t (k INT PRIMARY KEY, v INT)")
	add(&c.Init, corpus.InitSession, "INSERT INTO t VALUES "+strings.Join(p.initial(), ", "))
	for i, o := range p.Ops {
		if p.begins(i) {
			add(&c.Steps, o.Txn, "BEGIN")
		}
		add(&c.Steps, o.Txn, p.sql(i))
	}
	return c
}

// Line returns the place, among the case's steps, of an operation.
func (p *Pattern) Line(op int) int {
	line := op
	for i := range p.Ops[:op+1] {
		if p.begins(i) {
			line++
		}
	}
	return line
}

func (p *Pattern) begins(op int) bool {
	return !slices.ContainsFunc(p.Ops[:op], func(o Op) bool { return o.Txn == p.Ops[op].Txn })
}

// statement parses SQL of our own; that it is none is an error in this package.
func statement(sql string) ast.StmtNode {
	s, err := corpus.ParseStatement(sql)
	if err != nil {
		panic(fmt.Sprintf("pattern: %s: %v", sql, err))
	}
	return s
}

const (
	bound    = 100 // conditions choose rows from here on
	resident = 190 // of a row that the condition chooses all the time
)

// Effect is what a write does to a row, as a read shows it.
type Effect struct {
	Key, Value int
	// Gone says that the condition does not choose the row of this key any more.
	Gone bool
}

// Effect returns what a write does.
func (p *Pattern) Effect(op int) Effect {
	o := p.Ops[op]
	n := p.crossing(op)
	switch o.Do {
	case Write:
		row, earlier := int(o.Item-'x')+1, 0
		for _, e := range p.Ops[:op] {
			if e == o {
				earlier++
			}
		}
		return Effect{Key: row, Value: 10*row + o.Txn + 3*earlier}
	case Insert, Enter:
		return Effect{Key: 10 + n, Value: bound + 10*n + o.Txn}
	case Delete, Leave:
		return Effect{Key: 10 + n, Gone: true}
	case MoveIn:
		return Effect{Key: bound + n, Value: outside(n)}
	default:
		return Effect{Key: bound + n, Gone: true}
	}
}

// crossing counts, up to an operation, the writes that change what the condition
// chooses; each has a row of its own.
func (p *Pattern) crossing(op int) int {
	n := 0
	for _, o := range p.Ops[:op+1] {
		if slices.Contains(crossings, o.Do) {
			n++
		}
	}
	return n
}

func outside(n int) int { return 40 + 10*n }

func (p *Pattern) initial() []string {
	var out []string
	row := func(k, v int) {
		if s := fmt.Sprintf("(%d, %d)", k, v); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for item := byte('x'); item <= 'z'; item++ {
		if slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Item == item }) {
			n := int(item-'x') + 1
			row(n, 10*n)
		}
	}
	for i, o := range p.Ops {
		n := p.crossing(i)
		switch o.Do {
		case Delete, Leave:
			row(10+n, bound+10*n)
		case Enter, MoveIn:
			row(10+n, outside(n))
		case MoveOut:
			row(bound+n, outside(n))
		}
	}
	switch {
	case !slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Item == Condition }):
	case p.overKey():
		row(resident, 90)
	default:
		row(19, resident)
	}
	return out
}

// Chosen counts the rows that the condition chooses at first.
func (p *Pattern) Chosen() int {
	n := 1
	for _, o := range p.Ops {
		if o.Do == Delete || o.Do == Leave || o.Do == MoveOut {
			n++
		}
	}
	return n
}

func (p *Pattern) sql(op int) string {
	o, n := p.Ops[op], p.crossing(op)
	where := "v"
	if p.overKey() {
		where = "k"
	}
	where = fmt.Sprintf("%s >= %d", where, bound)
	if o.Item != Condition {
		where = fmt.Sprintf("k = %d", int(o.Item-'x')+1)
	}
	switch o.Do {
	case Commit:
		return "COMMIT"
	case Abort:
		return "ROLLBACK"
	case Read:
		return "SELECT * FROM t WHERE " + where
	case Update:
		return "UPDATE t SET v = v + 1000 WHERE " + where
	case Insert:
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", p.Effect(op).Key, p.Effect(op).Value)
	case Delete:
		return fmt.Sprintf("DELETE FROM t WHERE k = %d", 10+n)
	case Leave:
		return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", outside(n)+o.Txn, 10+n)
	case MoveIn:
		return fmt.Sprintf("UPDATE t SET k = %d WHERE k = %d", bound+n, 10+n)
	case MoveOut:
		return fmt.Sprintf("UPDATE t SET k = %d WHERE k = %d", 10+n, bound+n)
	default: // Write, Enter
		return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", p.Effect(op).Value, p.Effect(op).Key)
	}
}
