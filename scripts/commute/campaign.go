package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/commute"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// tally counts what came of the swaps.
type tally struct {
	mu    sync.Mutex
	begun time.Time
	cases int
	count map[result]int
	why   map[commute.Reason]int
	rules map[string]int
	// verdicts counts what the other judges say of the runs, which cost little beside them;
	// contradictions those in which the graph has something against what is right by the
	// rules.
	verdicts       map[oracle.Outcome]int
	contradictions int
	err            error
}

func newTally() *tally {
	return &tally{begun: time.Now(), count: map[result]int{}, why: map[commute.Reason]int{}, rules: map[string]int{}, verdicts: map[oracle.Outcome]int{}}
}

// compared is how many swaps were judged: those whose waits are the same.
func (s *tally) compared() int {
	return s.count[equal] + s.count[byChance] + s.count[byRule] + s.count[unexplained]
}

func (s *tally) line() string {
	return fmt.Sprintf("%d cases, %d swaps compared (%d: %s; %d: %s), %d not since waits or victims differ; %d differ by chance, %d under a known deviation, %d unexplained",
		s.cases, s.compared(), s.why[commute.DisjointTables], commute.DisjointTables, s.why[commute.OpenSnapshot], commute.OpenSnapshot,
		s.count[waitsDiffer], s.count[byChance], s.count[byRule], s.count[unexplained])
}

func (s *tally) byRules() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.rules)) {
		fmt.Fprintf(&b, "%6d under %s\n", s.rules[name], name)
	}
	return b.String()
}

// judge lets the other judges look at a run.
func (s *tally) judge(c *corpus.Case, h *history.History) oracle.Verdict {
	v := oracle.Judge(c, h, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verdicts[v.Outcome]++
	if v.Oracle != "" {
		s.contradictions++
	}
	return v
}

func (s *tally) judged() string {
	n := 0
	for _, k := range s.verdicts {
		n += k
	}
	return fmt.Sprintf("%d runs judged by rules and graph: %d ok, %d known, %d unknown, %d violations, of which %d by the graph alone",
		n, s.verdicts[oracle.OK], s.verdicts[oracle.Known], s.verdicts[oracle.Unknown], s.verdicts[oracle.Violation], s.contradictions)
}

// everyReport is how often progress is told.
const everyReport = 10 * time.Second

// campaign runs cases and their swaps until enough were compared.
func (o *options) campaign(ctx context.Context, t *target.Target, progress io.Writer) (*tally, error) {
	sum := newTally()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range o.workers {
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := o.one(ctx, t, next.Add(1), sum); err != nil {
					sum.mu.Lock()
					sum.err = errors.Join(sum.err, err)
					sum.mu.Unlock()
				}
				sum.mu.Lock()
				if sum.err != nil || sum.compared() >= o.swaps {
					stop()
				}
				sum.mu.Unlock()
			}
		})
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		tick := time.NewTicker(everyReport)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				sum.mu.Lock()
				fmt.Fprintf(progress, "%s: %s, %s\n", t.Name, sum.line(), time.Since(sum.begun).Round(time.Second))
				sum.mu.Unlock()
			}
		}
	}()
	workers.Wait()
	stop()
	<-told
	if sum.err == nil && sum.compared() < o.swaps {
		sum.err = fmt.Errorf("run swaps: %w", context.Canceled)
	}
	return sum, sum.err
}

// reorders is how often a case is put into the order in which its statements returned.
// Nearly all cases wait as they are made, and beside a wait nothing may be swapped.
const reorders = 2

// asReturned returns a case with its statements in the order in which they returned, nil if
// that is the order of the case, or a statement never returned.
func asReturned(c *corpus.Case, h *history.History) *corpus.Case {
	stmts := slices.Clone(h.Stmts)
	slices.SortStableFunc(stmts, func(a, b history.Stmt) int { return cmp.Compare(a.Return, b.Return) })
	if len(stmts) != len(c.Steps) || slices.ContainsFunc(stmts, func(s history.Stmt) bool { return s.Return == 0 }) ||
		slices.IsSortedFunc(stmts, func(a, b history.Stmt) int { return cmp.Compare(a.Line, b.Line) }) {
		return nil
	}
	out := c.Clone()
	for i := range stmts {
		out.Steps[i] = c.Steps[stmts[i].Line]
	}
	return out
}

