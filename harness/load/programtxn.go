package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// programTxn is one transaction of a program. The key of a step is counted from the first one of the execution. The
// value of a write is drawn when it runs; of a row that a condition may meet it is its class here, of a Delta what is
// added.
type programTxn struct {
	steps      []step
	opening    Opening
	rolledBack bool
	// A savepoint is set before step save, and all since then is rolled back before step back, or at the end. Both are 0
	// where there is none: no savepoint stands before the first step.
	save, back int
}

// openingWords are how a program's transactions begin. A statement that is sent alone has no such line, and a
// transaction with a savepoint begins as any other one.
var openingWords = map[string]Opening{"begin": OpenBegin, "begin snapshot": OpenSnapshot, "begin read-only": OpenReadOnly}

const (
	savepointWord = "savepoint"
	backWord      = "rollback to savepoint"
)

// spell writes the lines of a transaction.
func (t *programTxn) spell(b *strings.Builder, kind kv.Workload) {
	if t.opening == OpenAutocommit {
		fmt.Fprintf(b, "  %s\n", spellStep(nil, kind, t.steps[0]))
		return
	}
	begin := "begin"
	for words, o := range openingWords {
		if o == t.opening {
			begin = words
		}
	}
	fmt.Fprintf(b, "  %s\n", begin)
	for i := range len(t.steps) + 1 {
		if t.save > 0 && i == t.save {
			fmt.Fprintf(b, "  %s\n", savepointWord)
		}
		if t.save > 0 && i == t.back {
			fmt.Fprintf(b, "  %s\n", backWord)
		}
		if i < len(t.steps) {
			fmt.Fprintf(b, "  %s\n", spellStep(nil, kind, t.steps[i]))
		}
	}
	if t.rolledBack {
		b.WriteString("  rollback\n")
	} else {
		b.WriteString("  commit\n")
	}
}

// transaction reads a line of a transaction. A statement outside of one is a transaction of its own.
func (r *programReader) transaction(l string) error {
	txns := &r.p.clients[len(r.p.clients)-1]
	l = strings.Join(strings.Fields(l), " ")
	if o, ok := openingWords[l]; ok {
		if r.open {
			return fmt.Errorf("%q: the transaction before has no commit or rollback", l)
		}
		*txns, r.open = append(*txns, programTxn{opening: o}), true
		return nil
	}
	ends := l == "commit" || l == "rollback"
	if (ends || l == savepointWord || l == backWord) && !r.open {
		return fmt.Errorf("%q: there is no transaction; one is begin, its statements, and commit or rollback", l)
	}
	if !r.open {
		s, err := parseStep(r.kind, l)
		if err == nil {
			*txns = append(*txns, programTxn{opening: OpenAutocommit, steps: []step{s}})
		}
		return err
	}
	last := &(*txns)[len(*txns)-1]
	switch {
	case ends && len(last.steps) == 0:
		return errors.New("a transaction without statements")
	case ends && last.save > 0 && last.back == 0:
		return fmt.Errorf("the transaction has a savepoint, but no %s", backWord)
	case ends:
		last.rolledBack, r.open = l == "rollback", false
		return nil
	case l == savepointWord:
		return last.setSavepoint()
	case l == backWord:
		return last.goBack()
	}
	s, err := parseStep(r.kind, l)
	if err != nil {
		return err
	}
	last.steps = append(last.steps, s)
	return nil
}

func (t *programTxn) setSavepoint() error {
	switch {
	case t.opening == OpenReadOnly:
		return errors.New("a read-only transaction has nothing to roll back to a savepoint")
	case t.save > 0:
		return errors.New("a transaction has one savepoint at most")
	case len(t.steps) == 0:
		return errors.New("a savepoint before the first statement: InnoDB rolls its whole transaction back to one, and " +
			"the next SELECT opens a new snapshot")
	}
	t.save = len(t.steps)
	return nil
}

func (t *programTxn) goBack() error {
	switch {
	case t.save == 0:
		return fmt.Errorf("%s: there is none", backWord)
	case t.back > 0:
		return errors.New("a transaction rolls back to its savepoint once at most")
	case t.save == len(t.steps):
		return fmt.Errorf("%s: no statement stands behind the savepoint", backWord)
	}
	t.back = len(t.steps)
	return nil
}

// without leaves out a step. A savepoint behind which nothing is left, or before which, goes as well.
func (t *programTxn) without(at int) {
	t.steps = slices.Delete(t.steps, at, at+1)
	if at < t.save {
		t.save--
	}
	if at < t.back {
		t.back--
	}
	if t.save == 0 || t.save == t.back {
		t.save, t.back = 0, 0
	}
}

// merge makes one key of two.
func (s *step) merge(from, to kv.Value) {
	if s.key == from {
		s.key = to
	}
	if i := slices.Index(s.also, from); i >= 0 {
		s.also[i] = to
	}
	var also []kv.Value
	for _, k := range s.also {
		if k != s.key {
			also = with(also, k)
		}
	}
	s.also = also
}

// uses returns the openings of which it is one.
func (t *programTxn) uses() []Opening {
	if t.save > 0 {
		return []Opening{t.opening, OpenSavepoint}
	}
	return []Opening{t.opening}
}

// valid tells what a workload does not allow its transactions.
func (t *programTxn) valid(workload string) error {
	for _, name := range t.uses() {
		if o := openingOf(name); slices.Contains(o.except, workload) {
			what := string(name)
			if name == OpenAutocommit {
				what = "a statement without begin"
			}
			return fmt.Errorf("%s would take the transactions of workload %s apart", what, workload)
		}
	}
	if t.opening == OpenReadOnly {
		for _, s := range t.steps {
			if !s.kind.IsRead() || s.lock != plain {
				return errors.New("a read-only transaction has plain reads only")
			}
		}
	}
	return nil
}

// openings returns those that the transactions of a program use.
func (p *Program) openings() []Opening {
	var out []Opening
	for _, c := range p.clients {
		for i := range c {
			for _, o := range c[i].uses() {
				if !slices.Contains(out, o) {
					out = append(out, o)
				}
			}
		}
	}
	return out
}

// simpler returns the same transaction with BEGIN instead of what has more effect, the strongest change first. What is
// sent without BEGIN is as simple as can be.
func (t *programTxn) simpler() []programTxn {
	var out []programTxn
	if t.save > 0 {
		x := *t // what was undone is not done at all
		x.steps, x.save, x.back = slices.Delete(slices.Clone(t.steps), t.save, t.back), 0, 0
		y := *t // what was undone stays
		y.save, y.back = 0, 0
		out = append(out, x, y)
	}
	if t.opening == OpenSnapshot || t.opening == OpenReadOnly {
		x := *t
		x.opening = OpenBegin
		out = append(out, x)
	}
	return out
}
