package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// cluster is a PostgreSQL that this process started and that ends with it.
type cluster struct {
	spec     spec
	in       installation
	owner    *account
	template string
	parent   string // where the instances' folders go
	durable  bool   // keeps what it acknowledged when it is killed
	power    bool   // can lose its power, too
	port     int    // where other clients reach it; 0: nowhere
	password string // of those
	// extra are parameters of its part in a topology, which take the place of others; behind is the server that it is a
	// standby of, nil if it is none; sends says that a standby or a backup may connect.
	extra  []setting
	behind *cluster
	// cable is the way of a standby to its primary, nil: straight.
	cable  *cable
	sends  bool
	server history.Server

	running
}

var _ harness.Database = (*cluster)(nil)

// clusterPort names the socket of a server that has no port.
const clusterPort = 5432

// startingUp is the SQLSTATE of a server that takes connections soon.
const startingUp = "57P03"

// openCluster starts a private PostgreSQL for a target such as "postgres:18".
func openCluster(ctx context.Context, target string, o harness.Options) (harness.Backend, error) {
	s, err := parseSpec(target)
	if err != nil {
		return nil, &harness.NameError{Err: err}
	}
	s.released = o.Released
	o.Durable = o.Durable || o.PowerLoss
	in, err := find(ctx, s)
	if err == nil {
		err = in.complete()
	}
	if err != nil {
		return nil, err
	}
	if !atLeast(in.version, oldestPostgres) {
		err := fmt.Errorf("PostgreSQL %s is too old: want %s or later", in.version, oldestPostgres)
		return nil, &harness.NameError{Err: err}
	}
	if s.replicates != nil {
		return openStandby(ctx, s, in, o)
	}
	if o.Partition {
		return nil, &harness.NameError{Err: errAlone}
	}
	return beginCluster(ctx, &cluster{
		spec: s, in: in, parent: o.Dir, durable: o.Durable, power: o.PowerLoss, port: o.Port,
		sends: o.Copied, extra: copiedSettings(o),
	}, o)
}

// beginCluster completes what is known of a PostgreSQL, and starts it.
func beginCluster(ctx context.Context, b *cluster, o harness.Options) (_ *cluster, err error) {
	in := b.in
	if b.owner, err = unprivileged(); err != nil {
		return nil, err
	}
	if b.port != 0 {
		b.password = rand.Text()
	}
	if b.template, err = in.clusterTemplate(ctx, b.owner, o.Progress); err != nil {
		return nil, err
	}
	switch {
	case b.parent != "":
	case b.durable:
		if b.parent, err = diskBase(sizeOf(b.template) + durableRoom + roomForJournal(b.power)); err != nil {
			return nil, err
		}
	default:
		b.parent = base(2*sizeOf(b.template) + 128<<20)
	}
	sweep(b.parent)
	p, server, err := b.start(ctx)
	if err != nil {
		return nil, err
	}
	b.current, b.server = p, server
	return b, nil
}

// start makes a new instance and waits until it answers.
func (b *cluster) start(ctx context.Context) (*process, history.Server, error) {
	f, err := newFolder(b.parent)
	if err != nil {
		return nil, history.Server{}, err
	}
	f.owner = b.owner
	data := filepath.Join(f.path, "data")
	err = copyTree(b.template, data)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(b.admission()), 0o600)
	}
	if err == nil && b.behind != nil {
		err = b.follows(data)
	}
	if err == nil && b.power {
		err = f.keepJournal(ctx)
	}
	if err == nil {
		err = b.owner.owns(f.path)
	}
	if err != nil {
		f.remove()
		return nil, history.Server{}, fmt.Errorf("copy the data directory: %w", err)
	}
	return b.launch(ctx, f)
}

// admission says who gets in: by the socket whoever may enter the folder, by the port who knows the
// password that was drawn.
// https://www.postgresql.org/docs/current/auth-pg-hba-conf.html
func (b *cluster) admission() string {
	text := "local all all trust\n"
	if b.sends {
		text += "local replication all trust\n"
	}
	if b.port != 0 {
		text += "host all all 127.0.0.1/32 scram-sha-256\n"
	}
	return text
}

// launch starts the server on the data in a folder, which it takes over, and
// waits until it answers.
func (b *cluster) launch(ctx context.Context, f *folder) (*process, history.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := f.rearm(); err != nil {
		f.remove()
		return nil, history.Server{}, err
	}
	p, err := startProcess(f, os.DevNull, syscall.SIGQUIT, b.command(f))
	if err != nil {
		return nil, history.Server{}, err
	}
	server, err := b.ready(ctx, p)
	if err == nil {
		p.after = segmentOf(b.data(f)).remove
		return p, server, nil
	}
	if why := b.spec.unknown(p.log()); why != nil {
		_ = p.close()
		return nil, history.Server{}, fmt.Errorf("%s %s: %w", nameOf(b.in.family), b.in.version, why)
	}
	text := p.log()
	_ = p.close()
	return nil, history.Server{}, fmt.Errorf("start %s %s: %w\n%s",
		nameOf(b.in.family), b.in.version, err, strings.TrimRight(text, "\n"))
}

func (b *cluster) data(f *folder) string { return filepath.Join(f.path, "data") }

