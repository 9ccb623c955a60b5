package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// clusterUser is the superuser of a PostgreSQL of our own.
const clusterUser = "txnfuzz"

// setting is a parameter that a PostgreSQL of our own is given if it is not older than since.
type setting struct{ since, name, value string }

// What a disposable instance needs and what it can do without. None of these
// changes what a statement returns.
// https://www.postgresql.org/docs/current/runtime-config.html
var clusterSettings = []setting{
	{"10", "shared_buffers", "32MB"}, {"10", "max_connections", "200"}, {"10", "max_prepared_transactions", "64"},
	{"10", "max_wal_size", "64MB"}, {"10", "min_wal_size", "32MB"}, {"10", "huge_pages", "off"},
	{"10", "timezone", "UTC"}, {"10", "log_timezone", "UTC"},
	// Plans depend on statistics, and statistics on when autovacuum last looked.
	{"10", "autovacuum", "off"},
	{"10", "max_parallel_workers_per_gather", "0"}, {"11", "max_parallel_maintenance_workers", "0"},
	{"10", "max_logical_replication_workers", "0"}, {"11", "jit", "off"}, {"18", "io_method", "sync"},
	// Sessions in a cycle wait this long before the server looks for one.
	{"10", "deadlock_timeout", "10ms"},
	// A segment of POSIX's or System V's would outlive a server that is killed.
	{"10", "dynamic_shared_memory_type", "mmap"},
	// A backend that crashes ends the server, or only its lost connections would tell of it.
	{"10", "restart_after_crash", "off"},
	// Every error of a case would be logged, every connection that is lost, too.
	{"10", "log_min_messages", "log"}, {"10", "log_checkpoints", "off"}, {"10", "log_line_prefix", "%m [%p] "},
}

var (
	// An instance is never recovered, and copies of it lie in memory, too: nothing need reach a disk in order.
	clusterUnsafe = []setting{
		{"10", "fsync", "off"}, {"10", "full_page_writes", "off"}, {"10", "synchronous_commit", "off"},
		{"10", "wal_level", "minimal"}, {"10", "max_wal_senders", "0"},
	}
	// What it acknowledged is to stay when it is killed: the vendor's values.
	clusterDurable = []setting{
		{"10", "fsync", "on"}, {"10", "full_page_writes", "on"}, {"10", "synchronous_commit", "on"},
		{"10", "shared_buffers", "128MB"},
	}
)

// arguments returns what makes a server small and quick to start, and the options of its target.
func (b *cluster) arguments() (args []string) {
	set := clusterSettings
	if b.durable {
		set = slices.Concat(set, clusterDurable)
	} else {
		set = slices.Concat(set, clusterUnsafe)
	}
	if b.power {
		set = slices.Concat(set, clusterPower)
	}
	for _, s := range slices.Concat(set, b.extra) {
		if atLeast(b.in.version, s.since) {
			args = append(args, "-c", s.name+"="+s.value)
		}
	}
	for _, k := range b.spec.sortedKeys() {
		args = append(args, "-c", k+"="+b.spec.options[k])
	}
	return args
}

// postgresSettings are the parameters that change what a server promises or what a reader needs to
// reproduce a run, beside those by which the planner was kept from some of its ways.
var postgresSettings = []string{
	"deadlock_timeout", "default_table_access_method", "default_transaction_deferrable", "default_transaction_isolation",
	"default_transaction_read_only", "fsync", "full_page_writes", "idle_in_transaction_session_timeout", "lc_collate",
	"lock_timeout", "max_prepared_transactions", "search_path", "server_encoding", "statement_timeout", "synchronous_commit",
	"timezone", "transaction_timeout", "transform_null_equals", "wal_level", "wal_sync_method",
}

// identifyPostgres asks a PostgreSQL what it is; more names settings to be told beside the usual ones.
func identifyPostgres(s *pgsession.Session, more ...string) (history.Server, error) {
	build, err := s.Query("SELECT pg_catalog.version()")
	if err != nil {
		return history.Server{}, fmt.Errorf("ask for the server's version: %w", err)
	}
	server := history.Server{DBMS: history.PostgreSQL, Build: build[0][0].Text, Settings: map[string]string{}}
	// Behind the number a distribution writes its own: 17.5 (Debian 17.5-1).
	server.Version, _, _ = strings.Cut(s.Parameter("server_version"), " ")
	names := "'" + strings.Join(slices.Concat(postgresSettings, more), "','") + "'"
	rows, err := s.Query("SELECT pg_catalog.lower(name), setting FROM pg_catalog.pg_settings " +
		"WHERE pg_catalog.lower(name) IN (" + names + `) OR name LIKE 'enable\_%' AND setting <> boot_val`)
	if err != nil {
		return history.Server{}, fmt.Errorf("ask for the server's settings: %w", err)
	}
	for _, r := range rows {
		server.Settings[r[0].Text] = r[1].Text
	}
	return server, nil
}
