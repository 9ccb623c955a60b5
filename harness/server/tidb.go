package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
)

// tidb is the kin of the program tidb-server. Its storage is unistore, in the same process
// and in memory.
type tidb struct{}

const tidbConfigName = "tidb.toml"

func (tidb) programs() []string { return []string{"tidb-server"} }

func (tidb) place() string { return "tidb-server" }

func (tidb) unpacked(in *installation, root string) error {
	in.command = []string{in.binary}
	return nil
}

// A program that was built without TiDB's Makefile has no number: None.
var tidbVersion = regexp.MustCompile(`(?m)^Release Version: v?(\S+)`)

func (tidb) version() ([]string, *regexp.Regexp) { return []string{"-V"}, tidbVersion }

func (tidb) made(string) bool { return true }

func (tidb) durable() error { return &harness.NameError{Err: errNoDurableTiDB} }

// solitary: see tidbProber.
func (tidb) solitary() bool { return true }

// template returns none: a server is ready as quickly with an empty store.
func (tidb) template(context.Context, installation, io.Writer) (string, error) { return "", nil }

// tidbConfig keeps a server in its folder, which %[1]q and those behind it are paths in.
// The store is in memory if its folder has no name, and then below TMPDIR.
//
// Autocommit DML that is not pessimistic waits in sleeps of up to half a second, of which
// nobody can be asked. The log is in JSON, so that the stack in an entry can be read.
// https://docs.pingcap.com/tidb/stable/tidb-configuration-file
const tidbConfig = `host = %[1]q
port = %[2]d
socket = %[3]q
store = "unistore"
path = ""
temp-dir = %[4]q
tmp-storage-path = %[5]q
split-table = false

[log]
level = "warn"
format = "json"
[log.file]
filename = %[6]q
max-size = 8
max-backups = 1

[status]
report-status = false

[instance]
tidb_enable_slow_log = false

[performance]
run-auto-analyze = false

[pessimistic-txn]
pessimistic-auto-commit = true
`

// command writes the server's configuration.
func (tidb) command(b *private, dir string) ([]string, error) {
	host := ""
	if b.port != 0 {
		host = "127.0.0.1"
	}
	text := fmt.Sprintf(tidbConfig, host, b.port, filepath.Join(dir, socketName), filepath.Join(dir, "tmp"),
		filepath.Join(dir, "tmp", "spill"), filepath.Join(dir, logName))
	config := filepath.Join(dir, tidbConfigName)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("configure the server: %w", err)
	}
	return append(b.in.command[:len(b.in.command):len(b.in.command)], "--config="+config), nil
}

// doors gives root a password, too: to TiDB a client of 127.0.0.1 is one of localhost, as
// those of the socket are, so that root without one would get in by the port.
func (tidb) doors(b *private, dir string) ([]string, *mysql.Config, string, error) {
	if b.port == 0 {
		return nil, nil, "", nil
	}
	cfg := portConfig(b.port)
	text := "ALTER USER 'root'@'%' IDENTIFIED BY '" + cfg.Passwd + "';\n" + admission(cfg, "127.0.0.1")
	path := filepath.Join(dir, "welcome.sql")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, "", fmt.Errorf("open port %d: %w", b.port, err)
	}
	return []string{"--initialize-sql-file=" + path}, cfg, cfg.Passwd, nil
}

// tidbSettings are global variables that a server is given, as far as its version knows
// them; the options of a target come behind them.
var tidbSettings = [][2]string{
	{"tidb_enable_gogc_tuner", "OFF"},             // else the heap of a long run grows to 1.3 GB
	{"tidb_enable_fast_create_table", "ON"},       // CREATE TABLE: 4 ms instead of 9
	{"tidb_enable_metadata_lock", "OFF"},          // as above; DDL then fails running transactions
	{"tidb_enable_auto_analyze", "OFF"},           // plans must not change in a run
	{"tidb_gc_enable", "OFF"},                     // would never collect anything in this store
	{"tidb_enable_stmt_summary", "OFF"},           // memory for each form of statement
	{"tidb_enable_collect_execution_info", "OFF"}, // figures that nobody reads
	{"tidb_enable_stats_owner", "OFF"},            // writes of every CREATE and DROP TABLE what nobody reads
	{"tidb_txn_mode", "pessimistic"},
	// Two sessions that wait for a third that does nothing more are released by it.
	{"innodb_lock_wait_timeout", "2"},
}

// unknownVariable is the error for a variable that a server does not have.
const unknownVariable = 1193

// greet sets the server's variables.
func (tidb) greet(ctx context.Context, b *private, s *side) error {
	for _, v := range tidbSettings {
		err := s.exec(ctx, setGlobal(v[0], v[1]))
		var answer *mysql.MySQLError
		if err != nil && !(errors.As(err, &answer) && answer.Number == unknownVariable) {
			return fmt.Errorf("configure the server: set %s: %w", v[0], err)
		}
	}
	for _, k := range b.spec.sortedKeys() {
		err := s.exec(ctx, setGlobal(k, b.spec.options[k]))
		var answer *mysql.MySQLError
		if errors.As(err, &answer) {
			return &harness.NameError{Err: fmt.Errorf("option %s=%s: %s", k, b.spec.options[k], answer.Message)}
		}
		if err != nil {
			return fmt.Errorf("configure the server: set %s: %w", k, err)
		}
	}
	// A transaction's mode is that of its session's beginning.
	return s.Close()
}

func setGlobal(name, value string) string {
	return "SET GLOBAL " + name + " = '" + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), "'", "''") + "'"
}

var errNoDurableTiDB = errors.New("a TiDB of our own keeps its data in memory: it cannot be killed and recovered")
