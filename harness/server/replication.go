package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// replication is how what a primary commits comes to its replica, as the options of a target say.
type replication struct {
	// format is the form of the binary log: ROW, MIXED or STATEMENT; empty on PostgreSQL.
	format string
	// workers is how many transactions the replica applies at a time; -1: what the vendor ships.
	workers int
	// order is MySQL's replica_preserve_commit_order, ON or OFF; empty: what the vendor ships.
	order string
	// sync is PostgreSQL's synchronous_commit: local, on or remote_apply.
	sync string
}

// topologyOptions are the options of a target that make it several servers.
var topologyOptions = map[string]struct {
	only   []history.DBMS
	values []string // empty: a number from least to most
	// least and most bound a number.
	least, most int
	// behind is the option without which this one says nothing; empty: none.
	behind string
}{
	"replica": {only: []history.DBMS{history.MySQL, history.MariaDB}, values: []string{"row", "mixed", "statement"}},
	"workers": {only: []history.DBMS{history.MySQL, history.MariaDB}, most: mostWorkers, behind: "replica"},
	"order":   {only: []history.DBMS{history.MySQL}, values: []string{"on", "off"}, behind: "replica"},
	"standby": {only: []history.DBMS{history.PostgreSQL}, values: []string{"1"}},
	"sync": {
		only: []history.DBMS{history.PostgreSQL}, values: []string{"off", "on", "remote_apply"}, behind: "standby",
	},
	"nodes":   {only: []history.DBMS{history.MariaDB}, least: fewestNodes, most: mostNodes, behind: galeraName},
	"group":   {only: []history.DBMS{history.MySQL}, least: fewestNodes, most: mostNodes},
	"primary": {only: []history.DBMS{history.MySQL}, values: []string{"single", "multi"}, behind: "group"},
}

// mostWorkers is more than what a machine for tests has processors.
const mostWorkers = 64

// setTopology takes an option that makes a target several servers.
func (s *spec) setTopology(key, value string) error {
	o := topologyOptions[key]
	if !slices.Contains(o.only, s.family) {
		return fmt.Errorf("option %s exists for %s only", key, join(o.only, " and "))
	}
	value = strings.ToLower(value)
	if len(o.values) > 0 && !slices.Contains(o.values, value) {
		return fmt.Errorf("option %s=%s: want one of %s", key, value, strings.Join(o.values, ", "))
	}
	if s.topology == nil {
		s.topology = map[string]string{}
	}
	if len(o.values) == 0 {
		if n, err := strconv.Atoi(value); err != nil || n < o.least || n > o.most {
			return fmt.Errorf("option %s=%s: want a number from %d to %d", key, value, o.least, o.most)
		}
	}
	s.topology[key] = value
	return nil
}

// replication returns what the options of a target say of a replica, nil where there is to be none.
func (s *spec) replication() (*replication, error) {
	for key := range s.topology {
		behind := topologyOptions[key].behind
		switch {
		case behind == "" || s.topology[behind] != "":
		case behind == galeraName:
			return nil, fmt.Errorf("option %s is of a Galera cluster: want a target such as galera:11.8,nodes=3", key)
		case behind == "group":
			return nil, fmt.Errorf("option %s is of a group: want group=3, too", key)
		default:
			return nil, fmt.Errorf("option %s is of a replica: want %s=%s, too", key, behind, topologyOptions[behind].values[0])
		}
	}
	r := &replication{workers: -1}
	r.format, r.order = strings.ToUpper(s.topology["replica"]), strings.ToUpper(s.topology["order"])
	if n, ok := s.topology["workers"]; ok {
		r.workers, _ = strconv.Atoi(n)
	}
	switch s.topology["sync"] {
	case "", "off":
		r.sync = "local" // the standby gets what the primary has flushed, and off leaves that for later
	default:
		r.sync = s.topology["sync"]
	}
	switch {
	case r.format != "":
		for _, own := range []string{"log_bin", "binlog_format", "gtid_mode", "enforce_gtid_consistency", "server_id"} {
			if v, set := s.options[own]; set {
				return nil, fmt.Errorf("option %s=%s: a target with a replica sets that itself", own, v)
			}
		}
		s.options["log_bin"], s.options["binlog_format"] = "ON", r.format
		return r, nil
	case s.topology["standby"] != "":
		return r, nil
	}
	return nil, nil
}

// words says how changes come to the replica.
func (r *replication) words() string {
	var b strings.Builder
	switch r.format {
	case "":
		fmt.Fprintf(&b, "physical standby, synchronous_commit=%s", r.sync)
	default:
		fmt.Fprintf(&b, "asynchronous replica, binlog_format=%s", r.format)
	}
	if r.workers >= 0 {
		fmt.Fprintf(&b, ", %d workers", r.workers)
	}
	if r.order != "" {
		fmt.Fprintf(&b, ", replica_preserve_commit_order=%s", r.order)
	}
	return b.String()
}

// A binary log in STATEMENT form takes no change of InnoDB below REPEATABLE READ: error 1665.
// https://dev.mysql.com/doc/refman/en/binary-log-setting.html
// https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/binary-log-formats
const statementFormat = "STATEMENT"

var errPairPower = errors.New("a server with a replica does not lose its power: the two can be killed, paused and " +
	"cut off")
