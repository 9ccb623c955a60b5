package campaign

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"database/sql"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// forgetful is a target whose replica leaves out what comes for a table called t: its filter is the lie.
const forgetful = "forgetful"

func init() {
	harness.Register(forgetful, func(ctx context.Context, _ string, o harness.Options) (harness.Backend, error) {
		b, err := harness.Open(ctx, "mariadb:11.8,replica=row", o)
		if err != nil {
			return nil, err
		}
		r := b.(harness.Replicated)
		w, err := harness.WiredOf(r.Topology().Nodes[1].Backend)
		if err != nil {
			return nil, err
		}
		connector, err := mysql.NewConnector(w.Config())
		if err != nil {
			return nil, err
		}
		db := sql.OpenDB(connector)
		defer db.Close()
		for _, s := range []string{"STOP SLAVE", `SET GLOBAL replicate_wild_ignore_table = 'txnfuzz\_%.t'`, "START SLAVE"} {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return nil, err
			}
		}
		return b, nil
	}, nil)
}

func replicaSettings(t *testing.T, target string, cases int) Settings {
	return Settings{
		Target: target, Cases: cases, Workers: 2, Seed: 1, Conflict: mutate.Mix, SQL: KnownSQL,
		Known: fromRoot(findings.StoredDir), Out: filepath.Join(t.TempDir(), "found"),
	}
}

// TestRunFindsForgetfulReplica looks that a run finds such a replica, and goes on.
func TestRunFindsForgetfulReplica(t *testing.T) {
	if len(targettest.Among(t, "mariadb:11.8")) == 0 {
		t.Skip("no mariadb:11.8 here")
	}
	s := replicaSettings(t, forgetful, 6)
	s.Reduce = time.Millisecond
	r, err := RunHere(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cases != s.Cases || len(r.Findings) == 0 {
		t.Fatalf("%d cases, findings %+v", r.Cases, r.Findings)
	}
	for _, f := range r.Findings {
		if !f.Kind.OfReplica() {
			t.Errorf("%+v", f)
		}
	}
	if first := r.Findings[0]; first.Kind != oracle.ReplicaDiffers || r.Replicas == nil || r.Replicas.Rebuilt == 0 {
		t.Errorf("%+v, replica %+v", first, r.Replicas)
	}
}

// TestRunTrustsHonestReplica looks that a run does not accuse an honest replica.
func TestRunTrustsHonestReplica(t *testing.T) {
	for _, server := range targettest.Among(t, "mariadb:11.8") {
		r, err := RunHere(t.Context(), replicaSettings(t, server+",replica=row", 200))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) > 0 || r.Replicas == nil || r.Replicas.Compared < 150 || r.Replicas.Others > 0 {
			t.Errorf("findings %+v, replica %+v", r.Findings, r.Replicas)
		}
	}
}
