package target

import "testing"

func TestLeftCluster(t *testing.T) {
	const group = `2026-11-30T12:37:45.272550Z 17 [ERROR] [MY-010584] [Repl] Replica SQL for channel 'group_replication_applier': Worker 1 failed executing transaction '7c4e5f2a-0d3b-4e61-9f57-5b1f6a0c9d28:1001286'; Could not execute Write_rows event on table txnfuzz_5784_87b99f0b_8.t; Duplicate entry '0' for key 't.PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY, Error_code: MY-001062
2026-11-30T12:37:45.272632Z 16 [ERROR] [MY-011451] [Repl] Plugin group_replication reported: 'The applier thread execution was aborted. Unable to process more transactions, this member will now leave the group.'
`
	for _, c := range []struct{ name, log, want string }{
		{"a member of a group", group, "a member leaves: Could not execute Write_rows event on table db.t; " +
			"Duplicate entry '0' for key 't.PRIMARY', Error_code: 1062"},
		{"a node of Galera", "[ERROR] WSREP: Inconsistency detected: Inconsistent by consensus on 1:2\n",
			"a member leaves: Inconsistency detected:"},
		{"nobody", "[Note] WSREP: Synchronized with group, ready for connections\n", ""},
	} {
		if got := leftCluster(c.log); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
