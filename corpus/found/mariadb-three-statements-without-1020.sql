-- level: SERIALIZABLE
-- source: txnfuzz
-- target: mariadb:11.8
-- seed: yes
-- server_version: 11.8.9-MariaDB-4 from Debian
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_uca1400_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=ON; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ; tx_isolation=REPEATABLE-READ
-- stmt: step 4, tx2: SELECT * FROM t
-- expected: error 1020
-- actual: (0,0) (0,1)
-- reason: the SELECT FOR SHARE had to fail with error 1020
-- note: with snapshot isolation a statement that meets a record which was changed since the snapshot is to fail with error 1020 (https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation); here none of three does. Each is a known deviation, no-op-update-unseen, record-changed-unseen (MDEV-40182) and record-gone-unseen (MDEV-40092); together they predict the whole history
-- rules: no-op-update-unseen, record-changed-unseen, record-gone-unseen
-- reproduced: 10/10
-- first_seen: 2026-11-21T20:00:35Z
-- verdict (mariadb 11.8, SER): known record-changed-unseen + record-gone-unseen
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): known record-changed-unseen + record-gone-unseen
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a INT, b INT PRIMARY KEY, INDEX(a));
/* init */ INSERT INTO t VALUES (0, 0), (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 0 WHERE b = 0;
/* tx2 */ SELECT * FROM t WHERE a FOR UPDATE;
/* tx1 */ COMMIT;
