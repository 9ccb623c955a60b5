package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// shelf keeps the databases of a pool between cases: those that are ready to be
// filled again, by schema, and the names of those that nobody needs any more, which
// are dropped in bulk on a connection of their own, so that no case waits for a DROP.
// It is safe for several goroutines.
type shelf struct {
	prefix string
	reap   func([]string) error // drops databases

	mu     sync.Mutex
	number int
	idle   *simplelru.LRU[string, []*provisioned] // by schema
	made   map[string]bool                        // and not dropped
	dead   []string
	broken error // why nothing is dropped any more; close tries again
	wake   chan struct{}
	done   chan struct{}
}

// dropPatience bounds one round of drops.
const dropPatience = 30 * time.Second

// bulk is how many databases are dropped in one go.
const bulk = 16

// newShelf makes a shelf that keeps the databases of so many schemas, at least one.
func newShelf(prefix string, schemas int, reap func([]string) error) *shelf {
	s := &shelf{prefix: prefix, reap: reap, made: map[string]bool{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	s.idle, _ = simplelru.NewLRU(max(schemas, 1), func(_ string, old []*provisioned) { // fails below 1 only
		for _, p := range old {
			s.discardLocked(p.db)
		}
	})
	go func() {
		defer close(s.done)
		for range s.wake {
			s.dropBulk()
		}
	}()
	return s
}

// name returns the name of a new database, which counts as made from now on.
func (s *shelf) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	db := fmt.Sprintf("%s%d", s.prefix, s.number)
	s.made[db] = true
	return db
}

// take returns a database with the tables of a schema, nil if none is idle. It is
// the caller's until it is given back or discarded.
func (s *shelf) take(schema string) *provisioned {
	s.mu.Lock()
	defer s.mu.Unlock()
	some, _ := s.idle.Get(schema)
	if len(some) == 0 {
		return nil
	}
	p := some[len(some)-1]
	s.idle.Add(schema, some[:len(some)-1])
	return p
}

// give puts a database back; those of the schema that nobody has used for longest
// may go.
func (s *shelf) give(p *provisioned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	some, _ := s.idle.Get(p.schema)
	s.idle.Add(p.schema, append(some, p))
}

// discard leaves a database to be dropped some time.
func (s *shelf) discard(db string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discardLocked(db)
}

func (s *shelf) discardLocked(db string) {
	s.dead = append(s.dead, db)
	if len(s.dead) >= bulk {
		select {
		case s.wake <- struct{}{}:
		default: // a token that lies there says as much
		}
	}
}

func (s *shelf) dropBulk() {
	s.mu.Lock()
	dead := s.dead
	if s.broken != nil {
		dead = nil
	} else {
		s.dead = nil
	}
	s.mu.Unlock()
	for len(dead) > 0 {
		some := dead[:min(bulk, len(dead))]
		if err := s.drop(some, s.reap); err != nil {
			s.mu.Lock()
			s.broken = err
			s.mu.Unlock()
			return
		}
		dead = dead[len(some):]
	}
}

// drop drops databases that were made here, and no others.
func (s *shelf) drop(dbs []string, by func([]string) error) error {
	s.mu.Lock()
	for _, db := range dbs {
		if !s.made[db] {
			s.mu.Unlock()
			return fmt.Errorf("refused to drop database %q: not made here", db)
		}
	}
	s.mu.Unlock()
	if len(dbs) == 0 {
		return nil
	}
	if err := by(dbs); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, db := range dbs {
		delete(s.made, db)
	}
	return nil
}

// end waits for drops that are under way; nobody may use the shelf any more.
func (s *shelf) end() {
	close(s.wake)
	<-s.done
}

// close ends the shelf and drops all that was made.
func (s *shelf) close(by func([]string) error) error {
	s.end()
	s.mu.Lock()
	left := make([]string, 0, len(s.made))
	for db := range s.made {
		left = append(left, db)
	}
	s.mu.Unlock()
	var errs []error
	for len(left) > 0 {
		n := min(bulk, len(left))
		errs = append(errs, s.drop(left[:n], by))
		left = left[n:]
	}
	return errors.Join(errs...)
}

// reaper returns what drops databases on a connection that is opened when it is
// first needed, what breaks that off for good, from another goroutine, and what closes the connection.
func reaper(db Database) (reap func([]string) error, cut, end func()) {
	var s Session
	in := speechOf(db.Server().DBMS)
	ctx, cut := context.WithCancel(context.Background())
	reap = func(dbs []string) error {
		if s == nil {
			var err error
			if s, err = db.Open(ctx, true); err != nil {
				return fmt.Errorf("drop databases: %w", err)
			}
			context.AfterFunc(ctx, s.Cut)
		}
		late := time.AfterFunc(dropPatience, s.Cut) // who holds a metadata lock may never let go
		r, err := s.Execute(in.dropping(dbs))
		late.Stop()
		if err == nil && r.Err != nil {
			err = fmt.Errorf("error %d (%s): %s", r.Err.Code, r.Err.State, r.Err.Message)
		}
		if err != nil {
			return fmt.Errorf("drop databases: %w", err)
		}
		return nil
	}
	return reap, cut, func() {
		if s != nil {
			_ = s.Close()
		}
		cut()
	}
}
