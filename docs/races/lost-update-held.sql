-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mariadb:11.8.6
-- server_version: 11.8.6-MariaDB-0+deb13u1 from Debian
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_uca1400_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; explicit_defaults_for_timestamp=ON; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=ON; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ; tx_isolation=REPEATABLE-READ
-- kind: missing-error
-- stmt: step 4, tx2: UPDATE t SET b = 0
-- expected: error 1020
-- actual: 1 matched, 1 changed
-- reason: it has found, and so locked, a row that was changed and committed behind its transaction's snapshot. What is promised: a plain SELECT sees the snapshot, and a locking read or a write of a row that was changed after it fails with error 1020 (https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation)
-- fingerprint: promise/missing-error/UPDATE/RR
-- reproduced: 10/10
-- verdict (mariadb 11.8, RR): violation missing-error
-- first_seen: 2026-11-30T18:59:53Z
-- input: races seed 1 case 4
-- hold: tx2 2 at fn_e9f3f0+0x0 of 2709f499a097a419b25142742f24e79f0a243149 hit 1

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 1;
/* tx2 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET b = 0;
/* tx1 */ COMMIT;
