-- level: READ UNCOMMITTED
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_uca1400_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=ON; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ; tx_isolation=REPEATABLE-READ
-- kind: unexpected-error
-- stmt: step 3, tx2: UPDATE t SET a = '0' WHERE a
-- expected: 0 matched, 0 changed
-- actual: error 1292 (Truncated incorrect BOOLEAN value: 'x')
-- reason: nothing in the rows that the UPDATE sees makes it fail
-- note: with snapshot isolation an UPDATE at READ UNCOMMITTED judges the newest version of a locked row, committed or not (MDEV-34108), while a locking read is to judge the newest committed one (https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html); here the uncommitted text is no number, so that the UPDATE fails because of a row that never was
-- fingerprint: unexpected-error/RU/error 1292 for none
-- reproduced: 10/10
-- first_seen: 2026-11-21T19:08:48Z
-- verdict (mariadb 11.8, RU): violation unexpected-error
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): violation unexpected-error
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok

/* init */ CREATE TABLE t (a VARCHAR(2));
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES ('x');
/* tx2 */ UPDATE t SET a = '0' WHERE a;
/* tx1 */ ROLLBACK;
