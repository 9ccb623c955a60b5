package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/network"
)

// groupReplication is how MySQL's nodes become a group.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-configuring-instances.html
type groupReplication struct {
	in    installation
	multi bool
}

// ports of a node in wiring.ports.
const groupClients, groupMessages = 0, 1

// groupSettings decide what is promised between nodes, or tell how changes come to them.
var groupSettings = []string{
	"group_replication_consistency", "group_replication_single_primary_mode", "replica_parallel_workers",
	"replica_preserve_commit_order",
}

func (g groupReplication) portsEach() int     { return 2 }
func (g groupReplication) decisive() []string { return groupSettings }

func (g groupReplication) template(ctx context.Context, o harness.Options) (string, error) {
	return g.in.template(ctx, o.Progress)
}

func (g groupReplication) arm(b *private, at wiring, i int) {
	var seeds []string
	for n := range at.ports {
		seeds = append(seeds, at.address(n, groupMessages))
	}
	onOff := map[bool]string{true: "ON", false: "OFF"}
	// A member that joins gets what it lacks from another one by TCP, as a client.
	b.part.nodesOnly = b.port == 0
	b.port = at.ports[i][groupClients]
	login := at.login.Clone()
	login.Addr = at.address(i, groupClients)
	allowed := "127.0.0.1/8"
	if at.apart {
		allowed, b.part.from = network.Range, network.Everybody
	}
	b.part.login = login
	b.extra = append([]string{
		"--server-id=" + strconv.Itoa(i+1), "--relay-log=relay", "--report-host=" + at.host(i),
		"--plugin-load-add=group_replication.so",
		"--group-replication-group-name=" + at.group, startsByItself + "OFF",
		"--group-replication-local-address=" + at.address(i, groupMessages),
		"--group-replication-group-seeds=" + strings.Join(seeds, ","),
		"--group-replication-single-primary-mode=" + onOff[!g.multi],
		"--group-replication-enforce-update-everywhere-checks=" + onOff[g.multi],
		"--group-replication-ip-allowlist=" + allowed, "--group-replication-communication-stack=XCOM",
		"--group-replication-ssl-mode=DISABLED", "--group-replication-recovery-use-ssl=OFF",
		"--group-replication-recovery-get-public-key=ON", "--group-replication-recovery-reconnect-interval=1",
	}, mysqlNode...)
	if _, chosen := b.spec.options[expelTimeout]; b.durable && !chosen {
		b.extra = append(b.extra, "--"+strings.ReplaceAll(expelTimeout, "_", "-")+"=0")
	}
}

// expelTimeout is how many seconds a member that does not answer stays a member; the vendor ships 5. Nodes of one machine
// that fail on purpose need none.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-responses-failure-expel.html
const expelTimeout = "group_replication_member_expel_timeout"

// join has the first node begin the group, and the others join it.
func (g groupReplication) join(ctx context.Context, m *members) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for i, b := range m.all {
		s := &side{to: b}
		defer s.Close()
		login := b.part.login
		for _, sql := range []string{
			"RESET BINARY LOGS AND GTIDS", // the users that each node has made for itself
			fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_USER='%s', SOURCE_PASSWORD='%s' "+
				"FOR CHANNEL 'group_replication_recovery'", login.User, login.Passwd),
		} {
			if err := s.exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", nodeName(i), err) // the text holds a password
			}
		}
		if i > 0 {
			continue
		}
		for _, sql := range []string{
			"SET GLOBAL group_replication_bootstrap_group=ON", "START GROUP_REPLICATION",
			"SET GLOBAL group_replication_bootstrap_group=OFF",
		} {
			if err := s.exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %s: %w", nodeName(i), sql, err)
			}
		}
	}
	// One by one: a member that asks while another one is let in comes again seconds later.
	for i, b := range m.all[1:] {
		s := &side{to: b}
		defer s.Close()
		if err := s.exec(ctx, "START GROUP_REPLICATION"); err != nil {
			return fmt.Errorf("%s: %w", nodeName(i+1), err)
		}
	}
	for i, b := range m.all {
		s := &side{to: b}
		defer s.Close()
		if err := online(ctx, s, len(m.all)); err != nil {
			return fmt.Errorf("%s: %w", nodeName(i), err)
		}
	}
	return nil
}

// online waits until a member sees so many that have all.
func online(ctx context.Context, s *side, size int) error {
	for {
		seen, err := membersSeen(ctx, s)
		switch {
		case err != nil:
			return err
		case seen == allOnline(size):
			return nil
		case strings.Contains(seen, "ERROR"):
			return fmt.Errorf("a member has left the group: %s", seen)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the group is not complete: %s: %w", seen, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// membersSeen tells how many members of each state a member sees.
func membersSeen(ctx context.Context, s *side) (string, error) {
	rows, err := s.query(ctx,
		"SELECT member_state, COUNT(*) FROM performance_schema.replication_group_members GROUP BY 1")
	if err != nil {
		return "", fmt.Errorf("ask a member for its group: %w", err)
	}
	var states []string
	for _, r := range rows {
		states = append(states, fmt.Sprintf("%s members %s", r[1], r[0]))
	}
	return strings.Join(states, ", "), nil
}

func allOnline(size int) string { return fmt.Sprintf("%d members ONLINE", size) }
