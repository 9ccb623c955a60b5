package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// oldestPostgres is the first version that tells all that is asked of it.
const oldestPostgres = "10"

// foreignPostgres is a PostgreSQL that somebody else runs.
type foreignPostgres struct {
	config *pgconn.Config
	server history.Server
}

var (
	_ harness.Database = (*foreignPostgres)(nil)
	_ harness.Tenant   = (*foreignPostgres)(nil)
)

// errPostgresDSN does not quote the DSN, any part of which may be the password.
var errPostgresDSN = errors.New("malformed DSN: want postgres://user:password@host:port/database, " +
	"with ?sslmode=require or the like behind it; characters such as / ? # @ of a password are written as %2F %3F %23 %40")

// openForeignPostgres connects to the server of a DSN and checks what the user may do. It changes
// nothing there.
func openForeignPostgres(ctx context.Context, dsn string, o harness.Options) (harness.Backend, error) {
	u, err := url.Parse(dsn)
	// A password with a # or a ? in it ends the host for who reads an URL.
	if err != nil || u.Fragment != "" || u.User == nil && strings.Contains(u.RawQuery, "@") {
		return nil, errPostgresDSN
	}
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, errPostgresDSN
	}
	b := &foreignPostgres{config: config}
	s, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, s.Cut)()
	if b.server, err = identifyPostgres(s); err == nil {
		err = checkPostgres(s, b.server, o.ReadOnly)
	}
	if err != nil {
		return nil, b.scrub(err)
	}
	return b, nil
}

// released is what version() begins with of a server that is PostgreSQL itself; others put a name of
// their own there, or behind the number. https://www.postgresql.org/docs/current/functions-info.html
var released = regexp.MustCompile(`^PostgreSQL [0-9]+(?:\.[0-9]+)*(?:devel|(?:alpha|beta|rc)[0-9]+)?[ ,]`)

// postgresChecks are questions that a server must answer with t, and what it means if not.
// Those of a server that takes writes are not asked of others.
var postgresChecks = []struct {
	question, otherwise string
	writes              bool
}{
	{"pg_catalog.pg_backend_pid() = %[1]d",
		"sessions go through a connection pool, which hides who waits for whom: name the server itself", false},
	{"NOT pg_catalog.pg_is_in_recovery()", "the server is a standby: it can only be read from", true},
	{"pg_catalog.current_setting('transaction_read_only') = 'off'",
		"sessions begin read-only: default_transaction_read_only is on", true},
	{"pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')",
		"the user may not create schemas in this database: GRANT CREATE ON DATABASE … TO …", true},
	{"pg_catalog.has_table_privilege('pg_catalog.pg_locks', 'SELECT')",
		"the user may not read pg_locks, which tells who waits for a lock", false},
	{"pg_catalog.has_function_privilege('pg_catalog.pg_blocking_pids(integer)', 'EXECUTE')",
		"the user may not call pg_blocking_pids, which tells who waits for whom", false},
}

func checkPostgres(s *pgsession.Session, server history.Server, readOnly bool) error {
	if !released.MatchString(server.Build) {
		return fmt.Errorf("the server is none that the rules know: %s", server.Build)
	}
	if !atLeast(server.Version, oldestPostgres) {
		return fmt.Errorf("PostgreSQL %s is too old: want %s or later", server.Version, oldestPostgres)
	}
	for _, c := range postgresChecks {
		if c.writes && readOnly {
			continue
		}
		question := strings.ReplaceAll(c.question, "%[1]d", strconv.FormatUint(s.ID(), 10))
		rows, err := s.Query("SELECT " + question)
		if err != nil {
			return fmt.Errorf("check what the user may do: %w", err)
		}
		if rows[0][0].Text != "t" {
			return errors.New(c.otherwise)
		}
	}
	return nil
}

func (b *foreignPostgres) connect(ctx context.Context) (*pgsession.Session, error) {
	s, err := pgsession.Open(ctx, b.config)
	if err != nil {
		return nil, b.scrub(lastTried(err))
	}
	return s, nil
}

// lastTried leaves of an error that lists each try to connect, with TLS and without, what the last one came to: each once,
// and not that the server has no TLS where another try has come further.
func lastTried(err error) error {
	lines := strings.Split(err.Error(), "\n")
	var kept []string
	for i, line := range lines {
		noTLS := strings.Contains(line, "server refused TLS connection") && i < len(lines)-1
		if !noTLS && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	if len(kept) == len(lines) {
		return err
	}
	return errors.New(strings.Join(kept, "\n"))
}

func (b *foreignPostgres) scrub(err error) error { return scrub(err, b.config.Password) }

// Server implements harness.Database.
func (b *foreignPostgres) Server() history.Server { return b.server }

// Open implements harness.Database. Every session takes texts of several statements.
func (b *foreignPostgres) Open(ctx context.Context, _ bool) (harness.Session, error) {
	return asSession(b.connect(ctx))
}

// Prober implements harness.Database.
func (b *foreignPostgres) Prober(ctx context.Context) (harness.Prober, error) {
	p, err := postgresProber(b.connect(ctx))
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Log returns nothing: the log is on the server's machine.
func (b *foreignPostgres) Log() string { return "" }

// Alive implements harness.Database.
func (b *foreignPostgres) Alive(ctx context.Context) error {
	s, err := b.connect(ctx)
	if err == nil {
		defer s.Close()
		defer context.AfterFunc(ctx, s.Cut)()
		_, err = s.Query("SELECT 1")
	}
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", b.scrub(err))
	}
	return nil
}

// Tenant implements harness.Tenant.
func (b *foreignPostgres) Tenant() {}

// Close leaves the server alone.
func (b *foreignPostgres) Close() error { return nil }
