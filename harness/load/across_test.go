package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

func TestPromisedAcross(t *testing.T) {
	mysql := history.Server{DBMS: history.MySQL}
	on := history.Server{DBMS: history.MariaDB, Settings: map[string]string{"innodb_snapshot_isolation": "ON"}}
	off := history.Server{DBMS: history.MariaDB, Settings: map[string]string{"innodb_snapshot_isolation": "OFF"}}
	postgres := history.Server{DBMS: history.PostgreSQL}
	const (
		views     = " 1" // perTransaction
		statement = " 2" // perStatement
	)
	for _, c := range []struct {
		kind     harness.TopologyKind
		settings string
		server   history.Server
		level    corpus.Level
		want     string
	}{
		{harness.Galera, "", off, corpus.RepeatableRead, "snapshot-isolation" + views},
		{harness.Galera, "", on, corpus.RepeatableRead, "snapshot-isolation" + views}, // lost updates are documented
		{harness.Galera, "wsrep_sync_wait=0", on, corpus.RepeatableRead, "snapshot-isolation" + views},
		{harness.Galera, "wsrep_sync_wait=2", on, corpus.RepeatableRead, "snapshot-isolation" + views},
		{harness.Galera, "wsrep_sync_wait=7", on, corpus.RepeatableRead,
			"snapshot-isolation strong-snapshot-isolation" + views + " fresh"},
		{harness.Galera, "wsrep_sync_wait=1", off, corpus.ReadCommitted,
			"snapshot-isolation strong-snapshot-isolation" + statement + " fresh"},
		{harness.Galera, "", off, corpus.ReadUncommitted, "read-uncommitted 0"},
		{harness.Galera, "wsrep_sync_wait=7", on, corpus.Serializable, "read-uncommitted 0"},
		{harness.GroupMulti, "", mysql, corpus.Serializable, " 0 refused"},
		{harness.GroupSingle, "", mysql, corpus.Serializable, "read-committed 0 own"},
		{harness.GroupMulti, "group_replication_consistency=EVENTUAL", mysql, corpus.RepeatableRead,
			"read-committed" + views + " own"},
		{harness.GroupSingle, "group_replication_consistency=BEFORE_ON_PRIMARY_FAILOVER", mysql, corpus.ReadCommitted,
			"read-committed" + statement + " own"},
		{harness.GroupMulti, "group_replication_consistency=BEFORE", mysql, corpus.RepeatableRead,
			"read-committed" + views + " own stale fresh"},
		{harness.GroupSingle, "group_replication_consistency=BEFORE_AND_AFTER", mysql, corpus.RepeatableRead,
			"read-committed" + views + " own stale fresh"},
		{harness.GroupSingle, "group_replication_consistency=after", mysql, corpus.RepeatableRead,
			"read-committed" + views + " own fresh"},
		{harness.AsyncReplica, "replica_preserve_commit_order=OFF", mysql, corpus.RepeatableRead,
			"read-committed" + views + " own"},
		{harness.AsyncReplica, "replica_preserve_commit_order=ON", mysql, corpus.ReadCommitted,
			"read-committed" + statement + " own"},
		{harness.AsyncReplica, "", on, corpus.RepeatableRead, "snapshot-isolation 0"},
		{harness.AsyncReplica, "", off, corpus.RepeatableRead, "snapshot-isolation" + views},
		{harness.PhysicalStandby, "synchronous_commit=remote_apply", postgres, corpus.RepeatableRead,
			"read-committed 0 own fresh"},
		{harness.PhysicalStandby, "synchronous_commit=on", postgres, corpus.ReadCommitted,
			"read-committed" + statement + " own"},
		{"", "", mysql, corpus.Serializable, " 0"},
	} {
		settings := map[string]string{}
		if name, value, ok := strings.Cut(c.settings, "="); ok {
			settings[name] = value
		}
		a := promisedAcross(harness.Topology{Kind: c.kind, Settings: settings}, c.server, c.level)
		got := fmt.Sprintf("%s %d", joinedModels(a.promise), a.views)
		for _, f := range []struct {
			set  bool
			name string
		}{
			{len(a.also) > 0, "own"}, {len(a.also) > len(own), "stale"}, {a.fresh, "fresh"}, {a.refused, "refused"},
		} {
			if f.set {
				got += " " + f.name
			}
		}
		if got != c.want {
			t.Errorf("%s %s at %s: %q, want %q", c.kind, c.settings, c.level, got, c.want)
		}
	}
}

// TestAcrossIsSourced: every kind says something of every level, with the sentence that it stands on, and claims of no
// node more than the node promises alone.
func TestAcrossIsSourced(t *testing.T) {
	levels := []corpus.Level{corpus.ReadUncommitted, corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable}
	for kind, server := range map[harness.TopologyKind]history.DBMS{
		harness.Galera: history.MariaDB, harness.GroupSingle: history.MySQL, harness.GroupMulti: history.MySQL,
		harness.AsyncReplica: history.MySQL, harness.PhysicalStandby: history.PostgreSQL,
	} {
		for _, level := range levels {
			s := history.Server{DBMS: server}
			a := promisedAcross(harness.Topology{Kind: kind}, s, level)
			if a.quote == "" || a.withheld == "" || !strings.HasPrefix(a.cite, "https://") || (len(a.models) == 0) != a.refused {
				t.Errorf("%s at %s: %+v", kind, level, a)
			}
			alone := promised(s, level)
			for _, m := range a.models {
				if !impliedByAny(alone.models, m) {
					t.Errorf("%s at %s: %s between nodes, but one node alone has %v", kind, level, m, alone.models)
				}
			}
			for _, k := range a.also {
				if model.Meaning(k) == "" {
					t.Errorf("%s at %s: no anomaly is called %s", kind, level, k)
				}
			}
		}
	}
}

func impliedByAny(models []model.Model, weaker model.Model) bool {
	for _, m := range models {
		if model.Implies(m, weaker) {
			return true
		}
	}
	return false
}
