//go:build postgres

package postgres_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/postgres"
)

// cluster is a private PostgreSQL, which ends with the test.
type cluster struct{ dir string }

// startCluster starts a server from Debian's packages. It skips the test if none is installed,
// unless TXNFUZZ_REQUIRE_POSTGRES is set.
func startCluster(t *testing.T) *cluster {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		if os.Getenv("TXNFUZZ_REQUIRE_POSTGRES") != "" {
			t.Fatal("no PostgreSQL in /usr/lib/postgresql")
		}
		t.Skip("no PostgreSQL in /usr/lib/postgresql")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "pg") // the socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 { // the server refuses to run as root
		attr.Credential = unprivileged(t)
		if err := os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr, c.Env = dir, attr, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "--no-sync", "-A", "trust", "-U", "txnfuzz", "--locale=C", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	srv := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off",
		"-c", "deadlock_timeout=10ms", "-c", "shared_buffers=16MB", "-c", "max_connections=20")
	srv.Stdout, srv.Stderr = log, log
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = srv.Process.Signal(syscall.SIGQUIT)
		_ = srv.Wait()
		log.Close()
	})
	c := &cluster{dir}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s, err := c.connect()
		if err == nil {
			s.Close()
			return c
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("the server does not answer: %v\n%s", err, said)
		}
	}
}

func unprivileged(t *testing.T) *syscall.Credential {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("no user to run the server as")
	return nil
}

// connection is a harness.Session of PostgreSQL.
type connection struct{ pg *pgconn.PgConn }

var _ harness.Session = (*connection)(nil)

func (c *cluster) connect() (*connection, error) {
	pg, err := pgconn.Connect(context.Background(), "host="+c.dir+" user=txnfuzz dbname=postgres sslmode=disable")
	if err != nil {
		return nil, err
	}
	return &connection{pg}, nil
}

// ID implements harness.Session: the process that pg_blocking_pids is asked about.
func (c *connection) ID() uint64 { return uint64(c.pg.PID()) }

// Execute implements harness.Session, by the simple protocol.
func (c *connection) Execute(sql string) (harness.Reply, error) {
	r := harness.Reply{Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
	results, err := c.pg.Exec(context.Background(), sql).ReadAll()
	for _, res := range results {
		r.Affected, r.Columns, r.Rows = res.CommandTag.RowsAffected(), nil, nil
		for _, f := range res.FieldDescriptions {
			r.Columns = append(r.Columns, f.Name)
		}
		for _, row := range res.Rows {
			cells := make([]history.Cell, len(row))
			for i, v := range row {
				cells[i] = history.Cell{Null: v == nil, Text: string(v)}
			}
			r.Rows = append(r.Rows, cells)
		}
	}
	r.At, r.InTxn, r.InTxnTold = time.Now(), c.pg.TxStatus() == 'T', true
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		r.Columns, r.Rows, r.Affected = nil, nil, -1
		r.Err = &history.Error{Code: postgres.Number(refused.Code), State: refused.Code, Message: refused.Message}
		if refused.Code == "40P01" {
			r.Err.Message += ": " + refused.Detail
		}
		return r, nil
	}
	return r, err
}

// Cut implements harness.Session.
func (c *connection) Cut() { _ = c.pg.Conn().Close() }

// Close implements harness.Session.
func (c *connection) Close() error { return c.pg.Close(context.Background()) }
