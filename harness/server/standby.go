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
	// cable is what joins the two, nil: nobody cuts it.
	cable *cable
}

var (
	_ harness.Replicated = (*standbyPair)(nil)
	_ harness.Receiving  = (*standbyPair)(nil)
	_ harness.Database   = (*standbyPair)(nil)
)

// standbySettings are what a primary and its standby need beyond a server alone.
// https://www.postgresql.org/docs/current/runtime-config-replication.html
func standbySettings(r *replication, durable bool) []setting {
	// A standby needs no fewer senders than the template was made with: 10, the vendor's.
	all := []setting{
		{"12", "wal_level", "replica"}, {"12", "max_wal_senders", "10"}, {"12", "hot_standby", "on"},
		{"12", "synchronous_commit", r.sync},
	}
	if durable {
		all = append(all, breakingSettings...)
	}
	return all
}

// breakingSettings have two servers notice soon that one is away, and find each other soon: the vendor ships 60 seconds
// and 5.
var breakingSettings = []setting{
	{"12", "wal_sender_timeout", silentFor + "s"}, {"12", "wal_receiver_timeout", silentFor + "s"},
	{"12", "wal_receiver_status_interval", "1s"}, {"12", "wal_retrieve_retry_interval", "200ms"},
}

// openStandby starts a primary and its standby. Both begin with a copy of the same data, which was shut down cleanly:
// all that came later is in the log of the primary.
func openStandby(ctx context.Context, s spec, in installation, o harness.Options) (harness.Backend, error) {
	switch {
	case o.PowerLoss:
		return nil, &harness.NameError{Err: errPairPower}
	case !atLeast(in.version, oldestStandby):
		return nil, &harness.NameError{Err: fmt.Errorf("option standby exists from PostgreSQL %s on", oldestStandby)}
	}
	p := &standbyPair{by: s.replicates}
	var err error
	if o.Partition {
		p.cable = newCable()
	}
	extra := standbySettings(p.by, o.Durable)
	primary := &cluster{spec: s, in: in, parent: o.Dir, port: o.Port, sends: true, extra: extra, durable: o.Durable}
	p.cluster, err = beginCluster(ctx, primary, o)
	if err != nil {
		return nil, err
	}
	behind := o
	behind.Port = 0
	standby := &cluster{
		spec: s, in: in, parent: o.Dir, behind: p.cluster, cable: p.cable, extra: extra, durable: o.Durable,
	}
	if err = p.reserve(ctx); err == nil {
		p.standby, err = beginCluster(ctx, standby, behind)
	}
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
	host, port := b.behind.instance().folder.path, b.behind.socketPort()
	if b.cable != nil {
		dir := filepath.Dir(data)
		primary := b.behind.socketFile(host)
		host, port = dir, cablePort
		if err := b.cable.listen(clusterSocket(dir, cablePort), primary); err != nil {
			return errors.Join(err, conf.Close())
		}
	}
	_, err = fmt.Fprintf(conf, "primary_conninfo = 'host=%s port=%d user=%s application_name=%s connect_timeout=%s'\n",
		host, port, clusterUser, standbyName, silentFor)
	if b.durable && err == nil {
		_, err = fmt.Fprintf(conf, "primary_slot_name = '%s'\n", standbyName)
	}
	return errors.Join(err, conf.Close())
}

// reserve has a primary keep what a standby that is away has not yet received: "replication slots provide an automated
// way to ensure that the primary does not remove WAL segments until they have been received by all standbys".
// https://www.postgresql.org/docs/current/warm-standby.html#STREAMING-REPLICATION-SLOTS
func (p *standbyPair) reserve(ctx context.Context) error {
	if !p.durable {
		return nil
	}
	s, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Query("SELECT pg_create_physical_replication_slot('" + standbyName + "', true)"); err != nil {
		return fmt.Errorf("make a replication slot: %w", err)
	}
	return nil
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
	if err := p.reserve(ctx); err != nil {
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
	p.cable.close()
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

func (p *standbyPair) both() [pairNodes]*cluster { return [pairNodes]*cluster{p.cluster, p.standby} }

// KillNode implements harness.Breakable.
func (p *standbyPair) KillNode(node int) error { return p.both()[node].Kill() }

// RecoverNode implements harness.Breakable.
func (p *standbyPair) RecoverNode(ctx context.Context, node int) error {
	return recoverNode(ctx, standbyNames[node], p.both()[node])
}

// PauseNode implements harness.Breakable.
func (p *standbyPair) PauseNode(node int) error { return p.both()[node].Pause() }

// ResumeNode implements harness.Breakable.
func (p *standbyPair) ResumeNode(node int) error { return p.both()[node].Resume() }

// CutNode implements harness.Breakable: each of two is cut off from the other one.
func (p *standbyPair) CutNode(int) error { return p.cable.cut() }

// HealNode implements harness.Breakable.
func (p *standbyPair) HealNode(int) error { return p.cable.heal() }

// Replayed implements harness.Receiving.
func (p *standbyPair) Replayed(ctx context.Context) error {
	f := &standbyFollower{pair: p}
	defer f.Close()
	for {
		done, err := ask(ctx, &f.standby, p.standby,
			"SELECT (pg_last_wal_receive_lsn() IS NULL OR pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn())::int")
		if err != nil || done == "1" {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// Notice implements harness.Breakable.
func (p *standbyPair) Notice() time.Duration { return pairNotice }

// Agree implements harness.Breakable.
func (p *standbyPair) Agree(ctx context.Context) (told int, err error) {
	return 0, reunited(ctx, &standbyFollower{pair: p}, []half{p.cluster, p.standby}, standbyNames)
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
	for _, s := range []**pgsession.Session{&f.primary, &f.standby} {
		if *s != nil {
			_ = (*s).Close()
			*s = nil // the next question connects again
		}
	}
	return nil
}
