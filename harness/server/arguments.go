package server

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// What a disposable instance needs and what it can do without. None of these
// changes what a statement returns, except where the comment says so.
var (
	everyServer = []string{
		"--skip-networking=1", "--skip-name-resolve",
		"--character-set-server=utf8mb4", "--default-time-zone=+00:00",
		"--innodb-buffer-pool-size=32M", "--max-connections=200", "--table-open-cache=200",
		// An instance is never recovered, so nothing need reach a disk in order.
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-flush-method=nosync", "--sync-binlog=0",
		// Plans depend on statistics, and statistics on when a background
		// thread last looked: they stay as they were at the table's creation.
		"--innodb-stats-persistent=1", "--innodb-stats-auto-recalc=OFF",
		// Only sessions that wait for each other in a way that the server does
		// not see as a deadlock ever wait this long.
		"--innodb-lock-wait-timeout=5", "--lock-wait-timeout=5",
		"--innodb-purge-threads=1",
	}
	mysqlServer = []string{
		"--mysqlx=OFF", "--event-scheduler=OFF", "--secure-file-priv=NULL", "--tls-version=",
		"--auto-generate-certs=OFF", "--caching-sha2-password-auto-generate-rsa-keys=OFF",
		"--innodb-redo-log-capacity=16M", "--innodb-log-writer-threads=OFF", "--skip-replica-start",
		// The lock tables of the performance schema are the only complete view
		// of lock waits; they need no instrument. The sizes save 110 MB.
		"--performance-schema=ON", "--performance-schema-instrument=%=OFF",
		"--performance-schema-digests-size=0", "--performance-schema-max-digest-length=0", "--performance-schema-error-size=0",
		"--performance-schema-max-memory-classes=0", "--performance-schema-max-mutex-classes=0",
		"--performance-schema-max-rwlock-classes=0", "--performance-schema-max-cond-classes=0",
		"--performance-schema-max-file-classes=0", "--performance-schema-max-socket-classes=0",
		"--performance-schema-max-stage-classes=0", "--performance-schema-max-statement-classes=0",
		"--performance-schema-accounts-size=0", "--performance-schema-hosts-size=0", "--performance-schema-users-size=0",
	}
	mariadbServer = []string{
		"--performance-schema=OFF", "--query-cache-type=0", "--innodb-log-file-size=8M",
		"--aria-log-file-size=8M", "--aria-pagecache-buffer-size=2M", "--key-buffer-size=1M",
		// From 11.4 on the server makes an RSA key at each start otherwise.
		"--skip-ssl",
	}
)

// What a server needs that is to keep what it acknowledged when it is killed; it
// stands behind the arguments above and takes their place. Both vendors ship these
// values, save that of the size of the logs and the way to flush: O_DIRECT does not
// exist on every file system.
// https://dev.mysql.com/doc/refman/en/innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
var (
	everyDurableServer = []string{
		"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-doublewrite=1", "--innodb-flush-method=fsync",
		"--innodb-buffer-pool-size=128M",
	}
	durableLogs = map[history.DBMS][]string{
		history.MySQL:   {"--innodb-redo-log-capacity=128M"},
		history.MariaDB: {"--innodb-log-file-size=96M"},
	}
)

// durable returns the arguments that make a server keep what it acknowledged.
func (in installation) durable() []string {
	return append(everyDurableServer[:len(everyDurableServer):len(everyDurableServer)], durableLogs[in.family]...)
}

// vendorDefaults are the options of a target that names none: what the vendor
// ships, where it changes what is promised.
var vendorDefaults = map[history.DBMS]map[string]string{
	history.MySQL: {"log_bin": "ON"},
}

// where returns the arguments that tie a server to its folder.
func (in installation) where(dir string) []string {
	args := []string{
		"--no-defaults", "--basedir=" + in.prefix,
		"--datadir=" + filepath.Join(dir, "data"), "--tmpdir=" + filepath.Join(dir, "tmp"),
		"--socket=" + filepath.Join(dir, socketName), "--pid-file=" + filepath.Join(dir, "pid"),
		"--log-error=" + filepath.Join(dir, logName),
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root") // otherwise it refuses to run as root
	}
	if in.share != "" {
		charsets := in.charsets
		if charsets == "" {
			charsets = filepath.Join(in.share, "charsets")
		}
		args = append(args, "--lc-messages-dir="+in.share, "--character-sets-dir="+charsets)
	}
	if in.plugins != "" {
		args = append(args, "--plugin-dir="+in.plugins)
	}
	return args
}

// tuning returns the arguments that make a server small and quick to start.
func (in installation) tuning() []string {
	if in.family == history.MySQL {
		return append(everyServer[:len(everyServer):len(everyServer)], mysqlServer...)
	}
	return append(everyServer[:len(everyServer):len(everyServer)], mariadbServer...)
}

// chosen returns the arguments for the options of a target over the vendor's.
func (in installation) chosen(s spec) []string {
	merged := spec{options: map[string]string{}}
	for k, v := range vendorDefaults[in.family] {
		merged.options[k] = v
	}
	for k, v := range s.options {
		merged.options[k] = v
	}
	var args []string
	for _, k := range merged.sortedKeys() {
		v := merged.options[k]
		if k != "log_bin" {
			args = append(args, "--"+strings.ReplaceAll(k, "_", "-")+"="+v)
			continue
		}
		// As an argument log_bin is a file name: OFF would be one too.
		switch strings.ToUpper(v) {
		case "OFF", "0", "FALSE":
			args = append(args, "--skip-log-bin")
		default:
			args = append(args, "--log-bin=binlog", "--server-id=1")
		}
	}
	if _, set := merged.options["log_bin"]; !set {
		args = append(args, "--skip-log-bin")
	}
	return args
}
