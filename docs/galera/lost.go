//go:build ignore

// Program lost shows that a node of a Galera cluster loses the abort of a transaction, if it comes about when the
// client prepares a statement:
//
//	go run docs/galera/lost.go 'root@tcp(node1:3306)/' 'root@tcp(node2:3306)/'
//
// A session on the first node updates row 1 in a transaction, does something else, and updates row 2. A session on the
// second node updates row 1 meanwhile, and commits first. So the transaction on the first node must fail. Between its
// updates the transaction queries by texts; or it prepares statements; or it queries with arguments, for which the
// driver prepares a statement, executes it, and closes it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	runFor = 20 * time.Second
	// between is how often the transaction queries or prepares between its two updates.
	between      = 20
	deadlock     = 1213
	other        = "SELECT v FROM galera_lost.t WHERE id = 2"
	withArgument = "SELECT v FROM galera_lost.t WHERE id = ?"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("want the DSNs of two nodes, such as 'root@tcp(node1:3306)/' 'root@tcp(node2:3306)/'")
	}
	for _, kind := range []string{"query", "prepare", "arguments"} {
		if err := run(context.Background(), kind); err != nil {
			log.Fatal(kind, ": ", err)
		}
	}
}

func run(ctx context.Context, kind string) error {
	one, err := sql.Open("mysql", os.Args[1])
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := sql.Open("mysql", os.Args[2])
	if err != nil {
		return err
	}
	defer two.Close()
	for _, q := range []string{"DROP DATABASE IF EXISTS galera_lost", "CREATE DATABASE galera_lost",
		"CREATE TABLE galera_lost.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
		"INSERT INTO galera_lost.t VALUES (1, 0), (2, 0)"} {
		if _, err := one.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	if err := waitForRows(ctx, two); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, runFor)
	defer cancel()
	var rival sync.WaitGroup
	rival.Go(func() { update(ctx, two) })
	session, err := one.Conn(ctx)
	if err != nil {
		return err
	}
	c := counts{kind: kind}
	for n := 1; ctx.Err() == nil; n++ {
		if err := c.transaction(context.WithoutCancel(ctx), session, one, n); err != nil {
			return err
		}
	}
	rival.Wait()
	fmt.Printf("%s: %d transactions, %d got error 1213, %d lost their first update without an error; "+
		"of those %d kept the second one after ROLLBACK\n", kind, c.all, c.failed, c.lost, c.kept)
	return nil
}

// waitForRows returns when the second node has applied what the first has committed.
func waitForRows(ctx context.Context, two *sql.DB) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		rows := 0
		err := two.QueryRowContext(ctx, "SELECT COUNT(*) FROM galera_lost.t").Scan(&rows)
		if err == nil && rows == 2 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the second node has not what was committed on the first: are they one cluster? %w", err)
		}
	}
}

// update changes row 1 over and over, at varying times.
func update(ctx context.Context, two *sql.DB) {
	for i := 1; ctx.Err() == nil; i++ {
		_, _ = two.ExecContext(ctx, fmt.Sprintf("UPDATE galera_lost.t SET v = %d WHERE id = 1", -i))
		time.Sleep(time.Duration(i%7) * time.Millisecond)
	}
}

type counts struct {
	kind                    string
	all, failed, lost, kept int
}

// transaction runs one transaction and looks what has become of it. A deadlock is no error of it.
func (c *counts) transaction(ctx context.Context, session *sql.Conn, one *sql.DB, n int) error {
	c.all++
	var prepared []*sql.Stmt
	defer func() {
		for _, s := range prepared {
			_ = s.Close()
		}
	}()
	read := -1 // what the transaction reads of row 1 that it has updated
	err := func() error {
		if _, err := session.ExecContext(ctx, "START TRANSACTION"); err != nil {
			return err
		}
		if _, err := session.ExecContext(ctx, fmt.Sprintf("UPDATE galera_lost.t SET v = %d WHERE id = 1", n)); err != nil {
			return err
		}
		for range between {
			v := 0
			switch c.kind {
			case "query":
				if err := session.QueryRowContext(ctx, other).Scan(&v); err != nil {
					return err
				}
			case "prepare":
				s, err := session.PrepareContext(ctx, other)
				if err != nil {
					return err
				}
				prepared = append(prepared, s)
			case "arguments":
				if err := session.QueryRowContext(ctx, withArgument, 2).Scan(&v); err != nil {
					return err
				}
			}
		}
		if err := session.QueryRowContext(ctx, "SELECT v FROM galera_lost.t WHERE id = 1").Scan(&read); err != nil {
			return err
		}
		in := -1
		if read != n && c.lost == 0 {
			if err := session.QueryRowContext(ctx, "SELECT @@in_transaction").Scan(&in); err != nil {
				return err
			}
			fmt.Printf("%s: in a transaction, row 1 was set to %d, and nothing failed; then it reads as %d, "+
				"and @@in_transaction is %d\n", c.kind, n, read, in)
		}
		_, err := session.ExecContext(ctx, fmt.Sprintf("UPDATE galera_lost.t SET v = %d WHERE id = 2", n))
		return err
	}()
	_, rolled := session.ExecContext(ctx, "ROLLBACK")
	var answer *mysql.MySQLError
	switch {
	case errors.As(err, &answer) && answer.Number == deadlock:
		c.failed++
		return nil
	case err != nil:
		return err
	case read == n:
		return nil // the rival came too late, and ROLLBACK may tell of it
	case rolled != nil:
		return rolled
	}
	c.lost++
	second := 0
	if err := one.QueryRowContext(ctx, other).Scan(&second); err != nil {
		return err
	}
	if second == n {
		c.kept++
	}
	return nil
}
