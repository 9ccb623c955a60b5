package export

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// replicaTitle says in one line what is wrong with a replica.
func replicaTitle(r *history.ReplicaTrouble) string {
	of := "standby"
	if format := r.BinlogFormat(); format != "" {
		of = format + " replica"
	}
	switch {
	case r.Stopped && r.Code == 0:
		return of + " stops"
	case r.Stopped:
		what, _, _ := strings.Cut(r.Text, ", Error_code")
		return fmt.Sprintf("%s stops with error %d: %s", of, r.Code, cut(what))
	}
	if r.Read != nil {
		return fmt.Sprintf("%s shows what it should not while it applies transactions: %s", of, cut(r.Actual()))
	}
	return fmt.Sprintf("%s silently holds other rows than the primary: %s", of, cut(r.Actual()))
}

// nodes say how a primary and its replica are made, by family.
var nodes = map[history.DBMS]string{
	history.MySQL: "Primary: --server-id=1 --log-bin --gtid-mode=ON --enforce-gtid-consistency=ON. " +
		"Replica: --server-id=2 --gtid-mode=ON --enforce-gtid-consistency=ON, then " +
		"CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION=1, with host, user and password of the primary; START REPLICA",
	history.MariaDB: "Primary: --server-id=1 --log-bin. Replica: --server-id=2 --log-bin --log-slave-updates, then " +
		"CHANGE MASTER TO MASTER_USE_GTID=slave_pos, with host, user and password of the primary; START SLAVE",
	history.PostgreSQL: "Primary: wal_level=replica. Standby: a copy of the data with standby.signal and primary_conninfo",
}

// looks say where a replica tells that it has stopped.
var looks = map[history.DBMS]string{
	history.MySQL:      "look at SHOW REPLICA STATUS there",
	history.MariaDB:    "look at SHOW SLAVE STATUS there",
	history.PostgreSQL: "look at its log",
}

// clusterTitle says in one line what is wrong with a cluster; empty where that is an answer to a session.
func (s *script) clusterTitle() string {
	switch s.Verdict.Kind {
	case oracle.NodesDiffer:
		return "members silently hold different rows: " + cut(s.Verdict.Actual)
	case oracle.ReplicaStopped:
		return "a member leaves, since it cannot apply what another one has committed"
	}
	return ""
}

// topologyText says what a finding about a replica or on a cluster has to run on; empty for others.
func (s *script) topologyText() string {
	if c := s.History.Cluster; c != nil {
		look := ""
		switch s.Verdict.Kind {
		case oracle.NodesDiffer:
			look = ", and compare the tables of the nodes"
		case oracle.ReplicaStopped:
			look = ", and look whether all of them are members still"
		}
		return fmt.Sprintf("It takes a %s: %s. Wait behind each COMMIT until the other nodes have applied it%s.",
			c.Form, c.Places(s.Sessions), look)
	}
	r := s.History.Replica
	if r == nil || !s.Verdict.Kind.OfReplica() {
		return ""
	}
	dbms := s.History.Server.DBMS
	look := "compare the tables of the two"
	switch {
	case r.Stopped:
		look = looks[dbms]
	case r.Read != nil:
		return fmt.Sprintf("It takes a primary and a replica (%s). %s. Send the statements to the primary, and meanwhile "+
			"read the tables on the replica again and again, each time in one transaction at REPEATABLE READ. It is a race.",
			r.Form, nodes[dbms])
	}
	return fmt.Sprintf("It takes a primary and a replica (%s). %s. Send the statements to the primary, wait until the "+
		"replica has applied them, and %s.", r.Form, nodes[dbms], look)
}

// rowsAreSafe is what the manual says of the form ROW of the binary log.
var rowsAreSafe = quote{
	"All changes can be replicated. This is the safest form of replication.",
	"https://dev.mysql.com/doc/refman/en/replication-sbr-rbr.html",
}

func (s *script) replicaQuotes() []quote {
	r := s.History.Replica
	if r != nil && r.Read != nil {
		if s.History.Reads == nil {
			return nil
		}
		p := &s.History.Reads.Promise
		return []quote{{p.Quote, p.Cite}}
	}
	if r != nil && s.History.Server.DBMS == history.MySQL && r.BinlogFormat() == "ROW" {
		return []quote{rowsAreSafe}
	}
	return nil
}
