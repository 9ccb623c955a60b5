package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/network"
)

var _ harness.Breakable = (*members)(nil)

var errAlone = errors.New("one server alone is cut off from nobody: a partition needs several, such as " +
	"galera:11.8,nodes=3 or mariadb:11.8,replica=row")

// between is what joins nodes: a network of their own, or this machine.
type between struct{ network *network.Network }

// separate gives each of some nodes a place in a network of their own, if they are broken. There nobody else takes a
// port of a node that is down, either.
func (w *between) separate(nodes int, o harness.Options) error {
	if !o.Durable && !o.Partition {
		return nil
	}
	n, err := network.New(nodes)
	switch {
	case err == nil:
		w.network = n
	case o.Partition:
		return &harness.NoNetworkError{Err: err}
	}
	return nil
}

// enter has a node start in its place.
func (w *between) enter(b *private, i int) {
	if w.network != nil {
		b.part.enter = w.network.Enter(i)
	}
}

// host is where the others reach a node.
func (w *between) host(i int) string {
	if w.network != nil {
		return network.Address(i)
	}
	return "127.0.0.1"
}

// CutNode implements harness.Breakable.
func (w *between) CutNode(node int) error {
	if w.network == nil {
		return errNoNetwork
	}
	return w.network.Cut(node)
}

// HealNode implements harness.Breakable.
func (w *between) HealNode(node int) error {
	if w.network == nil {
		return errNoNetwork
	}
	return w.network.Heal(node)
}

// end gives the network up, when no node runs any more.
func (w *between) end() error {
	if w.network == nil {
		return nil
	}
	return w.network.Close()
}

// KillNode implements harness.Breakable.
func (m *members) KillNode(node int) error { return m.all[node].Kill() }

// RecoverNode implements harness.Breakable.
func (m *members) RecoverNode(ctx context.Context, node int) error {
	b := m.all[node]
	m.to.rearm(b, m.at, node)
	m.enter(b, node)
	return recoverNode(ctx, nodeName(node), b)
}

// recoverNode starts a killed node again.
func recoverNode(ctx context.Context, name string, b harness.Crasher) error {
	err := b.Recover(ctx)
	var lost *harness.RecoveryError
	if errors.As(err, &lost) && isUnrelated(lost.Log) {
		return fmt.Errorf("%s does not come back, which says nothing of its data: %w", name, lost.Err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// unrelated are words in the log of a server that ends for another reason than the data which it had left.
var unrelated = []string{
	"Address already in use", // strerror(3): somebody took the port meanwhile
	neverReceives,
}

// neverReceives is in the log of a Galera node that ends since the one which was to give it what it lacks cannot, or is
// gone.
const neverReceives = "Will never receive state. Need to abort."

func isUnrelated(log string) bool {
	return slices.ContainsFunc(unrelated, func(words string) bool { return strings.Contains(log, words) })
}

// PauseNode implements harness.Breakable.
func (m *members) PauseNode(node int) error { return m.all[node].stopOrGo(syscall.SIGSTOP) }

// ResumeNode implements harness.Breakable.
func (m *members) ResumeNode(node int) error { return m.all[node].stopOrGo(syscall.SIGCONT) }

var errNoNetwork = errors.New("the nodes were not started in a network of their own")

// Notice implements harness.Breakable.
func (m *members) Notice() time.Duration { return m.to.notice() }

const (
	// askPatience is how long a node may need to answer a question about itself.
	askPatience = 5 * time.Second
	// outPatience is how long a node that is out may need to come back by itself before it is told to.
	outPatience = 10 * time.Second
	// restoreEvery is the time between two tries to make the first node the primary again, while the group elects one.
	restoreEvery = 200 * time.Millisecond
	// mostTold is how often a node is told to: one that does not come back then has a reason that stays.
	mostTold = 3
)

// returning is a node that is waited for.
type returning struct {
	*private
	name   string
	number int // in members.all
	side   *side
	since  time.Time // when it was first seen to be out
	told   int
	lacks  string
}

// errLeft says that a node has left its cluster for a reason that stays.
var errLeft = errors.New("it has left the cluster by itself")

// Agree implements harness.Breakable.
func (m *members) Agree(ctx context.Context) (told int, err error) {
	var all []*returning
	for i, b := range m.all {
		s := &side{to: b}
		defer s.Close()
		all = append(all, &returning{private: b, name: nodeName(i), number: i, side: s})
	}
	for {
		whole := true
		told = 0
		for _, n := range all {
			err := m.look(ctx, n)
			if errors.Is(err, errLeft) {
				return told, fmt.Errorf("%s: %w\n%s", n.name, err, m.states(all))
			}
			if err != nil {
				return told, fmt.Errorf("%s: %w", n.name, err)
			}
			whole = whole && n.lacks == ""
			told += n.told
		}
		if whole {
			break
		}
		for _, n := range all {
			if n.told > mostTold {
				return told, fmt.Errorf("%s was told %d times to join again and is not one of all\n%s",
					n.name, mostTold, m.states(all))
			}
		}
		select {
		case <-ctx.Done():
			return told, fmt.Errorf("the nodes are no whole cluster again: %w\n%s", ctx.Err(), m.states(all))
		case <-time.After(pollEvery):
		}
	}
	return told, m.restore(ctx, all[0])
}

// restore gives the first node its part back, as soon as the others let it have that.
func (m *members) restore(ctx context.Context, first *returning) error {
	for {
		err := m.to.restore(ctx, first.side)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w\n%s", first.name, errors.Join(err, ctx.Err()), m.Log())
		case <-time.After(restoreEvery):
		}
	}
}

// states tells what each node lacked when it was last asked, and the end of all logs.
func (m *members) states(all []*returning) string {
	var b strings.Builder
	for _, n := range all {
		fmt.Fprintf(&b, "%s: %s\n", n.name, cmp.Or(n.lacks, "takes part"))
	}
	return b.String() + m.Log()
}

// look asks a node once whether it takes part, and tells one to join again that has been out for long. An error says
// that the node has ended, or has left.
func (m *members) look(ctx context.Context, n *returning) error {
	asking, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	lacks, out, err := m.to.belongs(asking, n.side, len(m.all))
	if errors.Is(err, errLeft) {
		return err
	}
	if err != nil {
		lacks, out = err.Error(), false
		_ = n.side.Close()
		if dead := n.instance().dead(); dead != nil {
			return m.bury(ctx, n, dead)
		}
	}
	n.lacks = lacks
	switch {
	case !out:
		n.since = time.Time{}
	case n.since.IsZero():
		n.since = time.Now()
	case time.Since(n.since) > outPatience:
		n.told, n.since = n.told+1, time.Time{}
		if n.told > mostTold {
			return nil
		}
		if err := m.to.comeBack(ctx, n.side); err != nil {
			n.lacks += "; told to join again: " + err.Error()
		}
	}
	return nil
}

// bury starts a node again that has ended by itself since it was not given what it lacks: it has to ask again. That any
// other one has ended is an error.
func (m *members) bury(ctx context.Context, n *returning, dead error) error {
	log := n.Log()
	never := strings.Contains(log, neverReceives)
	if never && n.told >= mostTold {
		return fmt.Errorf("it was started %d times and never given what it lacks: %w\n%s", mostTold, dead, log)
	}
	if !never {
		return &harness.RecoveryError{Err: fmt.Errorf("%w\n%s", dead, log), Did: "the node has ended by itself", Log: log}
	}
	n.told++
	if err := n.Kill(); err != nil { // keeps its folder
		return err
	}
	return m.RecoverNode(ctx, n.number)
}
