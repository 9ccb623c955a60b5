package rules

import (
	"regexp"
	"strings"
)

// SettingClass says what a server variable can do to a verdict.
type SettingClass uint8

const (
	// Unclassed: nobody has looked at it; it may matter.
	Unclassed SettingClass = iota
	// CannotMatter: it changes how fast, how large, where or how loudly, and no
	// answer to a statement.
	CannotMatter
	// Modelled: the oracle computes with its value.
	Modelled
	// Refused: the oracle knows one value, and a target with another is refused.
	Refused
)

// settingClasses holds patterns of names, in order: the first that fits counts.
// Vendors' lists of variables:
// https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html
// https://mariadb.com/docs/server/server-management/variables-and-modes/full-list-of-mariadb-options-system-and-status-variables
// https://docs.pingcap.com/tidb/stable/system-variables
var settingClasses = []struct {
	class   SettingClass
	pattern string
}{
	{Refused, `autocommit|completion_type|default_storage_engine|innodb_deadlock_detect|innodb_rollback_on_timeout|default_tmp_storage_engine|storage_engine`},

	{Modelled, `binlog_format|log_bin|innodb_snapshot_isolation|innodb_lock_wait_timeout|lock_wait_timeout`},
	{Modelled, `tx_isolation|transaction_isolation|tx_read_only|transaction_read_only`},
	{Modelled, `character_set_server|character_set_client|character_set_connection|character_set_results|collation_connection`},
	{Modelled, `time_zone|system_time_zone|tidb_enable_noop_functions|tidb_txn_mode|tidb_skip_isolation_level_check`},

	// No table that the oracle takes has a foreign key.
	{CannotMatter, `foreign_key_checks`},
	{CannotMatter, `performance_schema.*|gtid_.*|mysqlx.*|(skip_)?networking|(skip_)?name_resolve|auto_generate_certs|(skip_)?ssl|character_sets_dir|skip_(replica|slave)_start|log_.*|general_log.*|slow_.*|binlog_(checksum|row_image|row_metadata)`},
	// What could be taken for one of the patterns below.
	{Unclassed, `.*(_mode|_checks?|_safe_.*|auto_increment.*|.*increment)|innodb_autoinc_lock_mode|group_concat_max_len|max_sort_length|max_error_count|sql_.*|old.*|optimizer_.*|.*_limit|max_length_for_.*|character_set.*|collation.*|max_allowed_packet|lower_case.*|.*isolation.*|.*lock.*`},

	// Sizes, counts and limits of memory, files, threads and connections.
	{CannotMatter, `.*_(size|buffer|buffers|buffering|pages|memory|capacity|capacity_max|depth|instances|slots|length|threads|concurrency|connections|files|entries|chunk_size|cache)`},
	{CannotMatter, `.*(buffer_pool|_cache_|cache$|log_file|redo_log|undo_log|purge_|doublewrite|flush|fsync|checkpoint|io_|_io|read_ahead|page_cleaners|adaptive_|lru_|spin_|sync_).*`},
	{CannotMatter, `(max_connect|max_user_connections|max_connections|thread_|table_open_cache|table_definition_cache|open_files|back_log|stored_program|query_cache|key_|myisam_|aria_|rocksdb_).*`},
	// Files, folders, names and networks.
	{CannotMatter, `(.*_dir|datadir|basedir|tmpdir|.*_file|.*_path|socket|port|bind_address|hostname|server_.*id|server_id|server_uuid|report_.*|pid_file|.*_ssl.*|ssl_.*|tls_.*|.*_key_path|admin_.*|mysqlx_.*|proxy_.*|plugin_.*|skip_name_resolve|skip_networking|skip_show_database|version.*|license|init_file|lc_messages.*)`},
	// What a server writes of what it does, and what it measures.
	{CannotMatter, `(log_.*|general_log.*|slow_.*|long_query_time|performance_schema.*|profiling.*|userstat|.*_monitor.*|innodb_monitor.*|innodb_status.*|innodb_print.*|error_count|warning_count|feedback_.*|min_examined_row_limit|expensive_.*)`},
	// Replication, and what it keeps.
	{CannotMatter, `(slave_.*|replica_.*|relay_.*|rpl_.*|master_.*|source_.*|gtid_.*|group_replication.*|wsrep_.*|enforce_gtid.*|expire_logs.*|binlog_(expire.*|cache.*|checksum|commit.*|group.*|order.*|stmt.*|rows_query.*|transaction_.*|annotate.*|row_event.*|row_image|row_metadata)|max_binlog.*|sync_.*)`},
	// How long clients may be silent.
	{CannotMatter, `(wait_timeout|interactive_timeout|connect_timeout|net_.*|innodb_fast_shutdown|event_scheduler|local_infile|secure_file_priv|secure_auth|default_password.*|password_.*|validate_.*|authentication_.*|caching_sha2.*|require_secure.*|disconnect_on.*|partial_revokes|activate_all_roles.*|mandatory_roles|automatic_sp_privileges)`},
	// How InnoDB stores.
	{CannotMatter, `(innodb_file_per_table|innodb_default_row_format|innodb_data_.*|innodb_undo_.*|innodb_temp_.*|innodb_compress.*|innodb_encrypt.*|innodb_page_size|innodb_checksum.*|innodb_numa.*|innodb_ft_.*|innodb_open_files|innodb_old_blocks.*|innodb_max_(dirty|undo|purge|bitmap).*|innodb_change_buffer.*|innodb_fill_factor|innodb_log_.*|innodb_rollback_segments|innodb_dedicated.*|innodb_online.*|innodb_defragment.*|innodb_scrub.*|innodb_immediate.*|innodb_instant.*|innodb_use_native_aio|innodb_extend.*|innodb_strict_mode|innodb_stats_.*)`},
	{CannotMatter, `tidb_(.*concurrency.*|mem_.*|.*_log.*|.*slow.*|.*stmt_summary.*|auto_analyze.*|.*_batch_size|gc_.*|ddl_.*|.*_cache.*|.*metric.*|.*trace.*|analyze_.*|.*stats.*)`},
}

var compiledClasses = func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(settingClasses))
	for i, c := range settingClasses {
		out[i] = regexp.MustCompile(`^(?:` + c.pattern + `)$`)
	}
	return out
}()

// ClassOf returns the class of a server variable.
func ClassOf(name string) SettingClass {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for i, p := range compiledClasses {
		if p.MatchString(name) {
			return settingClasses[i].class
		}
	}
	return Unclassed
}
