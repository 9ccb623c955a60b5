//go:build !notidb

package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/log"
	"github.com/pingcap/tidb/pkg/config"
	"github.com/pingcap/tidb/pkg/domain"
	"github.com/pingcap/tidb/pkg/kv"
	mysqlconst "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/server"
	"github.com/pingcap/tidb/pkg/session"
	"github.com/pingcap/tidb/pkg/sessionctx/variable"
	"github.com/pingcap/tidb/pkg/store/mockstore"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/mod/module"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func init() { harness.Register("embedded", open, list) }

func list(context.Context) []harness.Target {
	return []harness.Target{{Name: "embedded", Note: "TiDB inside this process", Available: true}}
}

// settings are global variables that the server is given. Those that change
// what a statement may do are told to the oracle; the others are here for
// speed, with the reason.
var settings = []struct {
	name, value string
	told        bool
}{
	{"tidb_enable_gogc_tuner", "OFF", false},             // else the heap of a long run grows to 1.3 GB
	{"tidb_enable_fast_create_table", "ON", false},       // CREATE TABLE: 4 ms instead of 9
	{"tidb_enable_metadata_lock", "OFF", true},           // as above; DDL then fails running transactions
	{"tidb_enable_auto_analyze", "OFF", false},           // plans must not change in a run
	{"tidb_gc_enable", "OFF", false},                     // would never collect anything in this store
	{"tidb_enable_stmt_summary", "OFF", false},           // 4 % of the processor, and memory for each form of statement
	{"tidb_enable_collect_execution_info", "OFF", false}, // figures that nobody reads; both together: a seventh more cases
	{"tidb_txn_mode", "pessimistic", true},
}

// toldVariables are read back for history.Server.Settings.
var toldVariables = []string{
	"tidb_txn_mode", "tidb_enable_metadata_lock", "tidb_constraint_check_in_place_pessimistic",
	"tidb_enable_noop_functions", "tidb_rc_read_check_ts", "tidb_pessimistic_txn_fair_locking",
	"sql_mode", "innodb_lock_wait_timeout",
}

// schemaLease is the vendor's. Nothing of a case waits for it, but it must be more than 0.
// https://docs.pingcap.com/tidb/stable/tidb-configuration-file#lease
const schemaLease = 45 * time.Second

// release is the version that the server reports. Without TiDB's Makefile it would be that
// of a placeholder. This commit is one of the branch of 8.5; 8.5.4 was released the day after.
// https://docs.pingcap.com/tidb/stable/release-8.5.4/
const (
	release       = "v8.5.4-20251126-e4e814fdc0af"
	serverVersion = "8.0.11-TiDB-" + release
)

// lockWait is innodb_lock_wait_timeout in seconds: two sessions that wait for
// a third that does nothing more are released by it.
const lockWait = "2"

// instance is the one TiDB of a process: its configuration is global.
type instance struct {
	dir    string
	socket string
	store  kv.Storage
	dom    *domain.Domain
	srv    *server.Server
	spy    *lockSpy
	log    *ring
	served chan error
	info   history.Server
	users  int
	// port lets other clients in, as tcp says; 0: it is closed.
	port int
	tcp  *mysql.Config
}

var (
	currentMu sync.Mutex
	current   *instance
)

// open starts the server, or gives the one that runs already one more user.
func open(ctx context.Context, target string, o harness.Options) (harness.Backend, error) {
	if target != "embedded" {
		return nil, fmt.Errorf("%q: the embedded TiDB has no versions or variants", target)
	}
	currentMu.Lock()
	defer currentMu.Unlock()
	if current == nil {
		in, err := start(ctx, o.Dir, o.Port)
		if err != nil {
			return nil, err
		}
		current = in
	}
	current.users++
	return &backend{instance: current}, nil
}

