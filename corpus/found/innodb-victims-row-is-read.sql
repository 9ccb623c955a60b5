-- level: tx1=RR, tx2=SER
-- source: txnfuzz
-- target: mariadb:10.5
-- seed: yes
-- server_version: 10.5.23-MariaDB-0+deb11u1
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_general_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; tx_isolation=REPEATABLE-READ
-- kind: kept-rollback
-- rules: victims-row-is-read
-- fingerprint: known/victims-row-is-read/SER
-- stmt: step 8, tx2: SELECT a FROM t
-- expected: (NULL) (2) (3) (4) (5) (6) (7) (8) (9) (10) (13)
-- actual: (NULL) (NULL) (2) (3) (4) (5) (6) (7) (8) (9) (10) (13)
-- explained: tx2's locking SELECT meets the row (NULL,1) of tx1, which waits for tx2, and makes tx1 the deadlock's victim. It goes on and returns the row that the victim inserted, which is rolled back. By hand, with two plain clients: the same SELECT sent again in the same transaction does not return it, so a SERIALIZABLE transaction has read what was never committed.
-- verdict (mariadb 10.5, tx1=RR, tx2=SER): known victims-row-is-read
-- verdict (mariadb 10.11, tx1=RR, tx2=SER): ok
-- verdict (mariadb 11.8, tx1=RR, tx2=SER): ok
-- verdict (mysql 9.7, tx1=RR, tx2=SER): ok
-- verdict (mariadb 11.8,snapshot=off, tx1=RR, tx2=SER): ok
-- verdict (mariadb 10.11,snapshot=on, tx1=RR, tx2=SER): ok
-- verdict (mysql 9.7,binlog=off, tx1=RR, tx2=SER): ok
-- verdict (postgres 18, tx1=RR, tx2=SER): ok

/* init */ CREATE TABLE t (a TINYINT UNIQUE KEY, b BIGINT, INDEX k1(a, b));
/* init */ INSERT INTO t VALUES (NULL, 1), (2, 1), (3, NULL), (4, -1), (5, 1), (6, 1), (7, 1), (8, 0), (9, 1), (10, -1);
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE a = 4;
/* tx2 */ INSERT INTO t VALUES (13, 1);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (NULL, 1);
/* tx1 */ UPDATE t SET b = 5 WHERE a > 4;
/* tx2 */ SELECT * FROM t WHERE a = 5 FOR UPDATE;
/* tx2 */ SELECT a FROM t;
/* tx2 */ COMMIT;
