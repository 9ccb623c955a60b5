-- level: READ UNCOMMITTED
-- source: txnfuzz
-- target: mariadb:10.11
-- server_version: 10.11.18-MariaDB-0+deb12u1
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_general_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; tx_isolation=REPEATABLE-READ
-- kind: unexpected-error
-- stmt: step 4, tx2: SELECT * FROM t WHERE b <=> '' OR ISNULL(a)
-- expected: (0,,0) (NULL,0,0)
-- actual: error 1032 (Can't find record in 't')
-- reason: nothing in the rows that the SELECT sees makes it fail
-- note: a plain SELECT takes no lock and has no reason to fail (https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html); here it looks for the rows of two indexes while another session's UPDATE of the primary key is being rolled back because of a duplicate, and a row that the one index told of is gone when it is fetched; it is a race of one session's rollback with another's read, so that it shows in eight of ten runs; MySQL 9.7 and MariaDB 10.5 did not show it
-- fingerprint: unexpected-error/RU/error 1032 for none
-- reproduced: 8/10
-- first_seen: 2026-11-21T21:05:46Z
-- verdict (mariadb 11.8,snapshot=off, RU): violation unexpected-error

/* init */ CREATE TABLE t (a INT, b VARCHAR(10) PRIMARY KEY, c INT, INDEX(a));
/* init */ INSERT INTO t VALUES (0, '', 0), (NULL, 0, 0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (0, 1, 0);
/* tx2 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx2 */ SELECT * FROM t WHERE b <=> '' OR ISNULL(a);
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET b = NULL WHERE b = '';
/* tx3 */ COMMIT;
/* tx1 */ UPDATE t SET b = '' WHERE a IS NULL;
/* tx1 */ COMMIT;
