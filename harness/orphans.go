package harness

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// Tenant is implemented by a Backend or Database whose server outlives this process and may have
// other users. A process that is killed drops nothing, so each pool on such a server
// holds a lock in its name: what carries the name of a lock that nobody holds was left
// behind, and the next pool drops it.
type Tenant interface{ Tenant() }

// ownedDatabase is the name of a database of a pool that holds a lock; the first group
// is the lock's. The k tells it from pools that hold none.
var ownedDatabase = regexp.MustCompile(`^(` + DatabasePrefix + `[0-9]+_[0-9a-f]{8}k_)[0-9]+$`)

// ownerTimeout is how long the server is to keep the connection that holds the lock,
// in seconds: nothing is sent on it.
const ownerTimeout = 31536000

// claim takes the lock of a pool's name and drops what dead pools left. The session
// keeps the lock until it is closed.
func claim(ctx context.Context, db Database, prefix string) (Session, error) {
	s, err := db.Open(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("claim the databases: %w", err)
	}
	late := time.AfterFunc(dropPatience, s.Cut)
	defer late.Stop()
	if err := claimBy(s, speechOf(db.Server().DBMS), prefix); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("claim the databases: %w", err)
	}
	return s, nil
}

func claimBy(s Session, in *speech, prefix string) error {
	ask := func(sql string) (Reply, error) {
		r, err := s.Execute(sql)
		if err == nil && r.Err != nil {
			err = fmt.Errorf("%s: error %d (%s): %s", sql, r.Err.Code, r.Err.State, r.Err.Message)
		}
		return r, err
	}
	if in.keep != "" {
		if _, err := ask(in.keep); err != nil {
			return err
		}
	}
	switch r, err := ask(of(in.lock, prefix)); {
	case err != nil:
		return err
	case r.Rows[0][0].Text != "1":
		return fmt.Errorf("the lock %s is another's", prefix)
	}
	left := map[string]bool{} // by lock: whether nobody holds it
	dead := func(lock string) (bool, error) {
		free, known := left[lock]
		if known {
			return free, nil
		}
		r, err := ask(of(in.free, lock))
		if err != nil {
			return false, err
		}
		left[lock] = r.Rows[0][0].Text == "1"
		return left[lock], nil
	}
	if in.prepares { // what is prepared holds locks on what is to be dropped
		err := endPrepared(ask, func(name string) (bool, error) {
			m := preparedLeft.FindStringSubmatch(name)
			if m == nil || m[1] == prefix {
				return false, nil
			}
			return dead(m[1])
		})
		if err != nil {
			return err
		}
	}
	all, err := ask(in.databases)
	if err != nil {
		return err
	}
	for _, row := range all.Rows {
		m := ownedDatabase.FindStringSubmatch(row[0].Text)
		if m == nil || m[1] == prefix {
			continue
		}
		if free, err := dead(m[1]); err != nil {
			return err
		} else if !free {
			continue
		}
		if _, err := ask(in.dropping(m[:1])); err != nil {
			return err
		}
	}
	return nil
}
