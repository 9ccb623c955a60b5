package server

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// rearm has a member join its group as soon as it starts, which is what the vendor ships; until then it takes no
// writes.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-system-variables.html#sysvar_group_replication_start_on_boot
func (g groupReplication) rearm(b *private, at wiring, i int) {
	inner := b.part.nodesOnly
	b.port = at.ports[i][groupClients]
	g.arm(b, at, i)
	b.part.nodesOnly, b.part.back = inner, true
	off := slices.Index(b.extra, startsByItself+"OFF")
	b.extra[off] = startsByItself + "ON"
}

const startsByItself = "--group-replication-start-on-boot="

// notice is that of a group whose expelTimeout is 0: "If a member does not receive messages from another member for 5
// seconds, it suspects that the member has failed".
// https://dev.mysql.com/doc/refman/5.7/en/group-replication-failure-detection.html
func (g groupReplication) notice() time.Duration { return 6 * time.Second }

func (g groupReplication) belongs(ctx context.Context, s *side, size int) (lacks string, out bool, err error) {
	seen, err := membersSeen(ctx, s)
	if err != nil || seen == allOnline(size) {
		return "", false, err
	}
	rows, err := s.query(ctx, "SELECT member_state FROM performance_schema.replication_group_members "+
		"WHERE member_id = @@server_uuid")
	if err != nil {
		return "", false, fmt.Errorf("ask a member for its state: %w", err)
	}
	own := "OFFLINE"
	if len(rows) > 0 {
		own = string(rows[0][0])
	}
	return fmt.Sprintf("it is %s, and sees %s", own, seen), own == "ERROR" || own == "OFFLINE", nil
}

// comeBack joins again: after the tries of the member itself "manual intervention is needed to bring the member back into
// the group".
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-responses-failure-rejoin.html
func (g groupReplication) comeBack(ctx context.Context, s *side) error {
	for _, sql := range []string{"STOP GROUP_REPLICATION", "START GROUP_REPLICATION"} {
		if err := s.exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// runningTime is how many seconds the transactions of the elected primary get to end; without it there may always be
// one.
// https://dev.mysql.com/doc/refman/9.7/en/group-replication-functions-for-new-primary.html
const runningTime = 1

// restore makes the first member the primary again if another one was elected meanwhile.
func (g groupReplication) restore(ctx context.Context, first *side) error {
	if g.multi {
		return nil
	}
	rows, err := first.query(ctx, "SELECT member_id, member_role FROM performance_schema.replication_group_members "+
		"WHERE member_id = @@server_uuid")
	if err != nil || len(rows) == 0 || string(rows[0][1]) == "PRIMARY" {
		return err
	}
	if _, err := first.query(ctx, fmt.Sprintf("SELECT group_replication_set_as_primary('%s', %d)",
		rows[0][0], runningTime)); err != nil {
		return fmt.Errorf("make it the primary again: %w", err)
	}
	return nil
}
