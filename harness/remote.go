package harness

import (
	"context"
	"fmt"
	"time"
)

// remote is how a worker asks another server than the one that its control connection is on: a replica, or a member of a
// cluster.
type remote struct {
	db Database
	// setup is what each connection says first; empty: nothing.
	setup   string
	session *connection // nil until it is needed
}

// remotePatience is longer than a server takes to read the tables of a case.
const remotePatience = 20 * time.Second

// execute runs a text in a database, which use makes the session's own; none if it is empty. A connection that has
// broken is replaced.
func (r *remote) execute(ctx context.Context, use, db, sql string) (Reply, error) {
	if err := r.connect(ctx); err != nil {
		return Reply{}, err
	}
	if db == "" || r.session.db == db {
		return r.answer(ctx, sql)
	}
	r.session.db = "" // if that fails
	got, err := r.answer(ctx, use+db+";"+sql)
	if err == nil && got.Err == nil {
		r.session.db = db
	}
	return got, err
}

// uses makes a database that of the session.
func (r *remote) uses(ctx context.Context, use, db string) error {
	if err := r.connect(ctx); err != nil || r.session.db == db {
		return err
	}
	got, err := r.answer(ctx, use+db)
	if err == nil && got.Err != nil {
		err = refusedBy(&got, use+db)
	}
	if err == nil {
		r.session.db = db
	}
	return err
}

func (r *remote) connect(ctx context.Context) error {
	if r.session != nil && r.session.broken {
		_ = r.close()
	}
	if r.session != nil {
		return nil
	}
	s, err := r.db.Open(ctx, true)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	r.session = newConnection(s, 0)
	return r.prepare(ctx)
}

// prepare says what a new connection says first.
func (r *remote) prepare(ctx context.Context) error {
	if r.setup == "" {
		return nil
	}
	got, err := r.answer(ctx, r.setup)
	if err == nil && got.Err != nil {
		r.session.broken = true
		err = refusedBy(&got, r.setup)
	}
	return err
}

// answer runs a text. The connection is cut when the context ends, or the server takes too long: one that is stopped
// never answers.
func (r *remote) answer(ctx context.Context, sql string) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	late := time.AfterFunc(remotePatience, r.session.Cut)
	ended := context.AfterFunc(ctx, r.session.Cut)
	got, err := r.session.Execute(sql)
	if !late.Stop() || !ended() {
		r.session.broken = true // be it that the answer was faster
	}
	if err != nil {
		r.session.broken = true
		return got, fmt.Errorf("%s: %w", sql, err)
	}
	return got, nil
}

func (r *remote) close() error {
	if r.session == nil {
		return nil
	}
	s := r.session
	r.session = nil
	return s.Close()
}
