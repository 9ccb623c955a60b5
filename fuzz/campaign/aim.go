package campaign

import (
	"fmt"
	"slices"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

// aim is the pattern that the cases of an input are to show, and the level at which.
type aim struct {
	pattern *pattern.Pattern
	level   corpus.Level
}

// narrow makes the generator's options those of the aim; nil changes nothing. There is one
// order, since every other is not the pattern's.
func (a *aim) narrow(o *mutate.Options) {
	if a == nil || o.Conflict != mutate.Pattern {
		return
	}
	o.Pattern, o.Orders = a.pattern, 1
	if slices.Contains(o.Levels, a.level) {
		o.Levels = []corpus.Level{a.level}
	}
}

// text is the end of a header line `input`: the bytes alone do not make the case again.
func (a *aim) text() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf(", pattern %s at %s", a.pattern.Name(), a.level.Short())
}

// aimOf reads the aim of a kept input off its header; nil: it has none.
func aimOf(c *corpus.Case) (*aim, error) {
	name, ok := c.Get(keyPattern)
	if !ok {
		return nil, nil
	}
	n, ok := catalog().at[name]
	if !ok {
		return nil, fmt.Errorf("no pattern is called %q", name)
	}
	a := &aim{pattern: catalog().all[n]}
	for _, s := range c.Sessions() {
		if l, ok := c.LevelOf(s); ok {
			a.level = l
			break
		}
	}
	return a, nil
}

// patternList holds all patterns, those of two transactions first.
type patternList struct {
	all   []*pattern.Pattern
	names []string
	at    map[string]int // by name
	short int            // how many have two transactions
}

// catalog is all patterns of the generator.
var catalog = sync.OnceValue(func() *patternList {
	l := &patternList{at: map[string]int{}}
	for _, transactions := range []int{2, 3} {
		list := mutate.Patterns(transactions)
		for i := range list {
			name := list[i].Name()
			l.at[name] = len(l.all)
			l.all, l.names = append(l.all, &list[i]), append(l.names, name)
		}
		if transactions == 2 {
			l.short = len(l.all)
		}
	}
	return l
})
