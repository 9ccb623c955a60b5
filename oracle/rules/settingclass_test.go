package rules

import (
	"strings"
	"testing"
)

func TestClassesOfSettings(t *testing.T) {
	for class, names := range map[SettingClass]string{
		CannotMatter: `sort_buffer_size innodb_buffer_pool_size max_connections datadir log_error slow_query_log general_log_file
			gtid_mode replica_parallel_workers server_id sync_binlog innodb_flush_log_at_trx_commit foreign_key_checks
			wait_timeout thread_cache_size performance_schema innodb_purge_threads innodb-stats-persistent TABLE_OPEN_CACHE character_sets_dir skip_replica_start`,
		Modelled: `log_bin binlog_format innodb_snapshot_isolation innodb_lock_wait_timeout lock_wait_timeout tx_isolation time_zone
			tidb_enable_noop_functions`,
		Refused: `autocommit completion_type default_storage_engine innodb_deadlock_detect innodb_rollback_on_timeout`,
		Unclassed: `auto_increment_increment auto_increment_offset sql_mode sql_safe_updates collation_server div_precision_increment
			optimizer_switch innodb_autoinc_lock_mode group_concat_max_len sql_select_limit lower_case_table_names max_allowed_packet
			unique_checks no_such_variable old_mode sql_auto_is_null character_set_database`,
	} {
		for _, name := range strings.Fields(names) {
			if got := ClassOf(name); got != class {
				t.Errorf("%s: class %d, want %d", name, got, class)
			}
		}
	}
}