// start starts it, with a port for other clients if that is not 0.
func start(ctx context.Context, parent string, port int) (_ *instance, err error) {
	in := &instance{port: port, log: &ring{}, spy: newLockSpy(), served: make(chan error, 1)}
	if in.dir, err = privateDir(parent); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.stop())
		}
	}()
	in.socket = filepath.Join(in.dir, "s")
	in.captureLog()

	cfg := config.NewConfig()
	cfg.Host, cfg.Port = "", 0
	cfg.Socket = in.socket
	if port != 0 {
		cfg.Host, cfg.Port = "127.0.0.1", uint(port)
	}
	cfg.Status.ReportStatus = false
	cfg.Store = "unistore"
	cfg.TempDir = filepath.Join(in.dir, "tmp")
	cfg.TempStoragePath = filepath.Join(in.dir, "spill")
	cfg.SplitTable = false // regions that split under a test add retries
	cfg.Performance.RunAutoAnalyze = false
	cfg.Instance.EnableSlowLog.Store(false)
	// The owner of the statistics writes of every CREATE and DROP TABLE what nobody reads.
	cfg.Instance.TiDBEnableStatsOwner.Store(false)
	// Without it autocommit DML runs optimistically: its waits are sleeps of up
	// to half a second that nobody can ask about.
	cfg.PessimisticTxn.PessimisticAutoCommit.Store(true)
	// Any other limit than the default: with that, a killed session whose transaction is open ends
	// the process when it closes, because it counts its memory once more then.
	// https://github.com/pingcap/tidb/issues/63956
	// https://docs.pingcap.com/tidb/stable/tidb-configuration-file#txn-total-size-limit
	cfg.Performance.TxnTotalSizeLimit = config.DefTxnTotalSizeLimit + 1
	config.StoreGlobalConfig(cfg)
	mysqlconst.TiDBReleaseVersion, mysqlconst.ServerVersion = release, serverVersion
	variable.SetSysVar(variable.Version, serverVersion)

	if in.store, err = openStore(in.dir, in.spy); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	session.SetSchemaLease(schemaLease)
	session.DisableStats4Test()
	domain.DisablePlanReplayerBackgroundJob4Test()
	domain.DisableDumpHistoricalStats4Test()
	if in.dom, err = session.BootstrapSession(in.store); err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	if err = in.admit(ctx); err != nil { // before anybody can connect
		return nil, err
	}
	if in.srv, err = server.NewServer(cfg, server.NewTiDBDriver(in.store)); err != nil {
		return nil, fmt.Errorf("make the server: %w", err)
	}
	in.srv.SetDomain(in.dom)
	in.dom.InfoSyncer().SetSessionManager(in.srv)
	go func() { in.served <- in.srv.Run(nil) }() // Run(dom) waits for statistics, which are off
	if err = in.configure(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// beneath is what tests put between the spy and the store.
var beneath = func(c tikv.Client) tikv.Client { return c }

// openStore makes a store in memory. Only a path under the temporary directory
// makes unistore a volatile one, without syncs; so that directory is ours for
// the moment.
func openStore(dir string, spy *lockSpy) (kv.Storage, error) {
	const env = "TMPDIR"
	old, had := os.LookupEnv(env)
	if err := os.Setenv(env, dir); err != nil {
		return nil, err
	}
	defer func() {
		if had {
			_ = os.Setenv(env, old)
		} else {
			_ = os.Unsetenv(env)
		}
	}()
	store, err := mockstore.NewMockStore(
		mockstore.WithStoreType(mockstore.EmbedUnistore),
		mockstore.WithClientHijacker(func(c tikv.Client) tikv.Client {
			spy.Client = beneath(c)
			return spy
		}))
	if err != nil {
		return nil, err
	}
	told, ok := store.(interface{ SetOracle(oracle.Oracle) })
	if !ok {
		return nil, fmt.Errorf("%T does not let its oracle be replaced", store)
	}
	told.SetOracle(clock{store.GetOracle(), spy.requests})
	return store, nil
}

// captureLog keeps warnings and errors of TiDB off the terminal.
func (in *instance) captureLog() {
	level := zap.NewAtomicLevelAt(zap.WarnLevel)
	core := &connCore{Core: zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig()), in.log, level)}
	logger := zap.New(core, zap.WithFatalHook(lastWords{}))
	log.ReplaceGlobals(logger, &log.ZapProperties{Core: core, Syncer: in.log, Level: level})
}

// lastWords tells what TiDB ends the whole process for.
type lastWords struct{}

func (lastWords) OnWrite(e *zapcore.CheckedEntry, fields []zapcore.Field) {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	fmt.Fprintf(os.Stderr, "the embedded TiDB ends the process: %s %v\n%s\n", e.Message, enc.Fields, e.Stack)
	os.Exit(3)
}

