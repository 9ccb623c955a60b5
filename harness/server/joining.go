package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
)

// joining is what the options of a target say of a cluster whose nodes are alike.
type joining struct {
	kind  harness.TopologyKind
	nodes int
}

const (
	// galeraName is how a target asks for a Galera cluster: galera:11.8 is one of MariaDB 11.8.
	galeraName = "galera"
	// usualNodes is the least number of nodes of which a majority is left when one fails.
	usualNodes = 3
	// fewestNodes and mostNodes bound a cluster: one node is none, and each takes memory and a processor's time.
	fewestNodes, mostNodes = 2, 5
)

// settled are the variables that a cluster sets itself: those by which the nodes find each other, and those without
// which it is none. The whole names and the starts of names.
var settled = map[harness.TopologyKind][]string{
	harness.Galera: {
		"binlog_format", "default_storage_engine", "innodb_autoinc_lock_mode", "server_id", "wsrep_cluster_",
		"wsrep_data_home_dir", "wsrep_node_", "wsrep_notify_cmd", "wsrep_on", "wsrep_provider_options", "wsrep_sst_", "wsrep_start_position",
	},
	harness.GroupSingle: groupSettled,
	harness.GroupMulti:  groupSettled,
}

var groupSettled = []string{
	"binlog_format", "enforce_gtid_consistency", "gtid_mode", "group_replication_bootstrap_group",
	"group_replication_communication_stack", "group_replication_enforce_update_everywhere_checks",
	"group_replication_group_name", "group_replication_group_seeds", "group_replication_ip_allowlist",
	"group_replication_local_address", "group_replication_recovery_", "group_replication_single_primary_mode",
	"group_replication_ssl_mode", "group_replication_start_on_boot", "log_bin", "plugin_load", "report_", "server_id",
}

var errClusterPower = errors.New("a cluster does not lose its power: its nodes can be killed, paused and cut off")

// joining returns what the options of a target say of a cluster, nil where there is to be none.
func (s *spec) joining() (*joining, error) {
	j := &joining{nodes: usualNodes}
	number := ""
	switch {
	case s.topology[galeraName] != "":
		j.kind, number = harness.Galera, s.topology["nodes"]
	case s.topology["group"] != "":
		j.kind, number = harness.GroupSingle, s.topology["group"]
		if s.topology["primary"] == "multi" {
			j.kind = harness.GroupMulti
		}
	default:
		return nil, nil
	}
	if s.replicates != nil {
		return nil, errors.New("option replica: a cluster has no replica beside its nodes")
	}
	if number != "" {
		j.nodes, _ = strconv.Atoi(number)
	}
	for name, value := range s.options {
		for _, own := range settled[j.kind] {
			if name == own || strings.HasSuffix(own, "_") && strings.HasPrefix(name, own) {
				return nil, fmt.Errorf("option %s=%s: a cluster sets that itself", name, value)
			}
		}
	}
	return j, nil
}

// replicatesUsers says that a user who is made on one node is one of all, so that no node makes its own.
func (j *joining) replicatesUsers() bool { return j != nil && j.kind == harness.Galera }

// words says how changes come to the other nodes.
func (j *joining) words() string {
	switch j.kind {
	case harness.Galera:
		return fmt.Sprintf("Galera cluster of %d nodes", j.nodes)
	case harness.GroupSingle:
		return fmt.Sprintf("Group Replication with %d members, one of which takes writes", j.nodes)
	}
	return fmt.Sprintf("Group Replication with %d members, all of which take writes", j.nodes)
}
