package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// cell is what one arm did with one seed on one target, a line of cells.jsonl.
type cell struct {
	Target string `json:"target"`
	// Later names a measurement that was made later and has tables of its own;
	// empty: the first.
	Later string `json:"later,omitempty"`
	Arm   string `json:"arm"`
	Seed  int    `json:"seed"`
	// Seconds is the time that was given, the start of the server included.
	Seconds int       `json:"seconds"`
	Done    time.Time `json:"done"`
	// Ends is how often the arm ended before its time and was started again.
	Ends  int `json:"ends,omitempty"`
	Cases int `json:"cases"`
	// Behaviours counts the classes of the signal, without the shapes of plans.
	Behaviours int `json:"behaviours"`
	// Curve holds the behaviours at the end of each tenth of the time.
	Curve []int `json:"curve"`
	// ByCases holds the behaviours after each caseStep cases, which does not depend
	// on how busy the machine was.
	ByCases []int `json:"by_cases,omitempty"`
	// Deviations and Violations map rules and kinds to the second in which a
	// verdict named one first.
	Deviations map[string]float64 `json:"deviations"`
	Violations map[string]float64 `json:"violations"`
	// Covered and Statements count the statements of the packages of
	// scripts/covered.txt; both 0 for a server outside of the process, and where
	// the engine killed its process before it could write them.
	Covered    int `json:"covered,omitempty"`
	Statements int `json:"statements,omitempty"`
}

func (c *cell) String() string { return fmt.Sprintf("%s on %s, seed %d", c.Arm, c.Target, c.Seed) }

func readCells(path string) ([]cell, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was measured: %w", err)
	}
	var out []cell
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var c cell
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("read what was measured: %s:%d: %w", path, i+1, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func appendCell(path string, c *cell) error {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// grid says which cells there are.
type grid struct {
	seeds            int
	embedded, server time.Duration
	target, later    string
	only             []string
}

// cells lists them, seed by seed, so that a grid that was stopped has the same
// number of seeds for all, or one more.
func (g *grid) cells() []cell {
	var out []cell
	add := func(name, arm string, seed int, d time.Duration) {
		if d > 0 && (g.only == nil || slices.Contains(g.only, arm)) {
			out = append(out, cell{Target: name, Later: g.later, Arm: arm, Seed: seed, Seconds: int(d.Seconds())})
		}
	}
	for seed := 1; seed <= g.seeds; seed++ {
		for _, arm := range arms {
			if arm != startAlone || seed == 1 {
				add(target.Default, arm, seed, g.embedded)
			}
		}
		for _, arm := range everywhere {
			add(g.target, arm, seed, g.server)
		}
	}
	return out
}

// left are the cells that are not among those that are done.
func (g *grid) left(done []cell) []cell {
	return slices.DeleteFunc(g.cells(), func(c cell) bool {
		return slices.ContainsFunc(done, func(d cell) bool {
			return d.Target == c.Target && d.Later == c.Later && d.Arm == c.Arm && d.Seed == c.Seed
		})
	})
}

func (g *grid) run(ctx context.Context, where string) error {
	done, err := readCells(cellsFile)
	if err != nil {
		return err
	}
	todo := g.left(done)
	if len(todo) == 0 {
		fmt.Fprintln(os.Stderr, "every cell is done")
		return nil
	}
	b, err := build(ctx, where)
	if err != nil {
		return err
	}
	for i := range todo {
		c := &todo[i]
		fmt.Fprintf(os.Stderr, "%s %s (%d of %d)\n", time.Now().UTC().Format(time.TimeOnly), c, i+1, len(todo))
		if err := c.run(ctx, b); err != nil {
			return err
		}
		if err := appendCell(cellsFile, c); err != nil {
			return err
		}
	}
	return nil
}

// run fills in what an arm does; its folder stays if it cannot be measured.
func (c *cell) run(ctx context.Context, b *binaries) error {
	dir, err := os.MkdirTemp("", "txnfuzz-ablation-*")
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	if c.Ends, err = b.work(ctx, c, dir, time.Duration(c.Seconds)*time.Second); err != nil {
		return err
	}
	if err := c.measure(ctx, dir); err != nil {
		return fmt.Errorf("%s: %w; see %s", c, err, dir)
	}
	c.Done = time.Now().UTC().Truncate(time.Second)
	return os.RemoveAll(dir)
}
