package mutate

import "github.com/txnfuzz/txnfuzz/corpus"

// Out of 256.
const storedOdds = 100

// FromInput decodes an input into cases that differ in their submitted order,
// at least one and at most Options.Orders: fresh transactions, or changed ones
// of an entry of the corpus. The entries are left as they are; which of them is
// chosen depends on their sequence. It is the one way from an input to cases,
// for fuzzing and for seeded runs alike.
func FromInput(data []byte, entries []*corpus.Case, opts Options) []*corpus.Case {
	cases, _ := FromInputWoven(data, entries, opts)
	return cases
}

// FromInputWoven is FromInput, and says where the first case follows a pattern; nil: it
// follows none.
func FromInputWoven(data []byte, entries []*corpus.Case, opts Options) ([]*corpus.Case, *Weaving) {
	o := opts.withDefaults()
	src := NewBytes(data)
	plan := on(src, PlanLane)
	var d *draft
	if stored := plan.odds(storedOdds); stored && len(entries) > 0 {
		d = edited(src, plan, entries, o)
	}
	// The entries are not bent until they carry a pattern: what is made afresh mostly does.
	if d == nil || o.Pattern != nil && !d.carries(o.Pattern) {
		d = fresh(src, o)
	}
	cases := d.ordered(src, o, o.Orders)
	return cases, d.weaving(cases[0])
}

// Mutate makes a changed copy of a case: structural edits, then conflict
// construction, then an order. The transactions of others over the same tables
// may be spliced in. The result shares statements with its origin; neither may
// be changed without cloning it first.
func Mutate(src Source, c *corpus.Case, others []*corpus.Case, opts Options) *corpus.Case {
	o := opts.withDefaults()
	d := draftOf(c)
	d.edit(src, others, o)
	return d.ordered(src, o, 1)[0]
}

// edited chooses an entry and changes it.
func edited(src Source, plan *choices, entries []*corpus.Case, o *Options) *draft {
	d := draftOf(entries[plan.below(min(len(entries), 1<<16))])
	d.edit(src, entries, o)
	return d
}
