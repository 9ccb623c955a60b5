package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// column holds what all patterns did on one server at one level.
type column struct {
	target   string
	server   history.Server
	level    corpus.Level
	patterns map[pattern.Family][]pattern.Pattern
	cells    map[pattern.Family][]cell // as patterns
}

// runTarget runs the patterns on one server, one case at a time.
func runTarget(ctx context.Context, target string, families []pattern.Family) ([]*column, error) {
	var out []*column
	var err error
	for _, f := range families {
		if out, err = runFamily(ctx, target, f, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runFamily adds the patterns of a family to the columns of a server, which the first
// family makes. Its tables are emptied before each case, so that nothing depends on
// what ran before: a deleted row that is still there can turn a wait into a deadlock.
// Where only counts of what came about are told, that would cost more than it is worth.
func runFamily(ctx context.Context, name string, f pattern.Family, out []*column) (_ []*column, err error) {
	t, err := target.Open(ctx, name, target.Options{Clean: f != pattern.ThreeItems})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if out == nil {
		for _, l := range t.Levels() {
			out = append(out, &column{
				target: t.Name, server: t.Server(), level: l,
				patterns: map[pattern.Family][]pattern.Pattern{}, cells: map[pattern.Family][]cell{},
			})
		}
	}
	list := pattern.Of(f)
	for i := range list {
		p := &list[i]
		c := p.Case()
		for _, col := range out {
			done, err := runCell(ctx, t, p, c, col.level)
			if err != nil {
				return nil, err
			}
			col.cells[f] = append(col.cells[f], done)
		}
	}
	for _, col := range out {
		col.patterns[f] = list
	}
	fmt.Fprintf(os.Stderr, "%s: %d patterns, %s, at each of %d levels\n", t.Name, len(list), f, len(out))
	return out, nil
}

// tellWrong names the cells that are not as they must be, and counts them.
func (c *column) tellWrong(w io.Writer) int {
	n := 0
	for _, f := range slices.Sorted(maps.Keys(c.cells)) {
		list := c.cells[f]
		for i := range list {
			for _, s := range list[i].wrong {
				fmt.Fprintf(w, "%s, %s: %s: %s\n", c.target, c.level.Short(), c.patterns[f][i].Name(), s)
			}
			if len(list[i].wrong) > 0 {
				n++
			}
		}
	}
	return n
}

// title is the head of the column.
func (c *column) title() string { return c.target + " " + c.level.Short() }