// command returns the server's program and arguments. Its log is what it writes to standard error.
func (b *cluster) command(f *folder) []string {
	dir := f.path
	const logging = `log=$1; shift; exec "$@" 2>>"$log"`
	args := append([]string{"/bin/sh", "-c", logging, "sh", filepath.Join(dir, logName)}, f.journalling()...)
	args = append(args, b.in.binary, "-D", filepath.Join(dir, "data"))
	args = append(args, b.arguments()...)
	listen := ""
	if b.port != 0 {
		listen = "127.0.0.1"
	}
	return append(args, "-k", dir, "-c", "listen_addresses="+listen, "-c", "port="+strconv.Itoa(b.socketPort()))
}

func (b *cluster) socketPort() int {
	if b.port != 0 {
		return b.port
	}
	return clusterPort
}

// socketFile is where a server in a folder is reached.
func (b *cluster) socketFile(dir string) string {
	return clusterSocket(dir, b.socketPort())
}

func clusterSocket(dir string, port int) string {
	return filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(port))
}

// checksIndexes gives a server the functions that look whether an index has all rows of its table, if they were
// installed with it.
// https://www.postgresql.org/docs/current/amcheck.html
func checksIndexes(s *pgsession.Session) error {
	_, err := s.Query("CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public")
	var refused *pgsession.Refusal
	if err == nil || errors.As(err, &refused) {
		return nil
	}
	return fmt.Errorf("prepare the server for checks of its indexes: %w", err)
}

// ready waits for the first answer of a new instance.
func (b *cluster) ready(ctx context.Context, p *process) (history.Server, error) {
	if n := len(b.socketFile(p.folder.path)); n > maxSocketPath {
		return history.Server{}, fmt.Errorf("the socket's path would have %d bytes and the system allows %d; "+
			"choose a shorter temporary folder", n, maxSocketPath)
	}
	for {
		s, err := b.dial(ctx, p)
		if err == nil {
			defer s.Close()
			if b.behind != nil {
				return identifyPostgres(s, b.spec.sortedKeys()...)
			}
			if err := checksIndexes(s); err != nil {
				return history.Server{}, err
			}
			if b.port != 0 {
				_, err := s.Query("SET password_encryption = 'scram-sha-256'; " +
					"ALTER ROLE " + clusterUser + " PASSWORD '" + b.password + "'")
				if err != nil {
					return history.Server{}, fmt.Errorf("open port %d: %w", b.port, err)
				}
			}
			return identifyPostgres(s, b.spec.sortedKeys()...)
		}
		var answer *pgconn.PgError
		if errors.As(err, &answer) && answer.Code != startingUp {
			return history.Server{}, err
		}
		select {
		case <-p.exited:
			return history.Server{}, p.dead()
		case <-ctx.Done():
			return history.Server{}, fmt.Errorf("no answer on its socket: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// dial opens a session of an instance, whatever the user's environment says of PostgreSQL.
func (b *cluster) dial(ctx context.Context, p *process) (*pgsession.Session, error) {
	config, err := pgconn.ParseConfig("host=/ user=" + clusterUser + " dbname=postgres sslmode=disable")
	if err != nil {
		return nil, err
	}
	config.Host, config.Port, config.Password, config.Fallbacks = p.folder.path, uint16(b.socketPort()), "", nil
	config.RuntimeParams, config.ValidateConnect = map[string]string{}, nil
	return pgsession.Open(ctx, config)
}

func (b *cluster) connect(ctx context.Context) (*pgsession.Session, error) {
	p := b.instance()
	s, err := b.dial(ctx, p)
	if err != nil {
		if dead := p.dead(); dead != nil {
			err = dead
		}
		return nil, fmt.Errorf("connect to %s %s: %w", nameOf(b.in.family), b.in.version, err)
	}
	return s, nil
}

// Server implements harness.Database.
func (b *cluster) Server() history.Server { return b.server }

// Open implements harness.Database. Every session takes texts of several statements.
func (b *cluster) Open(ctx context.Context, _ bool) (harness.Session, error) {
	return asSession(b.connect(ctx))
}

func asSession(s *pgsession.Session, err error) (harness.Session, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Prober implements harness.Database.
func (b *cluster) Prober(ctx context.Context) (harness.Prober, error) {
	p, err := postgresProber(b.connect(ctx))
	if err != nil {
		return nil, err
	}
	return &watchingProber{p, newBackends()}, nil
}

// watchingProber sees who runs, too, of a server on this machine.
type watchingProber struct {
	*pgsession.Prober
	*backends
}

var _ harness.Watcher = (*watchingProber)(nil)

// Close implements harness.Prober.
func (p *watchingProber) Close() error { return errors.Join(p.backends.close(), p.Prober.Close()) }

func postgresProber(s *pgsession.Session, err error) (*pgsession.Prober, error) {
	if err != nil {
		return nil, err
	}
	p, err := pgsession.NewProber(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return p, nil
}

// Alive tells how the server died, or why it does not answer.
func (b *cluster) Alive(ctx context.Context) error {
	p := b.instance()
	s, err := b.dial(ctx, p)
	if err == nil {
		defer s.Close()
		defer context.AfterFunc(ctx, s.Cut)()
		if _, err = s.Query("SELECT 1"); err == nil {
			return nil
		}
	}
	return p.whyDead(ctx, err)
}

// Restart replaces the instance, dead or alive, by a fresh one with empty
// tables. Connections to the old one break.
func (b *cluster) Restart(ctx context.Context) error { return b.restart(ctx, b.start) }

// URL implements harness.Located: by the port, with the password that was drawn, or else by the socket.
func (b *cluster) URL() string {
	if b.port == 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		return "postgres://" + clusterUser + "@/postgres?host=" + url.QueryEscape(b.current.folder.path)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(clusterUser, b.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)), Path: "/postgres"}
	return u.String()
}
