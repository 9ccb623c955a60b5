package pglying

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/harness"
)

// past is a session that sees the tables as they were when the first of the open transactions began.
type past struct {
	mu      sync.Mutex
	session harness.Session // nil: no transaction is open
}

// pin takes the snapshot, unless one is there. path is the statement that sets the schema.
func (p *past) pin(db harness.Database, path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != nil {
		return nil
	}
	s, err := db.Open(context.Background(), true)
	if err != nil {
		return err
	}
	p.session = s
	r, err := s.Execute(path + "; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	if err == nil && r.Err != nil {
		err = errors.New(r.Err.Message)
	}
	return err
}

// unpin lets go of the tables that were looked at.
func (p *past) unpin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return nil
	}
	s := p.session
	p.session = nil
	_, err := s.Execute("ROLLBACK")
	return errors.Join(err, s.Close())
}

// ask sends a query; false: nothing is pinned, or the query fails.
func (p *past) ask(sql string) (r harness.Reply, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return r, false, nil
	}
	r, err = p.session.Execute("SAVEPOINT " + mark + "; " + strings.TrimSuffix(sql, ";"))
	if err == nil && r.Err != nil {
		_, err = p.session.Execute("ROLLBACK TO SAVEPOINT " + mark)
		return r, false, err
	}
	return r, true, err
}

// inThePast answers a plain SELECT outside of a transaction, or right behind BEGIN, as it would have been answered
// when the first of the transactions began that are open.
func inThePast(s *session, sql string) (harness.Reply, error) {
	if begins(sql) && s.b.open.Load() == 0 {
		if err := s.b.past.pin(s.b.db, s.path); err != nil {
			return harness.Reply{}, err
		}
	}
	r, err := s.ask(sql)
	if err != nil {
		return r, err
	}
	if ends(sql) && s.others() == 0 {
		return r, s.b.past.unpin()
	}
	if r.Err != nil || !plain(sql) || s.others() == 0 || s.open && !s.first {
		return r, nil
	}
	old, ok, err := s.b.past.ask(sql)
	if ok && !sameRows(&old, &r) {
		s.tell()
		r.Rows, r.Affected = old.Rows, old.Affected
	}
	return r, err
}
