//go:build ignore

// Program anomaly shows that transactions of PostgreSQL at SERIALIZABLE commit although no serial order of them exists:
//
//	go run docs/ssi/anomaly.go 'postgres://user@/postgres?host=/run/postgresql'
//
// Again and again A changes row 1 and reads row 2, B changes row 2, and both commit at the same moment, while others
// read row 2 and then row 1. A did not see what B wrote: A came before B. Who reads B's change and not A's came after B
// and before A.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	runFor  = 60 * time.Second
	readers = 4
)

var serializable = pgx.TxOptions{IsoLevel: pgx.Serializable}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("want a URL, such as 'postgres://user@/postgres?host=/run/postgresql'")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// refused says that the server has ended a transaction so that there is a serial order.
func refused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "40001"
}

func run(ctx context.Context, url string) error {
	var conns [readers + 2]*pgx.Conn
	for i := range conns {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		conns[i] = c
	}
	a, b, others := conns[0], conns[1], conns[2:]
	for _, q := range []string{"DROP TABLE IF EXISTS ssi", "CREATE TABLE ssi (k INT PRIMARY KEY, v INT)",
		"INSERT INTO ssi VALUES (1, 0), (2, 0)"} {
		if _, err := a.Exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	rounds, both, shown := 0, 0, 0
	for end := time.Now().Add(runFor); time.Now().Before(end); rounds++ {
		committed, seen, err := round(ctx, a, b, others, rounds)
		if err != nil {
			return err
		}
		if committed {
			both++
		}
		if committed && seen {
			shown++
		}
	}
	fmt.Printf("%d rounds; in %d both A and B committed; in %d of those another transaction committed, too, that had "+
		"read B's change and not A's\n", rounds, both, shown)
	return nil
}

// round has A and B write n+1 to their rows. It returns whether both committed, and whether a reader that committed saw
// B's change without A's.
func round(ctx context.Context, a, b *pgx.Conn, others []*pgx.Conn, n int) (committed, seen bool, err error) {
	v := n + 1
	first, err := a.BeginTx(ctx, serializable)
	if err != nil {
		return false, false, err
	}
	second, err := b.BeginTx(ctx, serializable)
	if err != nil {
		return false, false, err
	}
	var old int
	_, err1 := first.Exec(ctx, "UPDATE ssi SET v = $1 WHERE k = 1", v)
	err2 := first.QueryRow(ctx, "SELECT v FROM ssi WHERE k = 2").Scan(&old)
	_, err3 := second.Exec(ctx, "UPDATE ssi SET v = $1 WHERE k = 2", v)
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, false, err
	}

	var all, writers sync.WaitGroup
	var ended, saw atomic.Bool
	errs := make([]error, len(others))
	for i, c := range others {
		all.Add(1)
		go func() {
			defer all.Done()
			for !ended.Load() && errs[i] == nil {
				one, two, err := read(ctx, c)
				if err == nil && two == v && one != v {
					saw.Store(true)
				}
				if err != nil && !refused(err) {
					errs[i] = err
				}
			}
		}()
	}
	var commits [2]error
	for i, t := range []pgx.Tx{first, second} {
		writers.Add(1)
		go func() { defer writers.Done(); commits[i] = t.Commit(ctx) }()
	}
	writers.Wait()
	ended.Store(true)
	all.Wait()
	err = errors.Join(errs...)
	for _, e := range commits {
		if e != nil && !refused(e) {
			err = errors.Join(err, e)
		}
	}
	if commits[0] != nil || commits[1] != nil {
		_, e := a.Exec(ctx, "UPDATE ssi SET v = $1", v)
		err = errors.Join(err, e)
	}
	return commits[0] == nil && commits[1] == nil, saw.Load(), err
}

// read returns both rows as one transaction has read them, row 2 first.
func read(ctx context.Context, c *pgx.Conn) (one, two int, err error) {
	t, err := c.BeginTx(ctx, serializable)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = t.Rollback(ctx) }() // does nothing behind a commit
	if err := t.QueryRow(ctx, "SELECT v FROM ssi WHERE k = 2").Scan(&two); err != nil {
		return 0, 0, err
	}
	if err := t.QueryRow(ctx, "SELECT v FROM ssi WHERE k = 1").Scan(&one); err != nil {
		return 0, 0, err
	}
	return one, two, t.Commit(ctx)
}
