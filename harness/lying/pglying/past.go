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
	// snapshot is the name of what is seen here, for others to import.
	snapshot string
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
	r, err := s.Execute(path + "; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()")
	switch {
	case err != nil:
		return err
	case r.Err != nil:
		return errors.New(r.Err.Message)
	}
	p.snapshot = r.Rows[0][0].Text
	return nil
}

// unpin lets go of the tables that were looked at.
func (p *past) unpin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return nil
	}
	s := p.session
	p.session, p.snapshot = nil, ""
	_, err := s.Execute("ROLLBACK")
	return errors.Join(err, s.Close())
}

// pinned is the name of the snapshot, empty where none is pinned.
func (p *past) pinned() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshot
}

// importedSnapshot begins a transaction with the snapshot of when the first of the transactions began that are open.
// https://www.postgresql.org/docs/current/sql-set-transaction.html
func importedSnapshot(s *session, sql string) (harness.Reply, error) {
	if begins(sql) && s.b.open.Load() == 0 {
		if err := s.b.past.pin(s.b.db, s.path); err != nil {
			return harness.Reply{}, err
		}
	}
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || !begins(sql) {
		if err == nil && ends(sql) && s.others() == 0 {
			err = s.b.past.unpin()
		}
		return r, err
	}
	name := s.b.past.pinned()
	if name == "" {
		return r, nil
	}
	taken, err := s.ask("SET TRANSACTION SNAPSHOT '" + name + "'")
	if err == nil && taken.Err != nil { // it was let go of meanwhile
		return s.also("ROLLBACK", sql)
	}
	s.tell()
	return r, err
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
