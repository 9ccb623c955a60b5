package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
)

// standbyPair is a private PostgreSQL and its physical standby. What a Backend does the primary does; the two start and
// end together.
type standbyPair struct {
	*cluster
	standby *cluster
	by      *replication
}

var (
	_ harness.Replicated = (*standbyPair)(nil)
	_ harness.Database   = (*standbyPair)(nil)
)

// standbySettings are what a primary and its standby need beyond a server alone.
// https://www.postgresql.org/docs/current/runtime-config-replication.html
func standbySettings(r *replication) []setting {
	// A standby needs no fewer senders than the template was made with: 10, the vendor's.
	return []setting{
		{"12", "wal_level", "replica"}, {"12", "max_wal_senders", "10"}, {"12", "hot_standby", "on"},
		{"12", "synchronous_commit", r.sync},
	}
}

// openStandby starts a primary and its standby. Both begin with a copy of the same data, which was shut down cleanly:
// all that came later is in the log of the primary.
func openStandby(ctx context.Context, s spec, in installation, o harness.Options) (harness.Backend, error) {
	switch {
	case o.Durable:
		return nil, &harness.NameError{Err: errReplicaDurable}
	case !atLeast(in.version, oldestStandby):
		return nil, &harness.NameError{Err: fmt.Errorf("option standby exists from PostgreSQL %s on", oldestStandby)}
	}
	p := &standbyPair{by: s.replicates}
	var err error
	extra := standbySettings(p.by)
	primary := &cluster{spec: s, in: in, parent: o.Dir, port: o.Port, sends: true, extra: extra}
	p.cluster, err = beginCluster(ctx, primary, o)
	if err != nil {
		return nil, err
	}
	behind := o
	behind.Port = 0
	standby := &cluster{spec: s, in: in, parent: o.Dir, behind: p.cluster, extra: extra}
	p.standby, err = beginCluster(ctx, standby, behind)
	if err == nil {
		err = p.attached(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// oldestStandby is the first version in which a file makes a server a standby, and its parameters are as others.
const oldestStandby = "12"

// standbyName is how the standby calls itself to its primary.
const standbyName = "standby"

// follows makes a data directory that of a standby.
func (b *cluster) follows(data string) error {
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o600); err != nil {
		return err
	}
	conf, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conf, "primary_conninfo = 'host=%s port=%d user=%s application_name=%s'\n",
		b.behind.instance().folder.path, b.behind.socketPort(), clusterUser, standbyName)
	return errors.Join(err, conf.Close())
}

// attached waits until the standby follows, and has the primary wait for it from then on if it is to.
func (p *standbyPair) attached(ctx context.Context) error {
	if p.by.sync != "local" {
		s, err := p.connect(ctx)
		if err != nil {
			return err
		}
		defer s.Close()
		for _, sql := range []string{
			"ALTER SYSTEM SET synchronous_standby_names = '" + standbyName + "'", "SELECT pg_reload_conf()",
		} {
			if _, err := s.Query(sql); err != nil {
				return fmt.Errorf("attach a standby: %w", err)
			}
		}
	}
	f, err := p.Follow(ctx)
	if err != nil {
		return err
	}
	if err := f.CatchUp(ctx); err != nil {
		return errors.Join(fmt.Errorf("attach a standby: %w\n%s", err, p.standby.Log()), f.Close())
	}
	return f.Close()
}

// Topology implements harness.Replicated.
func (p *standbyPair) Topology() harness.Topology {
	decisive := map[string]string{"synchronous_commit": p.by.sync}
	return harness.Topology{Kind: harness.PhysicalStandby, Form: p.by.words(), Settings: decisive, Nodes: []harness.Node{
		{Name: "primary", Role: harness.Primary, Backend: p.cluster},
		{Name: standbyName, Role: harness.Replica, Backend: p.standby},
	}}
}

// Alive tells which of the two died, or does not answer.
func (p *standbyPair) Alive(ctx context.Context) error {
	if err := p.cluster.Alive(ctx); err != nil {
		return err
	}
	if err := p.standby.Alive(ctx); err != nil {
		return fmt.Errorf("the standby: %w", err)
	}
	return nil
}

// Log returns the end of both error logs.
func (p *standbyPair) Log() string { return p.cluster.Log() + p.standby.Log() }

// LogProblems returns what both servers complained of.
func (p *standbyPair) LogProblems() []string {
	return append(p.cluster.LogProblems(), p.standby.LogProblems()...)
}

// Restart replaces both servers by fresh ones.
func (p *standbyPair) Restart(ctx context.Context) error {
	if err := p.cluster.Restart(ctx); err != nil {
		return err
	}
	if err := p.standby.Restart(ctx); err != nil {
		return err
	}
	return p.attached(ctx)
}

// Rebuild implements harness.Replicated. A standby is a copy of its primary as a whole, so both begin anew.
func (p *standbyPair) Rebuild(ctx context.Context) error { return p.Restart(ctx) }

// Close ends both servers.
func (p *standbyPair) Close() error {
	var errs []error
	for _, b := range []*cluster{p.standby, p.cluster} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}

// standbyFollower implements harness.Follower.
type standbyFollower struct {
	pair             *standbyPair
	primary, standby *pgsession.Session
}

// Follow implements harness.Replicated.
func (p *standbyPair) Follow(context.Context) (harness.Follower, error) {
	return &standbyFollower{pair: p}, nil
}

// lookEvery is how soon a standby that is not yet there is asked again: PostgreSQL has no function that waits for it.
const lookEvery = 200 * time.Microsecond

func (f *standbyFollower) CatchUp(ctx context.Context) error {
	position, err := ask(ctx, &f.primary, f.pair.cluster, "SELECT pg_current_wal_flush_lsn()")
	if err != nil {
		return fmt.Errorf("ask the primary how far it is: %w", err)
	}
	for begun := time.Now(); ; {
		there, err := ask(ctx, &f.standby, f.pair.standby, "SELECT (pg_last_wal_replay_lsn() >= '"+position+"')::int")
		switch {
		case err != nil:
			if e := f.pair.standby.Alive(ctx); e != nil && ctx.Err() == nil {
				return &harness.StoppedError{Text: e.Error()}
			}
			return fmt.Errorf("wait for the standby: %w", err)
		case there == "1":
			return nil
		case time.Since(begun) > longestLag:
			return fmt.Errorf("the standby runs, and has not come to %s in %s\n%s", position, longestLag, f.pair.standby.Log())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// ask returns the one value that a server answers; the session is opened on first use and again when it broke.
func ask(ctx context.Context, s **pgsession.Session, b *cluster, sql string) (string, error) {
	if *s == nil {
		opened, err := b.connect(ctx)
		if err != nil {
			return "", err
		}
		*s = opened
	}
	rows, err := (*s).Query(sql)
	if err != nil {
		_ = (*s).Close()
		*s = nil
		return "", err
	}
	return rows[0][0].Text, nil
}

func (f *standbyFollower) Close() error {
	for _, s := range []*pgsession.Session{f.primary, f.standby} {
		if s != nil {
			_ = s.Close()
		}
	}
	return nil
}
