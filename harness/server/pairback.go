package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/network"
)

var (
	_ harness.Breakable = (*pair)(nil)
	_ harness.Breakable = (*standbyPair)(nil)
)

const (
	// pairNodes is how many servers a primary and its replica are.
	pairNodes = 2
	// silentFor is how many seconds a server of a pair that is broken waits for the other one until it takes it for lost;
	// the vendors ship 60.
	silentFor = "2"
	// pairNotice is silentFor as a duration.
	pairNotice = 2 * time.Second
)

var (
	pairNames    = [pairNodes]string{"primary", "replica"}
	standbyNames = [pairNodes]string{"primary", standbyName}
)

// afterKill are the arguments with which a replica that was killed goes on by itself; what the target says comes first.
func (d *dialect) afterKill(s spec) (args []string) {
	for _, o := range d.resilient {
		if _, chosen := s.options[o[0]]; !chosen {
			args = append(args, "--"+strings.ReplaceAll(o[0], "_", "-")+"="+o[1])
		}
	}
	return args
}

// arm prepares the start of both servers with no data but the template's. One that comes back with its data has the
// user of its port already.
func (p *pair) arm() {
	if !p.durable {
		return
	}
	login := portConfig(p.port)
	login.Addr = net.JoinHostPort(p.host(0), strconv.Itoa(p.port))
	p.part.login, p.part.back = login, false
	if p.network != nil {
		p.part.from = network.Everybody
	}
	for i, b := range p.both() {
		p.enter(b, i)
	}
}

func (p *pair) both() [pairNodes]*private { return [pairNodes]*private{p.private, p.replica} }

// KillNode implements harness.Breakable.
func (p *pair) KillNode(node int) error { return p.both()[node].Kill() }

// RecoverNode implements harness.Breakable.
func (p *pair) RecoverNode(ctx context.Context, node int) error {
	b := p.both()[node]
	b.part.back = true
	return recoverNode(ctx, pairNames[node], b)
}

// PauseNode implements harness.Breakable.
func (p *pair) PauseNode(node int) error { return p.both()[node].stopOrGo(syscall.SIGSTOP) }

// ResumeNode implements harness.Breakable.
func (p *pair) ResumeNode(node int) error { return p.both()[node].stopOrGo(syscall.SIGCONT) }

// Notice implements harness.Breakable.
func (p *pair) Notice() time.Duration { return pairNotice }

// Agree implements harness.Breakable.
func (p *pair) Agree(ctx context.Context) (told int, err error) {
	f := p.follower()
	f.asked = nil
	return 0, reunited(ctx, f, []half{p.private, p.replica}, pairNames)
}

// half is a server of a pair.
type half interface {
	instance() *process
	Log() string
}

// reunited waits until both servers of a pair answer, and the second one has applied what the first had committed when
// that was asked. It returns a *harness.StoppedError if the second one applies nothing any more.
func reunited(ctx context.Context, f harness.Follower, both []half, names [pairNodes]string) error {
	defer f.Close()
	var since time.Time // when the replica first told that it was stopped, by no error
	for {
		err := f.CatchUp(ctx)
		if err == nil {
			return nil
		}
		for i, b := range both {
			if dead := b.instance().dead(); dead != nil {
				log := b.Log()
				return fmt.Errorf("%s: %w", names[i], &harness.RecoveryError{
					Err: fmt.Errorf("%w\n%s", dead, log), Did: "the server has ended by itself", Log: log,
				})
			}
		}
		var stopped *harness.StoppedError
		switch {
		case !errors.As(err, &stopped):
			since = time.Time{}
		case stopped.Code != 0:
			return stopped
		case since.IsZero(): // it may be starting
			since = time.Now()
		case time.Since(since) > outPatience:
			return stopped
		}
		select {
		case <-ctx.Done():
			var logs strings.Builder
			for i, b := range both {
				fmt.Fprintf(&logs, "%s:\n%s", names[i], b.Log())
			}
			return fmt.Errorf("the %s has not come to its primary again: %w\n%s", names[1],
				errors.Join(ctx.Err(), err), logs.String())
		case <-time.After(pollEvery):
		}
	}
}
