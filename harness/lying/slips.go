package lying

import (
	"regexp"
	"sync/atomic"
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
	{name: "index-entry-lost", of: regexp.MustCompile(`FORCE INDEX \(by_a\)`), drops: true},
	{name: "delete-leaves-orphans", of: regexp.MustCompile(`^DELETE FROM parent `),
		before: "SET foreign_key_checks = 0", after: "SET foreign_key_checks = 1"},
	{name: "job-given-twice", of: regexp.MustCompile(`^(SELECT id FROM job .*) FOR UPDATE( SKIP LOCKED)?$`), instead: "$1"},
	{name: "upsert-lost", of: regexp.MustCompile(`^INSERT INTO counter \(`), instead: "DO 0"},
	{name: "value-given-twice", of: regexp.MustCompile(`^INSERT INTO auto `), before: "SET INSERT_ID = 1"},
	{name: "audit-row-lost", of: regexp.MustCompile(`^UPDATE source .* token = ([0-9]+) WHERE`),
		after: "DELETE FROM trail WHERE token = $1"},
	{name: "row-lost-by-ddl", of: regexp.MustCompile(`^ALTER TABLE changing `),
		after: "DELETE FROM changing ORDER BY id DESC LIMIT 1"},
	{name: "prepared-lost", of: regexp.MustCompile(`^XA PREPARE ('.*')$`), after: "XA ROLLBACK $1"},
}

// Slips returns lies that are told in one of every statements of their form.
func Slips(every int64) []Lie {
	var out []Lie
	for _, s := range slips {
		n := new(atomic.Int64)
		out = append(out, Lie{Name: s.name, answer: func(c *conn, sql string) (answer, error) {
			m := s.of.FindStringSubmatchIndex(sql)
			if m == nil || n.Add(1)%every != 0 {
				return c.ask(sql)
			}
			c.tell()
			return s.tell(c, sql, func(template string) string {
				return string(s.of.ExpandString(nil, template, sql, m))
			})
		}})
	}
	return out
}

func (s *slip) tell(c *conn, sql string, spell func(string) string) (answer, error) {
	if s.before != "" {
		if _, err := c.ask(spell(s.before)); err != nil {
			return nil, err
		}
	}
	if s.instead != "" {
		sql = spell(s.instead)
	}
	a, err := c.ask(sql)
	if err != nil {
		return nil, err
	}
	if s.after != "" {
		if _, err := c.ask(spell(s.after)); err != nil {
			return nil, err
		}
	}
	if s.drops {
		a = a.dropLastRow()
	}
	return a, nil
}