// one runs the n-th case and some of its swaps.
func (o *options) one(ctx context.Context, t *target.Target, n uint64, sum *tally) error {
	server := t.Server()
	c := generate(o.seed, n, &server, t.Levels())
	levels := target.LevelsFor(c, corpus.RepeatableRead)
	return o.swapsOf(ctx, func(ctx context.Context, c *corpus.Case) (*history.History, error) {
		r := t.Run(ctx, c, levels)
		if r.Dead != nil {
			return nil, fmt.Errorf("run case %d: %w", n, r.Dead)
		}
		if r.Err != nil {
			return nil, nil // a case that this server refuses
		}
		if v := sum.judge(c, r.History); v.Outcome == oracle.Violation {
			if err := o.keep(c, fmt.Sprintf("violation-%d-%d", o.seed, n), string(v.Kind)+": "+v.Actual+": "+v.Reason); err != nil {
				return nil, err
			}
		}
		return r.History, nil
	}, c, n, sum)
}

// swapsOf runs a case and some of its swaps.
func (o *options) swapsOf(ctx context.Context, run runner, c *corpus.Case, n uint64, sum *tally) error {
	h, err := run(ctx, c)
	if err != nil || h == nil {
		return err
	}
	for range reorders {
		next := asReturned(c, h)
		if next == nil {
			break
		}
		c = next
		if h, err = run(ctx, c); err != nil || h == nil {
			return err
		}
	}
	// A walk through orders that must not matter: each is compared with the one before it.
	random := rand.New(rand.NewPCG(o.seed, n))
	orders := map[string]bool{orderOf(c): true}
	for range o.each {
		fresh := slices.DeleteFunc(commute.Swaps(c, h), func(s commute.Swap) bool { return orders[orderOf(s.Of(c))] })
		if len(fresh) == 0 {
			break
		}
		s := fresh[random.IntN(len(fresh))]
		orders[orderOf(s.Of(c))] = true
		r, twin, rules, what, err := try(ctx, run, c, h, s)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if r == unexplained {
			if err := o.keep(c, fmt.Sprintf("%d-%d-%d", o.seed, n, s.At+1), what); err != nil {
				return err
			}
		}
		sum.mu.Lock()
		sum.count[r]++
		if r != waitsDiffer && r != notRun {
			sum.why[s.Why]++
		}
		for _, name := range rules {
			sum.rules[name]++
		}
		sum.mu.Unlock()
		if r == equal {
			c, h = s.Of(c), twin
		}
	}
	sum.mu.Lock()
	sum.cases++
	sum.mu.Unlock()
	return nil
}

// orderOf tells the orders of one case's statements apart.
func orderOf(c *corpus.Case) string { return string(corpus.Print(c, corpus.Text)) }

// alternate lets the sessions of a case take turns, so that more neighbours are of different
// ones.
func alternate(c *corpus.Case) {
	queues := map[int][]corpus.Line{}
	sessions := c.Sessions()
	for _, l := range c.Steps {
		queues[l.Session] = append(queues[l.Session], l)
	}
	steps := c.Steps[:0:0]
	for len(steps) < len(c.Steps) {
		for _, s := range sessions {
			if q := queues[s]; len(q) > 0 {
				steps, queues[s] = append(steps, q[0]), q[1:]
			}
		}
	}
	c.Steps = steps
}

// generate returns the n-th case of a seed; every third has three transactions. In three of
// four the statements are not made to conflict, and the sessions take turns: fewer of them
// wait, so more of them may be swapped.
func generate(seed, n uint64, server *history.Server, levels []corpus.Level) *corpus.Case {
	at := seed<<32 + n
	input := mutate.InputOf(at, mutate.InputLen)
	if n%3 == 2 {
		input = mutate.WideInput(at, 3)
	}
	conflict := mutate.Mix
	if n%4 != 0 {
		conflict = mutate.None
	}
	c := mutate.Generate(mutate.NewBytes(input), mutate.Options{Levels: levels, DBMS: server.DBMS, Tables: 2, Conflict: conflict})
	if conflict == mutate.None {
		alternate(c)
	}
	return c
}

// keep saves a case whose difference is unexplained, or that the other judges call wrong.
func (o *options) keep(c *corpus.Case, name, what string) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("keep a case: %w", err)
	}
	out := c.Clone()
	out.Set("note", what)
	path := filepath.Join(o.out, name+".sql")
	if err := os.WriteFile(path, corpus.Print(out, corpus.Text), 0o644); err != nil {
		return fmt.Errorf("keep a case: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s:\n%s\n", path, what)
	return nil
}
