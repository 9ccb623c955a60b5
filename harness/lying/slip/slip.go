// Package slip holds lies that are told now and then about statements of some form, whatever the server's protocol.
package slip

import (
	"regexp"
	"sync/atomic"
)

// Slip is what is done wrong. Before, Instead and After are statements, in which $1 stands for the first group of Of; an
// empty one is not sent.
type Slip struct {
	Name string
	// Of matches the statements.
	Of                     *regexp.Regexp
	Before, Instead, After string
	// Drops: the last row of the answer is missing.
	Drops bool
}

// Server is how an honest server is asked, whose answers are of type A.
type Server[A any] struct {
	Ask func(sql string) (A, error)
	// Dead: behind this answer no other statement is of use, as in a failed transaction of PostgreSQL.
	Dead func(A) bool
	// WithoutLast is an answer without its last row.
	WithoutLast func(A) A
	// Told is called when the lie is told.
	Told func()
}

// Counter tells a slip about one in every of its statements, on all sessions together.
type Counter struct {
	Slip
	Every int64
	met   atomic.Int64
}

// Answer asks an honest server, and lies when it is time to.
func Answer[A any](c *Counter, s Server[A], sql string) (A, error) {
	match := c.Of.FindStringSubmatchIndex(sql)
	if match == nil || c.met.Add(1)%c.Every != 0 {
		return s.Ask(sql)
	}
	s.Told()
	spell := func(template string) string { return string(c.Of.ExpandString(nil, template, sql, match)) }
	if c.Before != "" {
		if a, err := s.Ask(spell(c.Before)); err != nil || s.Dead(a) {
			return a, err
		}
	}
	send := sql
	if c.Instead != "" {
		send = spell(c.Instead)
	}
	a, err := s.Ask(send)
	if err != nil || s.Dead(a) {
		return a, err
	}
	if c.After != "" {
		if after, err := s.Ask(spell(c.After)); err != nil || s.Dead(after) {
			return after, err
		}
	}
	if c.Drops {
		a = s.WithoutLast(a)
	}
	return a, nil
}
