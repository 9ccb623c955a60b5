package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
)

var (
	_ harness.Joiner = (*foreign)(nil)
	_ harness.Joiner = (*foreignPostgres)(nil)
)

// Membership implements harness.Joiner. It only shows variables.
func (b *foreign) Membership(ctx context.Context) (harness.Membership, error) {
	s := &side{to: b}
	defer s.Close()
	names := slices.Concat(galeraSettings, groupSettings,
		[]string{"read_only", "super_read_only", "group_replication_group_name", "wsrep_cluster_name"})
	rows, err := s.query(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('"+strings.Join(names, "','")+"')")
	if err != nil {
		return harness.Membership{}, b.scrub(fmt.Errorf("ask for its variables: %w", err))
	}
	has := map[string]string{}
	for _, r := range rows {
		has[strings.ToLower(string(r[0]))] = string(r[1])
	}
	readOnly := truth(has["read_only"]) || truth(has["super_read_only"])
	m := harness.Membership{ReadOnly: readOnly, Settings: map[string]string{}}
	decisive := []string{"replica_preserve_commit_order"}
	switch {
	case truth(has["wsrep_on"]):
		m.Kind, decisive = harness.Galera, galeraSettings
		rows, err := s.query(ctx, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")
		if err != nil {
			return harness.Membership{}, b.scrub(fmt.Errorf("ask for its cluster: %w", err))
		}
		// Clusters that began with copies of one node have the same state.
		for _, r := range rows {
			m.Group = has["wsrep_cluster_name"] + " " + string(r[1])
		}
	case has["group_replication_group_name"] != "":
		m.Kind, m.Group, decisive = harness.GroupMulti, has["group_replication_group_name"], groupSettings
		if truth(has["group_replication_single_primary_mode"]) {
			m.Kind = harness.GroupSingle
		}
	}
	for _, name := range decisive {
		if v, told := has[name]; told {
			m.Settings[name] = v
		}
	}
	return m, nil
}

// truth reads a switch; read_only of newer servers has other words, too.
func truth(value string) bool {
	switch strings.ToUpper(value) {
	case "", "OFF", "0", "NO":
		return false
	}
	return true
}

// Membership implements harness.Joiner.
func (b *foreignPostgres) Membership(ctx context.Context) (harness.Membership, error) {
	s, err := b.connect(ctx)
	if err != nil {
		return harness.Membership{}, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, s.Cut)()
	rows, err := s.Query("SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('synchronous_commit')")
	if err != nil {
		return harness.Membership{}, b.scrub(fmt.Errorf("ask whether it is a standby: %w", err))
	}
	m := harness.Membership{ReadOnly: rows[0][0].Text == "t", Settings: map[string]string{}}
	if !m.ReadOnly { // a standby's setting decides nothing
		m.Settings["synchronous_commit"] = rows[0][1].Text
	}
	return m, nil
}
