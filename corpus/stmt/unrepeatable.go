package stmt

// Unrepeatable holds the functions whose value another session, or the same one a moment
// later, does not get.
// https://dev.mysql.com/doc/refman/en/replication-features-functions.html
// https://dev.mysql.com/doc/refman/en/information-functions.html
var Unrepeatable = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sys_guid": true, "random_bytes": true, "now": true, "sysdate": true,
	"current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true, "current_date": true, "curtime": true,
	"current_time": true, "utc_date": true, "utc_time": true, "utc_timestamp": true, "unix_timestamp": true,
	"connection_id": true, "current_user": true, "session_user": true, "system_user": true, "user": true, "current_role": true,
	"database": true, "schema": true, "found_rows": true, "row_count": true, "last_insert_id": true, "version": true,
	"sleep": true, "benchmark": true, "get_lock": true, "release_lock": true, "release_all_locks": true, "is_free_lock": true,
	"is_used_lock": true, "load_file": true, "master_pos_wait": true, "source_pos_wait": true, "nextval": true, "lastval": true,
	"setval": true, "tidb_version": true, "tidb_current_tso": true, "statement_digest": true,
}
