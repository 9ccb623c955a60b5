package load_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

type wiredPair interface {
	harness.Wired
	harness.Breakable
	harness.Replicated
}

type databasePair interface {
	harness.Database
	harness.Breakable
	harness.Replicated
	harness.Receiving
}

// plot is what happens to a pair behind the load's back: before a server is killed, and when it is back; nil: nothing.
type plot struct {
	killing, recovered func(ctx context.Context, node int) error
}

func (p *plot) kill(b harness.Breakable, node int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if p.killing != nil {
		if err := p.killing(ctx, node); err != nil {
			return err
		}
	}
	return b.KillNode(node)
}

func (p *plot) recover(ctx context.Context, b harness.Breakable, node int) error {
	err := b.RecoverNode(ctx, node)
	if err == nil && p.recovered != nil {
		err = p.recovered(ctx, node)
	}
	return err
}

// soon is short, so that a test is quick.
const soon = 200 * time.Millisecond

type plottedWired struct {
	wiredPair
	*plot
}

func (p *plottedWired) Notice() time.Duration   { return soon }
func (p *plottedWired) KillNode(node int) error { return p.kill(p.wiredPair, node) }
func (p *plottedWired) RecoverNode(ctx context.Context, node int) error {
	return p.recover(ctx, p.wiredPair, node)
}

type plottedDatabase struct {
	databasePair
	*plot
}

func (p *plottedDatabase) Notice() time.Duration   { return soon }
func (p *plottedDatabase) KillNode(node int) error { return p.kill(p.databasePair, node) }
func (p *plottedDatabase) RecoverNode(ctx context.Context, node int) error {
	return p.recover(ctx, p.databasePair, node)
}

