package lying

import (
	"regexp"

	"github.com/txnfuzz/txnfuzz/harness/lying/slip"
)

// slips are lies of the workloads whose invariants need no order of transactions (package harness/load/invariant).
var slips = []slip.Slip{
	{Name: "index-entry-lost", Of: regexp.MustCompile(`FORCE INDEX \(by_a\)`), Drops: true},
	{Name: "delete-leaves-orphans", Of: regexp.MustCompile(`^DELETE FROM parent `),
		Before: "SET foreign_key_checks = 0", After: "SET foreign_key_checks = 1"},
	{Name: "job-given-twice", Of: regexp.MustCompile(`^(SELECT id FROM job .*) FOR UPDATE( SKIP LOCKED)?$`), Instead: "$1"},
	{Name: "upsert-lost", Of: regexp.MustCompile(`^INSERT INTO counter \(`), Instead: "DO 0"},
	{Name: "value-given-twice", Of: regexp.MustCompile(`^INSERT INTO auto `), Before: "SET INSERT_ID = 1"},
	{Name: "audit-row-lost", Of: regexp.MustCompile(`^UPDATE source .* token = ([0-9]+) WHERE`),
		After: "DELETE FROM trail WHERE token = $1"},
	{Name: "row-lost-by-ddl", Of: regexp.MustCompile(`^ALTER TABLE changing `),
		After: "DELETE FROM changing ORDER BY id DESC LIMIT 1"},
	{Name: "prepared-lost", Of: regexp.MustCompile(`^XA PREPARE ('.*')$`), After: "XA ROLLBACK $1"},
}

// Slips returns lies that are told in one of every statements of their form.
func Slips(every int64) []Lie {
	var out []Lie
	for _, s := range slips {
		n := &slip.Counter{Slip: s, Every: every}
		out = append(out, Lie{Name: s.Name, answer: func(c *conn, sql string) (answer, error) {
			return slip.Answer(n, slip.Server[answer]{
				Ask: c.ask, Told: c.tell, Dead: func(answer) bool { return false }, WithoutLast: answer.dropLastRow,
			}, sql)
		}})
	}
	return out
}
