//go:build ignore

// Program lost shows that MariaDB loses transactions whose XA COMMIT it has answered with OK:
//
//	go run docs/xa/lost.go 'root@unix(/run/mysqld/mysqld.sock)/'
//
// One session prepares a transaction and disconnects. Another session sends XA COMMIT until the answer is no
// longer error 1397, and then looks for the row.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	runFor      = 30 * time.Second
	unknownXID  = 1397 // XAER_NOTA: the first session is still there
	insertedRow = "INSERT INTO xa_lost.t VALUES (%d)"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("want a DSN, such as 'root@unix(/run/mysqld/mysqld.sock)/'")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dsn string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range []string{"DROP DATABASE IF EXISTS xa_lost", "CREATE DATABASE xa_lost",
		"CREATE TABLE xa_lost.t (id INT PRIMARY KEY) ENGINE=InnoDB"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	two, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	done, lost := 0, 0
	for end := time.Now().Add(runFor); time.Now().Before(end); done++ {
		if err := prepare(ctx, dsn, done); err != nil {
			return err
		}
		if err := commit(ctx, two, done); err != nil {
			return err
		}
		there := 0
		row := two.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM xa_lost.t WHERE id = %d", done))
		if err := row.Scan(&there); err != nil {
			return err
		}
		if there == 0 {
			lost++
			_, again := two.ExecContext(ctx, fmt.Sprintf("XA COMMIT '%d'", done))
			_, lock := two.ExecContext(ctx, fmt.Sprintf("SELECT id FROM xa_lost.t WHERE id = %d FOR UPDATE NOWAIT", done))
			fmt.Printf("%d: XA COMMIT was OK, and its row is not there; a second XA COMMIT: %v; lock its row: %v\n", done, again, lock)
		}
	}
	fmt.Printf("%d of %d transactions lost\n", lost, done)
	return nil
}

// prepare leaves a transaction prepared by a session that is gone.
func prepare(ctx context.Context, dsn string, n int) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{"XA START '%d'", insertedRow, "XA END '%d'", "XA PREPARE '%d'"} {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(q, n)); err != nil {
			return fmt.Errorf(q+": %w", n, err)
		}
	}
	return nil
}

func commit(ctx context.Context, two *sql.Conn, n int) error {
	for {
		_, err := two.ExecContext(ctx, fmt.Sprintf("XA COMMIT '%d'", n))
		var answer *mysql.MySQLError
		if !errors.As(err, &answer) || answer.Number != unknownXID {
			return err
		}
	}
}
