package load_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

type breakableWired interface {
	harness.Wired
	harness.Breakable
}

// broken is a cluster whose nodes fail for a moment only, so that a test is quick.
type broken struct {
	breakableWired
	// forgets: what was acknowledged is deleted behind the load's back while a node is down, and the node learns of it.
	forgets bool
	forgot  int64
}

func (b *broken) Notice() time.Duration { return 200 * time.Millisecond }

func (b *broken) KillNode(node int) error {
	if err := b.breakableWired.KillNode(node); err != nil || !b.forgets {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	nodes := b.Topology().Nodes
	var err error
	b.forgot, err = forget(ctx, nodes[(node+1)%len(nodes)].Backend.(harness.Wired))
	return err
}

// longEnough are lists in which several appends were acknowledged: of an empty one nothing would be lost.
const longEnough = "LENGTH(val) > 12"

// forget deletes the longest list of a load on a node. Statements of setup come first on its connection.
func forget(ctx context.Context, on harness.Wired, setup ...string) (forgot int64, err error) {
	cfg := on.Config()
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return on.Dial(ctx) }
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return 0, err
	}
	pool := sql.OpenDB(connector)
	defer pool.Close()
	db, err := pool.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	for _, q := range setup {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return 0, err
		}
	}
	for forgot == 0 && err == nil {
		var schema string
		err = db.QueryRowContext(ctx, "SELECT table_schema FROM information_schema.tables "+
			"WHERE table_name = 'append_list'").Scan(&schema)
		if err != nil {
			break
		}
		// A client may win, and then the deletion fails.
		done, wrong := db.ExecContext(ctx,
			"DELETE FROM "+schema+".append_list WHERE "+longEnough+" ORDER BY LENGTH(val) DESC LIMIT 1")
		if wrong == nil {
			forgot, err = done.RowsAffected()
		} else if ctx.Err() != nil {
			err = wrong
		}
	}
	return forgot, err
}

// TestNodeFaults: nodes come back, everything that was acknowledged is there, and a cluster that forgets is found.
func TestNodeFaults(t *testing.T) {
	const target = "galera:11.8"
	b, err := harness.Open(t.Context(), target, harness.Options{Durable: true, Partition: true})
	var alone *harness.NoNetworkError
	kinds := []load.FaultKind{load.Pause, load.Partition, load.Kill}
	if errors.As(err, &alone) {
		kinds = slices.DeleteFunc(kinds, func(k load.FaultKind) bool { return k == load.Partition })
		b, err = harness.Open(t.Context(), target, harness.Options{Durable: true})
	}
	if err != nil {
		if len(installed(t, target)) == 0 {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	forgets := &broken{breakableWired: b.(breakableWired)}
	for _, k := range append(kinds, load.Kill) {
		s := settings(t, target, "append", corpus.RepeatableRead)
		s.Duration, s.Faults, s.MaxFaults, s.FaultEvery = 0, []load.FaultKind{k}, 1, 300*time.Millisecond
		s.Epoch, s.Openings = 100_000, withoutSavepoints // an epoch ends with its fault
		r := run(t, forgets, s)
		text := textOf(t, r)
		if len(r.Faults) != 1 {
			t.Fatalf("%d faults, want 1:\n%s", len(r.Faults), text)
		}
		f := r.Faults[0]
		t.Logf("%s; %d transactions, %d committed", f, r.Transactions, r.OK)
		if f.Kind != k || f.Node == "" || f.From >= f.Lifted || f.Lifted > f.To || r.FaultKinds[k] != 1 {
			t.Errorf("%s: the fault is told as %+v", k, f)
		}
		at := slices.IndexFunc(r.Nodes, func(n load.NodeReport) bool { return n.Name == f.Node })
		if at < 0 || r.Nodes[at].Faults[k] != 1 || r.Survives == "" {
			t.Errorf("%s: the nodes are told as %+v", k, r.Nodes)
		}
		lost := slices.IndexFunc(r.Findings, func(f load.Finding) bool { return f.Kind == load.KindLost })
		switch {
		case !forgets.forgets && (r.Found() || r.Problem() != nil || r.Lost > 0):
			t.Errorf("%s: %v\n%s", k, r.Problem(), text)
		case forgets.forgets && (forgets.forgot == 0 || lost < 0 || r.Lost == 0 || r.Findings[lost].Promised == ""):
			t.Errorf("%d rows were deleted, and that is not told:\n%s", forgets.forgot, text)
		case forgets.forgets:
			again(t, r.Findings[lost])
		}
		forgets.forgets = k == load.Kill // the last one
	}
}
