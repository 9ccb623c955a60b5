package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// settings are the variables that change what a server promises or what a
// reader needs to reproduce a run. A server leaves out those it does not know.
var settings = []string{
	"autocommit", "binlog_format", "binlog_row_image", "character_set_server", "collation_server",
	"completion_type", "default_storage_engine", "explicit_defaults_for_timestamp", "innodb_autoinc_lock_mode", "innodb_deadlock_detect",
	"innodb_lock_wait_timeout", "innodb_rollback_on_timeout", "innodb_snapshot_isolation",
	"innodb_stats_auto_recalc", "innodb_stats_persistent", "lock_wait_timeout", "log_bin",
	"lower_case_table_names", "sql_mode", "tidb_constraint_check_in_place_pessimistic",
	"tidb_enable_metadata_lock", "tidb_enable_noop_functions", "tidb_pessimistic_txn_fair_locking",
	"tidb_rc_read_check_ts", "tidb_txn_mode", "time_zone", "transaction_isolation", "tx_isolation",
}

// identify asks a server what it is; more names settings to be told beside the
// usual ones.
func identify(ctx context.Context, s *side, more ...string) (history.Server, error) {
	version, err := s.query(ctx, "SELECT VERSION(), @@version_comment")
	if err != nil {
		return history.Server{}, fmt.Errorf("ask for the server's version: %w", err)
	}
	server := classify(string(version[0][0]), string(version[0][1]))
	server.Build = string(version[0][1])
	if server.DBMS == history.TiDB {
		build, err := s.query(ctx, "SELECT tidb_version()")
		if err != nil {
			return history.Server{}, fmt.Errorf("ask for the server's build: %w", err)
		}
		server.Build = string(build[0][0])
	}
	rows, err := s.query(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('"+strings.Join(slices.Concat(settings, more), "','")+"')")
	if err != nil {
		return history.Server{}, fmt.Errorf("ask for the server's settings: %w", err)
	}
	server.Settings = make(map[string]string, len(rows))
	for _, r := range rows {
		server.Settings[strings.ToLower(string(r[0]))] = string(r[1])
	}
	if server.DBMS == history.TiDB {
		return server, configured(ctx, s, server.Settings)
	}
	return server, nil
}

// configured tells of what of a TiDB's configuration file changes its answers: the kind
// of its storage, and whether autocommit statements lock.
// https://docs.pingcap.com/tidb/stable/system-variables#tidb_config
func configured(ctx context.Context, s *side, settings map[string]string) error {
	rows, err := s.query(ctx, "SELECT @@tidb_config")
	var refused *mysql.MySQLError
	if errors.As(err, &refused) { // a service that hides it
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for the server's configuration: %w", err)
	}
	var config struct {
		Store       string `json:"store"`
		Pessimistic struct {
			AutoCommit json.RawMessage `json:"pessimistic-auto-commit"` // "true", a text
		} `json:"pessimistic-txn"`
	}
	if err := json.Unmarshal(rows[0][0], &config); err != nil {
		return fmt.Errorf("read the server's configuration: %w", err)
	}
	settings["store"] = config.Store
	settings["pessimistic-auto-commit"] = strings.Trim(string(config.Pessimistic.AutoCommit), `"`)
	return nil
}

// classify tells the family from VERSION() and @@version_comment. A family
// that the rules do not know comes back as itself, for example "percona".
func classify(version, comment string) history.Server {
	if v, ok := cutAfter(version, "-TiDB-"); ok {
		return history.Server{DBMS: history.TiDB, Version: v}
	}
	if strings.Contains(version, "MariaDB") {
		return history.Server{DBMS: history.MariaDB, Version: strings.TrimPrefix(version, "5.5.5-")}
	}
	// Debian's own builds of MySQL carry its name in the comment.
	if strings.Contains(comment, "MySQL") || strings.Contains(comment, "(Debian)") || strings.Contains(comment, "(Ubuntu)") {
		return history.Server{DBMS: history.MySQL, Version: version}
	}
	return history.Server{Version: version}
}

func cutAfter(s, sep string) (string, bool) {
	_, after, ok := strings.Cut(s, sep)
	return after, ok
}
