package model_test

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

func TestStrongerModelsForbidMore(t *testing.T) {
	for k := range model.Meanings {
		for _, d := range model.Models {
			for _, w := range model.Implied(d.Model) {
				if model.Forbids(w, k) && !model.Forbids(d.Model, k) {
					t.Errorf("%s forbids %s, %s does not", w, k, d.Model)
				}
			}
		}
	}
}

func TestWhoForbidsWhat(t *testing.T) {
	for k, want := range map[model.Kind][]model.Model{
		model.G0:            {model.ReadUncommitted},
		model.G1c:           {model.ReadCommitted},
		model.GSingleItem:   {model.RepeatableRead, model.SnapshotIsolation},
		model.GSingle:       {model.SnapshotIsolation},
		model.GNonadjacent:  {model.SnapshotIsolation},
		model.G2Item:        {model.RepeatableRead},
		model.G2:            {model.Serializable},
		"G1c-session":       {model.StrongSessionSnapshotIsolation},
		"G2-item-realtime":  {model.StrictSerializable},
		"G0-realtime":       {model.StrongSnapshotIsolation},
		model.LostUpdate:    {model.RepeatableRead, model.SnapshotIsolation},
		model.PredicateMiss: {model.SnapshotIsolation},
	} {
		if got := model.ForbiddenBy(k); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", k, got, want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		kinds []graph.Kinds
		want  model.Kind
	}{
		{[]graph.Kinds{graph.WW, graph.WW}, model.G0},
		{[]graph.Kinds{graph.WW, graph.PredicateWR}, model.G1c},
		{[]graph.Kinds{graph.WW, graph.RW}, model.GSingleItem},
		{[]graph.Kinds{graph.WW, graph.PredicateRW}, model.GSingle},
		{[]graph.Kinds{graph.RW, graph.WR, graph.RW, graph.WW}, model.GNonadjacentI},
		{[]graph.Kinds{graph.RW, graph.RW}, model.G2Item},
		{[]graph.Kinds{graph.RW, graph.WR, graph.PredicateRW}, model.G2},
		{[]graph.Kinds{graph.RW, graph.Session}, "G-single-item-session"},
		{[]graph.Kinds{graph.RW, graph.Session, graph.RealTime}, "G-single-item-realtime"},
		{[]graph.Kinds{graph.ImpliedWW, graph.WR}, model.GSingleItem},
	} {
		var cycle []graph.Edge
		for i, k := range c.kinds {
			cycle = append(cycle, graph.Edge{From: int32(i), To: int32((i + 1) % len(c.kinds)), Kind: k})
		}
		if got := model.Classify(cycle); got != c.want {
			t.Errorf("%v: %s, want %s", c.kinds, got, c.want)
		}
	}
}

func TestPromised(t *testing.T) {
	for _, c := range []struct {
		target, level string
		settings      map[string]string
		want          model.Model
	}{
		{"mysql:9.7", "RR", nil, model.ReadCommitted},
		{"mysql:9.7,binlog=off", "SERIALIZABLE", nil, model.Serializable},
		{"mariadb:11.8", "REPEATABLE READ", nil, model.SnapshotIsolation},
		{"mariadb:11.8,snapshot=off", "RR", nil, model.ReadCommitted},
		{"mariadb:11.8", "RR", map[string]string{"innodb_snapshot_isolation": "OFF"}, model.ReadCommitted},
		{"mariadb:10.11", "RR", nil, model.ReadCommitted},
		{"mariadb:10.11", "RR", map[string]string{"innodb_snapshot_isolation": "ON"}, model.SnapshotIsolation},
		{"mariadb:12.3", "RR", nil, model.SnapshotIsolation},
		{"mariadb:12.3,snapshot=off", "RR", nil, model.ReadCommitted},
		{"embedded", "RC", nil, model.ReadCommitted},
		{"embedded", "RC", map[string]string{"tidb_txn_mode": "optimistic"}, model.SnapshotIsolation},
	} {
		p, err := model.Promised(c.target, c.level, c.settings)
		if err != nil || p.Model != c.want {
			t.Errorf("%s at %s %v: %s, %v, want %s", c.target, c.level, c.settings, p.Model, err, c.want)
		}
	}
	for _, bad := range [][2]string{{"oracle", "RR"}, {"embedded", "SER"}, {"mysql", "high"}} {
		if p, err := model.Promised(bad[0], bad[1], nil); err == nil {
			t.Errorf("%v: %v", bad, p)
		}
	}
}
