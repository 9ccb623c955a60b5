package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/harness/lying"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// lyingPrimary is a pair of MySQL's protocol whose primary is seen through a lie.
type lyingPrimary struct {
	harness.Wired
	pair harness.Replicated
}

func (p *lyingPrimary) Topology() harness.Topology {
	t := p.pair.Topology()
	t.Nodes = slices.Clone(t.Nodes)
	t.Nodes[0].Backend = p.Wired
	return t
}

func (p *lyingPrimary) Follow(ctx context.Context) (harness.Follower, error) {
	return p.pair.Follow(ctx)
}
func (p *lyingPrimary) Rebuild(ctx context.Context) error { return p.pair.Rebuild(ctx) }

// seenThrough is a pair whose nodes are seen through something else.
type seenThrough struct {
	harness.Backend
	pair  harness.Replicated
	nodes []harness.Node
}

func (w *seenThrough) Topology() harness.Topology {
	t := w.pair.Topology()
	t.Nodes = w.nodes
	return t
}

func (w *seenThrough) Follow(ctx context.Context) (harness.Follower, error) {
	return w.pair.Follow(ctx)
}
func (w *seenThrough) Rebuild(ctx context.Context) error { return w.pair.Rebuild(ctx) }

// wandering is a PostgreSQL whose sessions are now and then answered by the standby in the middle of a transaction.
type wandering struct {
	seenThrough
	told atomic.Int64
}

func (w *wandering) Open(ctx context.Context, own bool) (harness.Session, error) {
	s, err := w.Backend.(harness.Database).Open(ctx, own)
	if err != nil {
		return nil, err
	}
	other, err := w.nodes[1].Backend.(harness.Database).Open(ctx, own)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &wanderer{Session: s, other: other, of: w}, nil
}

type wanderer struct {
	harness.Session
	other harness.Session
	of    *wandering
	reads int
}

func (w *wanderer) Execute(sql string) (harness.Reply, error) {
	if strings.HasPrefix(sql, "SET search_path") {
		if _, err := w.other.Execute(sql); err != nil {
			return harness.Reply{}, err
		}
	}
	if strings.HasPrefix(sql, "SELECT val FROM append_list") {
		if w.reads++; w.reads%8 == 0 {
			w.of.told.Add(1)
			return w.other.Execute(sql)
		}
	}
	return w.Session.Execute(sql)
}

func (w *wanderer) Close() error { return errors.Join(w.other.Close(), w.Session.Close()) }

// TestNodes: clients read on replicas, which keep what they promise, and the history says who read where.
func TestNodes(t *testing.T) {
	for _, c := range []struct {
		target, workload string
		level            corpus.Level
	}{
		{"mariadb:11.8", "append", corpus.RepeatableRead}, {"mariadb:11.8", "index", corpus.ReadCommitted},
		{"postgres:18", "register", corpus.Serializable},
	} {
		for _, target := range installed(t, c.target) {
			b := pairOf(t, target)
			var out bytes.Buffer
			s := settings(t, target, c.workload, c.level)
			s.Duration, s.Protocol = time.Second/2, protocol.Mixed(1)
			if c.workload != "index" {
				s.History = &out
			}
			r := run(t, b, s)
			if r.Sent == nil || r.Sent.Prepared == 0 || r.Sent.Executed == 0 {
				t.Errorf("%s, %s: sent %+v", target, c.workload, r.Sent)
			}
			if r.Found() || r.Problem() != nil {
				t.Errorf("%s %s: %v\n%s", target, c.workload, r.Problem(), textOf(t, r))
			}
			if len(r.Nodes) != 2 || r.Nodes[0].Transactions == 0 || r.Nodes[1].Transactions == 0 || r.Together == "" {
				t.Errorf("%s %s: %+v, promised %q", target, c.workload, r.Nodes, r.Together)
			}
			if c.workload != "index" {
				readsOnly(t, &out)
			}
		}
	}
}

// pairs are those that are open, by target: each takes a second to start.
var pairs = map[string]harness.Backend{}

func pairOf(t *testing.T, target string) harness.Backend {
	t.Helper()
	form := ",replica=row"
	if strings.HasPrefix(target, "postgres") {
		form = ",standby=1"
	}
	if pairs[target] == nil {
		pairs[target] = open(t, target+form, harness.Options{})
		t.Cleanup(func() { delete(pairs, target) })
	}
	return pairs[target]
}

// readsOnly holds a recorded history against what replicas may do.
func readsOnly(t *testing.T, text *bytes.Buffer) {
	t.Helper()
	src, err := kv.ReadJSONLines("out", text)
	if err != nil {
		t.Fatal(err)
	}
	h, err := kv.Load("out", src)
	if err != nil {
		t.Fatal(err)
	}
	sessions := map[string]map[int32]bool{}
	for i := range h.Len() {
		n := h.Node(i)
		if sessions[n] == nil {
			sessions[n] = map[int32]bool{}
		}
		sessions[n][h.Txn(i).Session] = true
		for _, o := range h.Ops(i) {
			if !o.Kind.IsRead() && n != "primary" {
				t.Fatalf("%s writes on node %q", o.Kind, n)
			}
		}
	}
	if len(sessions) != 2 || len(h.Header.Nodes) != 2 || h.Header.Topology == "" {
		t.Errorf("header %+v, sessions by node %v", h.Header, sessions)
	}
}

// TestLiesOfNodes: what nodes show together, and not what one of them shows alone, tells on these servers.
func TestLiesOfNodes(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		for _, c := range []struct {
			lie     lying.Lie
			options string
		}{
			{lying.KeptBack(50), ",replica=row"},
			{lying.Misordered(4), ",replica=row,workers=4"},
		} {
			pair := open(t, target+c.options, harness.Options{}).(harness.Replicated)
			liar := lying.Through(pair.Topology().Nodes[0].Backend, c.lie)
			r := untilFirst(t, &lyingPrimary{liar, pair}, target)
			if liar.Told() == 0 || !r.Found() {
				t.Errorf("%s, told %d times:\n%s", c.lie.Name, liar.Told(), textOf(t, r))
			}
			for _, f := range r.Findings {
				if f.Promised == "" {
					t.Errorf("%s: %s is no finding of several nodes", c.lie.Name, f.Kind)
				}
				again(t, f)
			}
		}
	}
	for _, target := range installed(t, "postgres:18") {
		pair := pairOf(t, target).(harness.Replicated)
		nodes := slices.Clone(pair.Topology().Nodes)
		w := &wandering{seenThrough: seenThrough{nodes[0].Backend, pair, nodes}}
		nodes[0].Backend = w
		r := untilFirst(t, w, target)
		if w.told.Load() == 0 || !r.Found() {
			t.Errorf("a session that wanders, %d times:\n%s", w.told.Load(), textOf(t, r))
		}
	}
}

// untilFirst runs appends until something is found.
func untilFirst(t *testing.T, b harness.Backend, target string) *load.Report {
	t.Helper()
	s := settings(t, target, "append", corpus.RepeatableRead)
	s.Clients, s.Duration, s.Epoch, s.UntilFound = 8, 10*time.Second, 400, true
	r, err := load.Run(t.Context(), b, s)
	if r == nil {
		t.Fatal(err)
	}
	t.Logf("%s: found %v after %d transactions, in %.1f s (%v)", target, kindsOf(r), r.Transactions, r.Seconds, err)
	return r
}

func kindsOf(r *load.Report) (kinds []string) {
	for _, f := range r.Findings {
		kinds = append(kinds, fmt.Sprint(f.Kind, " ", f.Says))
	}
	return kinds
}
