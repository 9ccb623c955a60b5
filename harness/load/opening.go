package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// Opening is how a transaction begins, and what may be undone of it.
type Opening string

// The ways of opening a transaction.
const (
	OpenBegin      Opening = "begin"
	OpenSnapshot   Opening = "snapshot"   // START TRANSACTION WITH CONSISTENT SNAPSHOT
	OpenReadOnly   Opening = "read-only"  // START TRANSACTION READ ONLY, and only reads
	OpenAutocommit Opening = "autocommit" // one statement without BEGIN
	OpenSavepoint  Opening = "savepoint"  // BEGIN, and later ROLLBACK TO SAVEPOINT
)

// opening is one of them: how often it is drawn, and where it is of use.
type opening struct {
	name   Opening
	weight int
	begin  string
	// except are the workloads whose transactions it would take apart.
	except []string
}

var openings = []opening{
	{OpenBegin, 5, "BEGIN", nil},
	{OpenSnapshot, 2, "START TRANSACTION WITH CONSISTENT SNAPSHOT", nil},
	{OpenReadOnly, 1, "START TRANSACTION READ ONLY", nil},
	{OpenAutocommit, 1, "", []string{"mini", "bank"}},
	{OpenSavepoint, 1, "BEGIN", []string{"mini", "bank", "predicate"}},
}

func named(name Opening) func(*opening) bool {
	return func(o *opening) bool { return o.name == name }
}

// openingOf returns that of a name, which there is.
func openingOf(name Opening) *opening {
	return &openings[slices.IndexFunc(openings, func(o opening) bool { return o.name == name })]
}

// ParseOpenings reads a list such as begin,snapshot; auto is nil.
func ParseOpenings(s string) ([]Opening, error) {
	if s == "auto" {
		return nil, nil
	}
	var out []Opening
	for _, name := range strings.Split(s, ",") {
		o := Opening(strings.TrimSpace(name))
		if !slices.ContainsFunc(openings, func(x opening) bool { return x.name == o }) {
			return nil, fmt.Errorf("unknown opening %q: want auto, or some of begin, snapshot, read-only, autocommit, "+
				"savepoint", name)
		}
		out = append(out, o)
	}
	return out, nil
}

// openingsFor returns what to draw from, each as often as its weight says. A consistent
// snapshot has an effect at REPEATABLE READ only, and PostgreSQL has none; asked for, that
// is an error.
func openingsFor(asked []Opening, workload string, dbms history.DBMS, level corpus.Level) ([]*opening, error) {
	var out []*opening
	for i := range openings {
		o := &openings[i]
		if asked != nil && !slices.Contains(asked, o.name) {
			continue
		}
		why := ""
		switch {
		case o.name != OpenBegin && dbms == adapted:
			why = "an adapter has one way to begin"
		case o.name == OpenSnapshot && dbms == history.PostgreSQL:
			why = "PostgreSQL has no WITH CONSISTENT SNAPSHOT"
		case o.name == OpenSnapshot && level != corpus.RepeatableRead:
			why = "WITH CONSISTENT SNAPSHOT has an effect at REPEATABLE READ only"
		case slices.Contains(o.except, workload):
			why = fmt.Sprintf("it would take the transactions of workload %s apart", workload)
		}
		switch {
		case why != "" && asked != nil:
			return nil, fmt.Errorf("opening %s: %s", o.name, why)
		case why == "":
			for range o.weight {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// plan is a transaction before it runs.
type plan struct {
	steps []step
	*opening
	// Before step save a savepoint is set; before step back, or at the end, all since
	// then is rolled back. Without a savepoint both are -1.
	save, back int
}

// draw makes the next transaction. It uses the steps of the one before again.
func (p *plan) draw(w workload, c *chooser, from []*opening) {
	p.opening, p.save, p.back = from[c.rand.IntN(len(from))], -1, -1
	p.steps = w.plan(p.steps[:0], c)
	for c.readsOnly && !p.onlyReads() {
		p.steps = w.plan(p.steps[:0], c)
	}
	if p.alone() && c.rand.IntN(4) > 0 && slices.ContainsFunc(from, named(OpenAutocommit)) {
		p.opening = openingOf(OpenAutocommit) // three times as many a second
	}
	switch p.name {
	case OpenReadOnly:
		if !p.onlyReads() {
			p.opening = &openings[0]
		}
	case OpenAutocommit:
		if !p.one(c) {
			p.opening = &openings[0]
		}
	case OpenSavepoint:
		// Not before the first statement: what InnoDB did since such a savepoint it rolls back as a whole, and
		// the next SELECT opens a new snapshot.
		if len(p.steps) > 1 {
			p.save = 1 + c.rand.IntN(len(p.steps)-1)
			// A row that is deleted to be inserted again is not left without that.
			for p.save > 0 && p.steps[p.save].guarded {
				p.save--
			}
			if p.save == 0 {
				p.save = -1
				break
			}
			p.back = p.save + 1 + c.rand.IntN(len(p.steps)-p.save)
			// What was locked for a write may be locked no more.
			for p.back < len(p.steps) && p.steps[p.back].guarded {
				p.back++
			}
		}
	}
}

// alone tells that all is one plain SELECT of several keys.
func (p *plan) alone() bool {
	return len(p.steps) == 1 && len(p.steps[0].also) > 0 && p.steps[0].lock == plain
}

// onlyReads leaves out all but plain reads, unless nothing is left then.
func (p *plan) onlyReads() bool {
	isWrite := func(s step) bool { return !s.kind.IsRead() }
	if !slices.ContainsFunc(p.steps, func(s step) bool { return s.kind.IsRead() }) {
		return false
	}
	p.steps = slices.DeleteFunc(p.steps, isWrite)
	for i := range p.steps {
		p.steps[i].lock = plain
	}
	return true
}

// one leaves a single step that stands for itself; a write behind a read of its key is
// none.
func (p *plan) one(c *chooser) bool {
	wrote := func(i int) bool {
		return slices.ContainsFunc(p.steps[:i], func(s step) bool { return s.kind.IsRead() && s.key == p.steps[i].key })
	}
	at := c.rand.IntN(max(1, len(p.steps)))
	for range p.steps {
		s := p.steps[at]
		if !s.guarded && (s.kind.IsRead() || s.kind == kv.Append || !wrote(at)) {
			p.steps = append(p.steps[:0], s)
			return true
		}
		at = (at + 1) % len(p.steps)
	}
	return false
}

// undo takes back what the running transaction wrote since an operation of it. Reads stay,
// unless they show what was taken back, or have locked what may be locked no more.
//
// What is taken back never happened for anybody else, so it stands in the history as a
// transaction of its own that has failed.
// https://www.postgresql.org/docs/current/sql-rollback-to.html
func (t *tape) undo(from int) {
	kept := from
	var wrote []kv.Value
	for i := from; i < len(t.ops); i++ {
		o := t.ops[i]
		switch {
		case !o.Kind.IsRead():
			wrote = append(wrote, o.Key)
			t.undone, t.howUndone = append(t.undone, o), append(t.howUndone, t.how[i])
			continue
		case t.how[i].lock != plain,
			o.Kind == kv.ReadPredicate && len(wrote) > 0,
			o.Kind != kv.ReadPredicate && slices.Contains(wrote, o.Key):
			continue
		}
		t.ops[kept], t.how[kept] = o, t.how[i]
		kept++
	}
	t.ops, t.how = t.ops[:kept], t.how[:kept]
}

// undoneSessions is added to the number of a session for what it took back, which
// overlaps its transactions in time.
const undoneSessions = 1 << 40
