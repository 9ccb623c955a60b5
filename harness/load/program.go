package load

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// Program is a few clients with a few statements, which are run again and again to show an anomaly more often than a
// whole load does. One time is an execution: all clients begin together, on keys that no other execution has.
type Program struct {
	Target   string
	Level    corpus.Level
	Workload string
	// Protocol is how its statements are sent.
	Protocol protocol.Protocol
	// Models are checked or, where none are named, what Declared says, a name of package oracle/promise, or what the
	// server's documentation promises.
	Models   []model.Model
	Declared string
	// Bystanders are as those of Settings.
	Bystanders int
	// Shows is the kind of anomaly that it is about.
	Shows string
	// Rate is how often it showed that; the zero value: nobody knows.
	Rate Rate
	// Load is how often the load did that it was made of, by transactions instead of executions.
	Load Rate

	clients [][]programTxn
	// update: a draft of an update beside one write. What it shows has another name where those who saw it are left out.
	update bool
}

// Rate is how often something was seen.
type Rate struct {
	Shown   int64   `json:"shown"`
	Of      int64   `json:"of"` // executions or, of a load, transactions
	Seconds float64 `json:"seconds"`
}

// OneIn is the number of executions, or transactions, of which one shows it; +Inf: none did.
func (r Rate) OneIn() float64 {
	if r.Shown == 0 {
		return math.Inf(1)
	}
	return float64(r.Of) / float64(r.Shown)
}

// spellOneIn spells a OneIn to people: exactly where it is small.
func spellOneIn(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// spell tells a rate to people; what are executions or transactions.
func (r Rate) spell(what string) string {
	if r.Shown == 0 {
		return fmt.Sprintf("0 of %d %s in %.1f s", r.Of, what, r.Seconds)
	}
	return fmt.Sprintf("1 in %s %s (%d of %d in %.1f s)", spellOneIn(r.OneIn()), what, r.Shown, r.Of, r.Seconds)
}

// OneInTransactions is its rate beside that of a load: the number of its transactions of which one shows the anomaly.
func (p *Program) OneInTransactions() float64 {
	_, transactions, _ := p.size()
	return p.Rate.OneIn() * float64(transactions)
}

// size counts clients, transactions and statements.
func (p *Program) size() (clients, transactions, statements int) {
	for _, c := range p.clients {
		transactions += len(c)
		for _, t := range c {
			statements += len(t.steps)
		}
	}
	return len(p.clients), transactions, statements
}

// Describe is its size in words.
func (p *Program) Describe() string {
	c, t, s := p.size()
	return fmt.Sprintf("%s, %s, %s",
		spelling.Count(c, "client"), spelling.Count(t, "transaction"), spelling.Count(s, "statement"))
}

// keys returns those that it names, in order.
func (p *Program) keys() []kv.Value {
	var out []kv.Value
	p.eachStep(func(s *step) {
		if s.kind == kv.ReadPredicate {
			return
		}
		for _, k := range s.also {
			out = with(out, k)
		}
		last := s.key
		if s.whole {
			last = s.val
		}
		for k := s.key; k <= last; k++ {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	})
	slices.Sort(out)
	return out
}

func (p *Program) eachStep(do func(*step)) {
	for _, c := range p.clients {
		for _, t := range c {
			for i := range t.steps {
				do(&t.steps[i])
			}
		}
	}
}

// clone copies what a reduction changes.
func (p *Program) clone() *Program {
	q := *p
	q.clients = nil
	for _, c := range p.clients {
		var txns []programTxn
		for _, t := range c {
			t.steps = slices.Clone(t.steps)
			for i := range t.steps {
				t.steps[i].also = slices.Clone(t.steps[i].also)
			}
			txns = append(txns, t)
		}
		q.clients = append(q.clients, txns)
	}
	return &q
}

// tidied leaves out transactions without steps and clients without transactions.
func (p *Program) tidied() *Program {
	for i := range p.clients {
		p.clients[i] = slices.DeleteFunc(p.clients[i], func(t programTxn) bool { return len(t.steps) == 0 })
	}
	p.clients = slices.DeleteFunc(p.clients, func(c []programTxn) bool { return len(c) == 0 })
	return p
}

// same tells whether two programs do the same.
func (p *Program) same(q *Program) bool { return p.Bystanders == q.Bystanders && p.body() == q.body() }

// residue is the number by which keys must be moved by a multiple to stay what they are: whether a row is there at
// first, and which conditions it meets, depends on the remainder.
func residue(kind kv.Workload) kv.Value {
	if kind == kv.Predicate || kind == kv.Bank {
		return 2 * classes
	}
	return 4 // isAbsent
}

// stride is how far apart the keys of two executions are.
func (p *Program) stride(kind kv.Workload) kv.Value {
	if kind == kv.Bank {
		return accounts
	}
	r, last := residue(kind), kv.Value(0)
	if keys := p.keys(); len(keys) > 0 {
		last = keys[len(keys)-1]
	}
	return (last/r + 1) * r
}

// body is the text of its clients.
func (p *Program) body() string {
	var b strings.Builder
	w := workloads[p.Workload]
	for i, c := range p.clients {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "client %d\n", i+1)
		for _, t := range c {
			t.spell(&b, w.kind())
		}
	}
	return b.String()
}

// valid tells what makes a program one whose histories cannot be judged: it would show anomalies on a sound server.
func (p *Program) valid() error {
	kind := workloads[p.Workload].kind()
	if keys := p.keys(); len(keys) > 0 && (keys[0] < 0 || keys[len(keys)-1] >= mostKeys) {
		return fmt.Errorf("keys are numbers from 0 to %d", mostKeys-1)
	} else if kind == kv.Bank && len(keys) > 0 && (keys[0] < 1 || keys[len(keys)-1] > accounts) {
		return fmt.Errorf("accounts are numbered from 1 to %d", accounts)
	}
	changed := map[kv.Value]bool{}
	for _, c := range p.clients {
		for _, t := range c {
			if err := t.valid(p.Workload); err != nil {
				return err
			}
			sum := kv.Value(0)
			for _, s := range t.steps {
				switch {
				case s.kind == kv.Delta:
					sum += s.val
				case kind != kv.Predicate || s.kind.IsRead():
				case changed[s.key]:
					return fmt.Errorf("key %d is changed twice: of workload predicate the order of versions is known only if "+
						"each key is changed at most once", s.key)
				case (s.key%2 != 0) != (s.kind == kv.Insert):
					return fmt.Errorf("key %d: rows of odd keys are inserted, those of even ones are there at first", s.key)
				default:
					changed[s.key] = true
				}
			}
			if sum != 0 {
				return fmt.Errorf("what a transaction adds to accounts must come to 0, so that the total stays; one adds %d", sum)
			}
		}
	}
	return nil
}