// openPair starts a pair that is broken; kinds are the faults that this machine lets happen to it.
func openPair(t *testing.T, target string) (b harness.Backend, kinds []load.FaultKind) {
	t.Helper()
	kinds = []load.FaultKind{load.Kill, load.Pause, load.Partition}
	b, err := harness.Open(t.Context(), target, harness.Options{Durable: true, Partition: true})
	var no *harness.NoNetworkError
	if errors.As(err, &no) {
		kinds = kinds[:2]
		b, err = harness.Open(t.Context(), target, harness.Options{Durable: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, kinds
}

// The seeds draw which servers are broken: with three kinds of faults primaryFirst kills the primary, cuts the replica
// off and stops it, and primaryStopped cuts the replica off, stops the primary, and kills the replica.
const (
	replicaFirst   = 0
	primaryFirst   = 1
	primaryStopped = 36
)

// breaking are settings of a load with some faults, which end it.
func breaking(t *testing.T, target string, seed uint64, faults int, kinds ...load.FaultKind) load.Settings {
	s := settings(t, target, "append", corpus.RepeatableRead)
	s.Duration, s.Faults, s.MaxFaults, s.FaultEvery, s.Seed = 0, kinds, faults, 300*time.Millisecond, seed
	return s
}

// TestPairFaults: a primary and its replica are broken, come back, and keep what they promise. One that loses something
// meanwhile is found.
func TestPairFaults(t *testing.T) {
	for _, c := range []struct {
		server, form string
		seed         uint64
		loses        bool // of two families that do so in one way one is enough
	}{
		{"mariadb:11.8", ",replica=row", primaryFirst, true}, {"mysql:9.7", ",replica=row", primaryStopped, false},
		{"postgres:18", ",standby=1,sync=on", primaryStopped, true},
	} {
		for _, server := range installed(t, c.server) {
			t.Run(server, func(t *testing.T) {
				t.Parallel()
				const faults = 3
				b, kinds := openPair(t, server+c.form)
				plotted, does := withPlot(b)
				r := run(t, plotted, breaking(t, server+c.form, c.seed, faults, kinds...))
				text := textOf(t, r)
				sound := !r.Found() && r.Problem() == nil && r.Lost == 0
				if !sound || len(r.Faults) != faults || r.FaultKinds[load.Kill] == 0 || r.Survives == "" {
					t.Errorf("%v\n%s", r.Problem(), text)
				}
				told := map[string]int{}
				for _, f := range r.Faults {
					t.Log(f)
					if f.From >= f.Lifted || f.Lifted > f.To {
						t.Errorf("a fault is told as %+v", f)
					}
					told[f.Node]++
				}
				for _, n := range r.Nodes {
					if told[n.Name] == 0 || n.Transactions == 0 {
						t.Errorf("%s was broken %d times, and had %d transactions", n.Name, told[n.Name], n.Transactions)
					}
				}
				if c.loses {
					loses(t, plotted, does, server+c.form)
				}
			})
		}
	}
}

func withPlot(b harness.Backend) (harness.Backend, *plot) {
	p := &plot{}
	if wired, ok := b.(wiredPair); ok {
		return &plottedWired{wired, p}, p
	}
	return &plottedDatabase{b.(databasePair), p}, p
}

// loses has a server that was killed come back without the longest list: of MySQL and MariaDB the replica, of
// PostgreSQL, whose standby takes no writes, the primary.
func loses(t *testing.T, b harness.Backend, p *plot, target string) {
	forgot := int64(0)
	nodes := b.(harness.Clustered).Topology().Nodes
	p.recovered = func(ctx context.Context, node int) (err error) {
		primary, sql := nodes[0].Backend.(harness.Database)
		switch {
		case forgot > 0:
		case sql:
			forgot, err = forgetRow(ctx, primary)
		case node == 1:
			forgot, err = forget(ctx, nodes[node].Backend.(harness.Wired), "SET sql_log_bin = 0")
		}
		return err
	}
	s := breaking(t, target, replicaFirst, 1, load.Kill)
	s.Epoch = 100_000 // an epoch ends with its fault
	r, err := load.Run(t.Context(), b, s)
	if r == nil {
		t.Fatal(err)
	}
	if forgot == 0 || !slices.ContainsFunc(r.Findings, func(f load.Finding) bool {
		return slices.Contains([]string{load.KindLost, load.KindDiffer, load.KindStopped}, f.Kind) && f.Promised != ""
	}) {
		t.Errorf("%d rows were lost, and that is not told: %v\n%s", forgot, err, textOf(t, r))
	}
	t.Logf("%d rows lost: %v", forgot, kindsOf(r))
}

// forgetRow deletes the longest list of a load.
func forgetRow(ctx context.Context, on harness.Database) (forgot int64, err error) {
	s, err := on.Open(ctx, false)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for forgot == 0 && err == nil {
		rows := ""
		rows, err = valueOf(s, "SELECT table_schema FROM information_schema.tables WHERE table_name = 'append_list'")
		if err != nil {
			return 0, err
		}
		rows, err = valueOf(s, fmt.Sprintf("WITH gone AS (DELETE FROM %[1]s.append_list WHERE k = (SELECT k FROM "+
			"%[1]s.append_list WHERE "+longEnough+" ORDER BY LENGTH(val) DESC LIMIT 1) RETURNING 1) SELECT COUNT(*) FROM gone",
			rows))
		if rows == "1" {
			forgot = 1
		}
	}
	return forgot, err
}

// valueOf returns the one value that a server answers.
func valueOf(s harness.Session, sql string) (string, error) {
	r, err := s.Execute(sql)
	switch {
	case err != nil:
		return "", err
	case r.Err != nil:
		return "", fmt.Errorf("%s: %v", sql, r.Err)
	case len(r.Rows) != 1:
		return "", fmt.Errorf("%s: %d rows", sql, len(r.Rows))
	}
	return r.Rows[0][0].Text, nil
}

// TestStandbyThatIsNotWaitedFor: a primary that acknowledges what its standby has not received is found when it is
// killed, although it has all that again when it is back.
func TestStandbyThatIsNotWaitedFor(t *testing.T) {
	const form = ",standby=1,sync=on"
	for _, server := range installed(t, "postgres:18") {
		b, kinds := openPair(t, server+form)
		if !slices.Contains(kinds, load.Partition) {
			t.Fatal("a standby cannot be cut off") // which needs no network of its own
		}
		pair := b.(databasePair)
		plotted, does := withPlot(b)
		primary := pair.Topology().Nodes[0].Backend.(harness.Database)
		s, err := primary.Open(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
			if r, err := s.Execute(q); err != nil || r.Err != nil {
				t.Fatal(q, err, r.Err)
			}
		}
		killed := 0
		does.killing = func(ctx context.Context, node int) error {
			if node != 0 {
				return nil
			}
			killed++
			return acknowledgesAlone(ctx, primary, pair)
		}
		does.recovered = func(_ context.Context, node int) error { return pair.HealNode(1) }
		set := breaking(t, server+form, primaryFirst, 1, load.Kill)
		set.Epoch = 100_000
		r := run(t, plotted, set)
		lost := slices.IndexFunc(r.Findings, func(f load.Finding) bool { return f.Kind == load.KindLost })
		if killed == 0 || lost < 0 || r.Lost == 0 || r.Findings[lost].Promised == "" {
			t.Fatalf("the primary was killed %d times:\n%s", killed, textOf(t, r))
		}
		t.Logf("%v", r.Findings[lost].Says)
		again(t, r.Findings[lost])
	}
}

// acknowledgesAlone cuts a standby off, and returns when its primary has written more.
func acknowledgesAlone(ctx context.Context, primary harness.Database, b harness.Breakable) error {
	if err := b.CutNode(1); err != nil {
		return err
	}
	s, err := primary.Open(ctx, false)
	if err != nil {
		return err
	}
	defer s.Close()
	at, err := valueOf(s, "SELECT pg_current_wal_flush_lsn()")
	for more := ""; more != "true" && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = valueOf(s, "SELECT (pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '"+at+"') > 20000)::text")
		}
	}
	return err
}
