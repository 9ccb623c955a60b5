package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/network"
)

var _ harness.Breakable = (*members)(nil)

var errAlone = errors.New("one server alone is cut off from nobody: a partition needs a cluster such as galera:11.8,nodes=3")

// separate gives each node a place in a network of their own. There nobody else takes a port of a node that is down, too.
func (m *members) separate(wanted bool) error {
	n, err := network.New(len(m.all))
	switch {
	case err == nil:
		m.network = n
	case wanted:
		return &harness.NoNetworkError{Err: err}
	}
	return nil
}

// enter has a node start in its place.
func (m *members) enter(b *private, i int) {
	if m.network != nil {
		b.part.enter = m.network.Enter(i)
	}
}

// KillNode implements harness.Breakable.
func (m *members) KillNode(node int) error { return m.all[node].Kill() }

// RecoverNode implements harness.Breakable.
func (m *members) RecoverNode(ctx context.Context, node int) error {
	b := m.all[node]
	m.to.rearm(b, m.at, node)
	m.enter(b, node)
	err := b.Recover(ctx)
	var lost *harness.RecoveryError
	if errors.As(err, &lost) && strings.Contains(lost.Log, portTaken) {
		return fmt.Errorf("%s cannot start: somebody took its port while it was down: %w", nodeName(node), lost.Err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", nodeName(node), err)
	}
	return nil
}

// portTaken is in the log of a server whose port is another program's, as strerror(3) says it.
const portTaken = "Address already in use"

// PauseNode implements harness.Breakable.
func (m *members) PauseNode(node int) error { return m.all[node].stopOrGo(syscall.SIGSTOP) }

// ResumeNode implements harness.Breakable.
func (m *members) ResumeNode(node int) error { return m.all[node].stopOrGo(syscall.SIGCONT) }

// CutNode implements harness.Breakable.
func (m *members) CutNode(node int) error {
	if m.network == nil {
		return errNoNetwork
	}
	return m.network.Cut(node)
}

// HealNode implements harness.Breakable.
func (m *members) HealNode(node int) error {
	if m.network == nil {
		return errNoNetwork
	}
	return m.network.Heal(node)
}

var errNoNetwork = errors.New("the nodes were not started in a network of their own")

// Notice implements harness.Breakable.
func (m *members) Notice() time.Duration { return m.to.notice() }

const (
	// askPatience is how long a node may need to answer a question about itself.
	askPatience = 5 * time.Second
	// outPatience is how long a node that is out may need to come back by itself before it is told to.
	outPatience = 10 * time.Second
)

// Agree implements harness.Breakable.
func (m *members) Agree(ctx context.Context) (told int, err error) {
	for i, b := range m.all {
		n, err := m.belongs(ctx, b)
		told += n
		if err != nil {
			return told, fmt.Errorf("%s: %w", nodeName(i), err)
		}
	}
	first := &side{to: m.all[0]}
	defer first.Close()
	if err := m.to.restore(ctx, first); err != nil {
		return told, fmt.Errorf("%s: %w\n%s", nodeName(0), err, m.Log())
	}
	return told, nil
}

// belongs waits until a node takes part.
func (m *members) belongs(ctx context.Context, b *private) (told int, err error) {
	s := &side{to: b}
	defer s.Close()
	var since time.Time // when the node was first seen to be out
	for {
		asking, cancel := context.WithTimeout(ctx, askPatience)
		lacks, out, err := m.to.belongs(asking, s, len(m.all))
		cancel()
		switch {
		case err != nil:
			lacks, out = err.Error(), false
			_ = s.Close()
			if dead := b.instance().dead(); dead != nil {
				return told, &harness.RecoveryError{Err: dead, Did: "the node has ended by itself", Log: b.Log()}
			}
		case lacks == "":
			return told, nil
		}
		switch {
		case !out:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > outPatience:
			if err := m.to.comeBack(ctx, s); err != nil {
				lacks += "; told to join again: " + err.Error()
			}
			told, since = told+1, time.Time{}
		}
		select {
		case <-ctx.Done():
			return told, fmt.Errorf("is not one of all again: %s: %w\n%s", lacks, ctx.Err(), m.Log())
		case <-time.After(pollEvery):
		}
	}
}
