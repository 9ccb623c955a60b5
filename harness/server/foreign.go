package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// foreign is a server that somebody else runs.
type foreign struct {
	config *mysql.Config
	server history.Server
	method method
	// doubtful holds what Doubtful returns.
	doubtful []string
}

// openForeign connects to the server of a DSN and checks what the user may do.
func openForeign(ctx context.Context, dsn string, o harness.Options) (harness.Backend, error) {
	if harness.IsPostgresDSN(dsn) {
		return openForeignPostgres(ctx, dsn, o)
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver's message may quote any part of the DSN.
		return nil, errors.New("malformed DSN: want user:pass@tcp(host:port)/ or user:pass@unix(/path)/, with ?key=value behind it for TLS")
	}
	cfg.DBName = ""
	cfg.Logger = &mysql.NopLogger{} // broken connections come back as errors
	b := &foreign{config: cfg}
	s := &side{to: b}
	defer s.Close()
	if err := s.greeted(ctx); err != nil {
		return nil, b.scrub(err)
	}
	if b.server, err = identify(ctx, s); err != nil {
		return nil, b.scrub(err)
	}
	if b.doubtful, err = doubtful(ctx, s, b.server.DBMS); err != nil {
		return nil, b.scrub(fmt.Errorf("ask which variables were changed: %w", err))
	}
	if b.server.DBMS == "" {
		if o.Progress != nil {
			fmt.Fprintf(o.Progress, "warning: %s is no server that the rules know; without --promise it is judged by those of MySQL\n", b.server.Version)
		}
		b.server.DBMS = history.MySQL
		b.method = probe(ctx, s)
	} else {
		b.method = methodFor(b.server)
	}
	if !o.ReadOnly { // the trials write, and a write on a replica stops it
		if err := checkPrivileges(ctx, s, b.method); err != nil {
			return nil, b.scrub(err)
		}
	}
	if (b.method == silence || b.method == rest) && o.Progress != nil {
		fmt.Fprintf(o.Progress, "warning: this server cannot be asked for lock waits; a statement without an answer for %v counts as waiting\n", silenceTimeout)
	}
	return b, nil
}

// greeting is how long a server may take to greet a client that has reached it, the search for the client's name included.
// A PostgreSQL never does: it waits for the client.
const greeting = 30 * time.Second

// greeted connects to a server that may be of another protocol.
func (s *side) greeted(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	err := s.connect(soon)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("whoever listens there has not greeted within %v as a server of MySQL's protocol does; "+
			"a PostgreSQL is named postgres://user:password@host:port/database", greeting)
	}
	return err
}

// probe finds a way to ask a server of unknown family.
func probe(ctx context.Context, s *side) method {
	for _, m := range []method{lockTables, status} {
		if missing, err := missingFor(ctx, s, m); err == nil && len(missing) == 0 {
			return m
		}
	}
	return silence
}

func (b *foreign) scrub(err error) error { return scrub(err, b.config.Passwd) }

// scrub removes the password from an error, where it stands as one: in a data source
// name, behind a word that announces it, or where a data source name with an @ too few
// or too many puts it in the network's place. The same letters elsewhere, such as those
// of a user's name, stay.
func scrub(err error, password string) error {
	if err == nil || password == "" || !strings.Contains(err.Error(), password) {
		return err
	}
	quoted := regexp.QuoteMeta(password)
	as := regexp.MustCompile(`(:)` + quoted + `(@)|((?i:passw(?:or)?d|identified by)[ =:]+['"]?)` + quoted)
	text := as.ReplaceAllString(err.Error(), "$1$3***$2")
	text = strings.ReplaceAll(text, "dial "+password+": unknown network "+password, "dial ***: unknown network ***")
	if text == err.Error() {
		return err
	}
	// Not wrapped: what is wrapped can be printed.
	return errors.New(text)
}

func (b *foreign) Server() history.Server { return b.server }

func (b *foreign) Config() *mysql.Config { return b.config.Clone() }

func (b *foreign) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, b.config.Net, b.config.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true)
	}
	return direct.New(conn), nil
}

func (b *foreign) Prober(ctx context.Context) (harness.Prober, error) {
	p, err := newProber(ctx, b, b.method, 0)
	return p, b.scrub(err)
}

// Log returns nothing: the log is on the server's machine.
func (b *foreign) Log() string { return "" }

func (b *foreign) Alive(ctx context.Context) error {
	s := &side{to: b}
	defer s.Close()
	if _, err := s.query(ctx, "SELECT 1"); err != nil {
		return b.scrub(fmt.Errorf("the server does not answer: %w", err))
	}
	return nil
}

// Tenant implements harness.Tenant.
func (b *foreign) Tenant() {}

// Close leaves the server alone.
func (b *foreign) Close() error { return nil }

// Levels returns what the server offers: TiDB knows two levels only.
func (b *foreign) Levels() []corpus.Level { return levelsOf(b.server.DBMS) }

func levelsOf(dbms history.DBMS) []corpus.Level {
	if dbms == history.TiDB {
		return []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}
	}
	return corpus.Levels
}