// configure waits for the listener, sets the variables and reads them back.
func (in *instance) configure(ctx context.Context) error {
	for {
		c, err := net.Dial("unix", in.socket)
		if err == nil {
			_ = c.Close()
			break
		}
		select {
		case err := <-in.served:
			return fmt.Errorf("serve: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("wait for the listener: %w", ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	connector, err := mysql.NewConnector(in.driverConfig())
	if err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, s := range settings {
		if _, err := db.ExecContext(ctx, "SET GLOBAL "+s.name+" = '"+s.value+"'"); err != nil {
			return fmt.Errorf("configure the server: set %s: %w", s.name, err)
		}
	}
	in.info = history.Server{DBMS: history.TiDB, Settings: map[string]string{
		"pessimistic-auto-commit": "true", "store": "unistore",
	}}
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&in.info.Version); err != nil {
		return fmt.Errorf("read the server's version: %w", err)
	}
	if err := db.QueryRowContext(ctx, "SELECT tidb_version()").Scan(&in.info.Build); err != nil {
		return fmt.Errorf("read the server's build: %w", err)
	}
	in.info.Build = commit() + in.info.Build
	for _, name := range toldVariables {
		var v string
		if err := db.QueryRowContext(ctx, "SELECT @@"+name).Scan(&v); err != nil {
			return fmt.Errorf("read back %s: %w", name, err)
		}
		in.info.Settings[name] = v
	}
	return nil
}

// commit names the commit of TiDB that is built in, on a line: tidb_version() knows
// only what TiDB's own Makefile tells it. Empty in a test's binary, which holds no
// list of modules.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path != "github.com/pingcap/tidb" {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if rev, err := module.PseudoVersionRev(m.Version); err == nil {
			return "Commit " + rev + " of " + m.Path + ", as a library with its in-memory store\n"
		}
		return m.Path + " " + m.Version + ", as a library with its in-memory store\n"
	}
	return ""
}

func (in *instance) driverConfig() *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "unix", in.socket
	if in.tcp != nil {
		cfg.Passwd = in.tcp.Passwd
	}
	cfg.Params = map[string]string{"innodb_lock_wait_timeout": lockWait}
	return cfg
}

// idle says that a connection runs no statement and has no open transaction.
//
// The list of transactions would say it too, but reading that list while a
// session begins a transaction unlocks another mutex than it locked
// (SessionVars.GetRelatedTableForMDL), which ends the process.
func (in *instance) idle(conn uint64) bool {
	p, ok := in.srv.GetProcessInfo(conn)
	return !ok || p == nil || p.Command == mysqlconst.ComSleep && p.State&mysqlconst.ServerStatusInTrans == 0
}

// stop ends what was started, in reverse order, and deletes the directory.
func (in *instance) stop() error {
	var err error
	if in.srv != nil {
		in.srv.DrainClients(time.Second, time.Second)
		in.srv.Close()
		if e := <-in.served; e != nil {
			err = fmt.Errorf("serve: %w", e)
		}
	}
	if in.dom != nil {
		in.dom.Close()
	}
	if in.store != nil {
		err = errors.Join(err, in.store.Close())
	}
	return errors.Join(err, os.RemoveAll(in.dir))
}

// backend is one user's view of the instance.
type backend struct {
	*instance
	once sync.Once
}

func (b *backend) Server() history.Server { return b.info }

func (b *backend) Config() *mysql.Config { return b.driverConfig() }

func (b *backend) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", b.socket)
}

func (b *backend) Prober(context.Context) (harness.Prober, error) {
	return &prober{b.instance, b.spy.listen(), map[uint64]time.Time{}}, nil
}

func (b *backend) Levels() []corpus.Level {
	return []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}
}

func (b *backend) Log() string { return b.log.String() }

func (b *backend) Alive(ctx context.Context) error {
	connector, err := mysql.NewConnector(b.driverConfig())
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("ping the embedded TiDB: %w", err)
	}
	return nil
}

// Close ends the server when its last user closes.
func (b *backend) Close() (err error) {
	b.once.Do(func() {
		currentMu.Lock()
		defer currentMu.Unlock()
		b.users--
		if b.users == 0 {
			current = nil
			err = b.stop()
		}
	})
	return err
}
