package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// pair is a private MySQL or MariaDB and its replica. What a Backend does the primary does; the two start and end
// together.
type pair struct {
	*private
	replica *private
	by      *replication
	asked   atomic.Int64
	say     dialect
	between
}

var _ harness.Replicated = (*pair)(nil)

// openPair starts a primary and its replica.
func openPair(ctx context.Context, s spec, o harness.Options) (harness.Backend, error) {
	if o.PowerLoss {
		return nil, &harness.NameError{Err: errPairPower}
	}
	p := &pair{by: s.replicates, say: dialects[s.family]}
	var err error
	inner := o.Port == 0
	if inner {
		if o.Port, err = portToListen(); err != nil {
			return nil, err
		}
	}
	behind := o
	behind.Port = 0
	if p.private, err = prepared(ctx, s, o, p.say.asPrimary()); err != nil {
		return nil, err
	}
	if p.replica, err = prepared(ctx, s, behind, p.say.asReplica(p.by)); err != nil {
		return nil, err
	}
	p.private.part.nodesOnly = inner && o.Durable // a replica needs no certificates
	if o.Durable {
		p.replica.extra = append(p.replica.extra, p.say.afterKill(s)...)
	}
	if err := p.separate(pairNodes, o); err != nil {
		return nil, err
	}
	p.arm()
	if err = p.start(ctx, (*private).begin); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// start starts both servers at a time, and attaches the replica.
func (p *pair) start(ctx context.Context, begin func(*private, context.Context) error) error {
	var starting sync.WaitGroup
	var second error
	starting.Go(func() { second = begin(p.replica, ctx) })
	err := begin(p.private, ctx)
	starting.Wait()
	if err = errors.Join(err, second); err != nil {
		return err
	}
	return p.attach(ctx)
}

// portToListen returns a port of 127.0.0.1 that nobody listens on: servers of MySQL's protocol send a replica what it
// asks for by TCP only.
func portToListen() (int, error) {
	ports, err := portsToListen(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// portsToListen returns different ports of 127.0.0.1 that nobody listens on.
func portsToListen(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("look for a free port: %w", err)
		}
		defer l.Close() // not before all are drawn
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// attach lets an empty replica begin behind an empty primary.
func (p *pair) attach(ctx context.Context) error {
	primary, replica := &side{to: p.private}, &side{to: p.replica}
	defer primary.Close()
	defer replica.Close()
	for _, step := range []struct {
		on  *side
		sql []string
	}{{replica, p.say.detach}, {primary, p.say.forget}, {replica, p.say.forget}} {
		for _, sql := range step.sql {
			if err := step.on.exec(ctx, sql); err != nil {
				return fmt.Errorf("attach a replica: %s: %w", sql, err)
			}
		}
	}
	tcp := p.TCP()
	host, port, err := net.SplitHostPort(tcp.Addr)
	if err != nil {
		return fmt.Errorf("attach a replica: %w", err)
	}
	for _, sql := range p.say.attach(host, port, tcp.User, tcp.Passwd) {
		if err := replica.exec(ctx, sql); err != nil {
			return fmt.Errorf("attach a replica: %w", err) // the text holds a password
		}
	}
	// The first change to come by shows that the replica gets any.
	for _, sql := range []string{"CREATE DATABASE " + firstDatabase, "DROP DATABASE " + firstDatabase} {
		if err := primary.exec(ctx, sql); err != nil {
			return fmt.Errorf("attach a replica: %s: %w", sql, err)
		}
	}
	f := &follower{say: p.say, primary: primary, replica: replica}
	if err := f.CatchUp(ctx); err != nil {
		return fmt.Errorf("attach a replica: %w\n%s", err, p.replica.Log())
	}
	return nil
}

const firstDatabase = history.ScratchPrefix + "first"

// Topology implements harness.Replicated.
func (p *pair) Topology() harness.Topology {
	decisive := map[string]string{}
	if p.in.family == history.MySQL {
		decisive["replica_preserve_commit_order"] = cmp.Or(p.by.order, "ON")
	}
	return harness.Topology{Kind: harness.AsyncReplica, Form: p.by.words(), Settings: decisive, Nodes: []harness.Node{
		{Name: "primary", Role: harness.Primary, Backend: p.private},
		{Name: "replica", Role: harness.Replica, Backend: p.replica},
	}}
}

// Levels returns the isolation levels at which the primary's binary log takes changes.
func (p *pair) Levels() []corpus.Level {
	if p.by.format == statementFormat {
		return []corpus.Level{corpus.RepeatableRead, corpus.Serializable}
	}
	return p.private.Levels()
}

// Alive tells which of the two died, or does not answer.
func (p *pair) Alive(ctx context.Context) error {
	if err := p.private.Alive(ctx); err != nil {
		return err
	}
	if err := p.replica.Alive(ctx); err != nil {
		return fmt.Errorf("the replica: %w", err)
	}
	return nil
}

// Log returns the end of both error logs.
func (p *pair) Log() string { return p.private.Log() + p.replica.Log() }

// LogProblems returns what both servers complained of.
func (p *pair) LogProblems() []string {
	return append(p.private.LogProblems(), p.replica.LogProblems()...)
}

// Restart replaces both servers by fresh ones.
func (p *pair) Restart(ctx context.Context) error {
	port, err := portToListen() // the old primary still listens on its own
	if err != nil {
		return err
	}
	p.private.port = port
	p.arm()
	return p.start(ctx, (*private).Restart)
}

// Close ends both servers.
func (p *pair) Close() error {
	var errs []error
	for _, b := range []*private{p.replica, p.private} {
		if b.started() {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(append(errs, p.end())...)
}

// Rebuild implements harness.Replicated. Where the servers cannot be brought to it they are replaced.
func (p *pair) Rebuild(ctx context.Context) error {
	if p.emptied(ctx) == nil && p.attach(ctx) == nil {
		return nil
	}
	return p.Restart(ctx)
}

// emptied stops the replica and drops the databases of the tool on both servers.
func (p *pair) emptied(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rebuildPatience)
	defer cancel()
	for _, b := range []*private{p.replica, p.private} {
		s := &side{to: b}
		defer s.Close()
		if b == p.replica {
			for _, sql := range p.say.detach {
				if err := s.exec(ctx, sql); err != nil {
					return err
				}
			}
		}
		if err := rollBackPrepared(ctx, s); err != nil {
			return err
		}
		databases, err := s.query(ctx, `SHOW DATABASES LIKE 'txnfuzz\_%'`)
		if err != nil {
			return err
		}
		for _, row := range databases {
			if err := s.exec(ctx, "DROP DATABASE "+string(row[0])); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuildPatience is longer than a server takes to drop the databases of a campaign, and shorter than a new pair.
const rebuildPatience = 5 * time.Second

// rollBackPrepared ends transactions that were prepared, which a replica keeps when it stops.
func rollBackPrepared(ctx context.Context, s *side) error {
	rows, err := s.query(ctx, "XA RECOVER CONVERT XID")
	if err != nil {
		rows, err = s.query(ctx, "XA RECOVER FORMAT='SQL'") // as MariaDB spells it
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		global, branch, err := xidOf(r)
		if err != nil {
			return err
		}
		if err := s.exec(ctx, fmt.Sprintf("XA ROLLBACK %s%s", global, branch)); err != nil {
			return err
		}
	}
	return nil
}

// xidOf reads a row of XA RECOVER: the identifier is one hexadecimal text on MySQL, and ready to be said on MariaDB.
func xidOf(row [][]byte) (global, branch string, err error) {
	last := string(row[len(row)-1])
	if len(last) < 2 || last[:2] != "0x" {
		return last, "", nil
	}
	n, err := strconv.Atoi(string(row[1]))
	if err != nil || 2+2*n > len(last) {
		return "", "", fmt.Errorf("read a prepared transaction's name %s: %w", last, err)
	}
	return "X'" + last[2:2+2*n] + "'", ", X'" + last[2+2*n:] + "'", nil
}
