package pglying

import (
	"regexp"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/harness"
)

// slip is a lie that is told in one of so many statements of a form, of the workloads whose invariants need no order of
// transactions (package harness/load/invariant). before and after are sent around the statement, instead takes its
// place; drops loses the last row of the answer. $1 is the first group of the form.
type slip struct {
	name                   string
	of                     *regexp.Regexp
	before, instead, after string
	drops                  bool
}

var slips = []slip{
	{name: "index-entry-lost", of: regexp.MustCompile(` AND a BETWEEN .* AND b \+ 0 BETWEEN `), drops: true},
	{name: "delete-leaves-orphans", of: regexp.MustCompile(`^DELETE FROM parent `),
		before: "SET LOCAL session_replication_role = replica", after: "SET LOCAL session_replication_role = origin"},
	{name: "job-given-twice", of: regexp.MustCompile(`^(SELECT id FROM job .*) FOR UPDATE SKIP LOCKED$`), instead: "$1"},
	{name: "upsert-lost", of: regexp.MustCompile(`^INSERT INTO counter \(`), instead: "SELECT 1"},
	{name: "audit-row-lost", of: regexp.MustCompile(`^UPDATE source .* token = ([0-9]+) WHERE`),
		after: "DELETE FROM trail WHERE token = $1"},
	{name: "row-lost-by-ddl", of: regexp.MustCompile(`^ALTER TABLE changing `),
		after: "DELETE FROM changing WHERE id = (SELECT MAX(id) FROM changing)"},
	{name: "prepared-lost", of: regexp.MustCompile(`^PREPARE TRANSACTION ('.*')$`), after: "ROLLBACK PREPARED $1"},
}

// Slips returns lies that are told in one of every statements of their form.
func Slips(every int64) []Lie {
	var out []Lie
	for _, sl := range slips {
		n := new(atomic.Int64)
		out = append(out, Lie{Name: sl.name, Levels: everywhere, answer: func(s *session, sql string) (harness.Reply, error) {
			m := sl.of.FindStringSubmatchIndex(sql)
			if m == nil || n.Add(1)%every != 0 {
				return s.ask(sql)
			}
			s.tell()
			return sl.tell(s, sql, func(template string) string {
				return string(sl.of.ExpandString(nil, template, sql, m))
			})
		}})
	}
	return out
}

func (sl *slip) tell(s *session, sql string, spell func(string) string) (harness.Reply, error) {
	if sl.before != "" {
		if r, err := s.ask(spell(sl.before)); err != nil || r.Err != nil {
			return r, err
		}
	}
	if sl.instead != "" {
		sql = spell(sl.instead)
	}
	r, err := s.ask(sql)
	if err != nil || r.Err != nil {
		return r, err
	}
	if sl.after != "" {
		if a, err := s.ask(spell(sl.after)); err != nil || a.Err != nil {
			return a, err
		}
	}
	if n := len(r.Rows); sl.drops && n > 0 {
		r.Rows = r.Rows[:n-1]
	}
	return r, nil
}
