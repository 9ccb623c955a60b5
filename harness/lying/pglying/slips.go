package pglying

import (
	"regexp"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/lying/slip"
)

// slips are lies of the workloads whose invariants need no order of transactions (package harness/load/invariant).
var slips = []slip.Slip{
	{Name: "index-entry-lost", Of: regexp.MustCompile(` AND a BETWEEN .* AND b \+ 0 BETWEEN `), Drops: true},
	{Name: "delete-leaves-orphans", Of: regexp.MustCompile(`^DELETE FROM parent `),
		Before: "SET LOCAL session_replication_role = replica", After: "SET LOCAL session_replication_role = origin"},
	{Name: "job-given-twice", Of: regexp.MustCompile(`^(SELECT id FROM job .*) FOR UPDATE SKIP LOCKED$`), Instead: "$1"},
	{Name: "upsert-lost", Of: regexp.MustCompile(`^INSERT INTO counter \(`), Instead: "SELECT 1"},
	{Name: "audit-row-lost", Of: regexp.MustCompile(`^UPDATE source .* token = ([0-9]+) WHERE`),
		After: "DELETE FROM trail WHERE token = $1"},
	{Name: "row-lost-by-ddl", Of: regexp.MustCompile(`^ALTER TABLE changing `),
		After: "DELETE FROM changing WHERE id = (SELECT MAX(id) FROM changing)"},
	{Name: "prepared-lost", Of: regexp.MustCompile(`^PREPARE TRANSACTION ('.*')$`), After: "ROLLBACK PREPARED $1"},
}

// Slips returns lies that are told in one of every statements of their form.
func Slips(every int64) []Lie {
	var out []Lie
	for _, s := range slips {
		n := &slip.Counter{Slip: s, Every: every}
		out = append(out, Lie{Name: s.Name, Levels: everywhere, answer: func(s *session, sql string) (harness.Reply, error) {
			return slip.Answer(n, slip.Server[harness.Reply]{
				Ask: s.ask, Told: s.tell, Dead: func(r harness.Reply) bool { return r.Err != nil }, WithoutLast: withoutLast,
			}, sql)
		}})
	}
	return out
}

func withoutLast(r harness.Reply) harness.Reply {
	r.Rows = r.Rows[:max(0, len(r.Rows)-1)]
	return r
}
