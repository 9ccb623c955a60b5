package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// bytes returns those of the i-th input.
func (c *campaign) bytes(i, part int) []byte {
	r := rand.New(rand.NewPCG(c.Seed, uint64(i)<<8|uint64(part)))
	out := make([]byte, inputLen)
	for k := range out {
		out[k] = byte(r.Uint32())
	}
	return out
}

// maxRejected is how many inputs in a row may be refused before the workload is at
// fault.
const maxRejected = 200

// input runs one input: its calls in every serial order, then each of several orders of
// its statements at one level, and at the other levels, too, if that shows something. Most
// inputs show nothing in any order, so that many inputs are worth more than many runs of
// one; and what a schedule shows at a level it mostly shows at the neighbours.
func (c *campaign) input(ctx context.Context, i int) error {
	t := c.turn(i)
	in := mutate.Make(c.w, [][]*workload.Transaction{t.set}, c.bytes(i, 0))
	refs := c.stage.serials(in, c.Levels[len(c.Levels)-1])
	runs, err := refs.of(ctx, all(in))
	if why, ok := rejected(err); ok {
		return c.reject(why, "")
	} else if err != nil {
		return err
	}
	c.mu.Lock()
	c.report.Serial += len(runs)
	c.mu.Unlock()
	for _, s := range runs {
		if err := misspelt(c.w, serially(in, s.order).Calls, s.outcome); err != nil {
			return err
		}
		if len(s.outcome.Before) > 0 {
			b := s.outcome.Before[0]
			return c.reject("invariant "+b.Invariant.Name+" does not hold in the beginning", fmt.Sprintf(" (line %d; in the last one its SELECT gives %s)", b.Invariant.Place.Line, orNothing(b.Answer)))
		}
		// What a server does wrong with one transaction after the other is not to be laid
		// at the application's door, nor to be what others are compared with.
		if v := check(s.outcome); v.Outcome == oracle.Violation {
			return c.serverFinding(s.outcome, serially(in, s.order), c.Levels[len(c.Levels)-1], &v)
		}
		for _, b := range s.outcome.Broken {
			if err := c.applicationBug(in, s, b); err != nil {
				return err
			}
		}
	}
	orders, at, stands := t.orders, t.before*t.orders, 1.0
	if !meet(runs) {
		orders, at, stands = 1, 0, float64(t.orders)/float64(len(t.levels))
		c.mu.Lock()
		for _, level := range t.levels[1:] {
			c.cell(namesOf(in), level).drawn += stands
		}
		c.mu.Unlock()
	}
	for k := range orders {
		x := in
		if k > 0 {
			x = in.Reorder(c.bytes(i, k))
		}
		first := t.levels[(at+k)%len(t.levels)]
		shown, err := c.concurrent(ctx, x, refs, first, stands)
		for _, level := range t.levels {
			if shown && level != first && err == nil {
				_, err = c.concurrent(ctx, x, refs, level, 0)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whyRejected says why most of the states could not be used, and what helps.
func (c *campaign) whyRejected() string {
	most, all := "", 0
	for why, n := range c.report.Rejected {
		if all += n; most == "" || n > c.report.Rejected[most] || n == c.report.Rejected[most] && why < most {
			most = why
		}
	}
	if all == 0 {
		return ": give it more time"
	}
	return fmt.Sprintf(": %d states were made and %d of them cannot be used, since %s; \"rows\" and \"sample\" say which states to make", all, c.report.Rejected[most], most)
}

// rejected tells a state that the server refuses.
func rejected(err error) (string, bool) {
	var init *harness.InitError
	if errors.As(err, &init) {
		return fmt.Sprintf("the server refused the state with error %d: %s", init.Err.Code, init.Err.Message), true
	}
	return "", false
}

// reject counts a state that cannot be used; what it holds is told of the last one.
func (c *campaign) reject(why, holds string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Messages name values.
	if len(c.report.Rejected) < 20 || c.report.Rejected[why] > 0 {
		c.report.Rejected[why]++
	} else {
		c.report.Rejected["other reasons"]++
	}
	n := 0
	for _, k := range c.report.Rejected {
		n += k
	}
	if n >= maxRejected && c.report.Cases == 0 {
		return &SettingError{fmt.Sprintf("%d states were made and none can be used: %s%s", n, why, holds)}
	}
	return nil
}
