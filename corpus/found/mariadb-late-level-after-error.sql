-- level: SERIALIZABLE
-- source: txnfuzz
-- target: mariadb:11.8
-- seed: 8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- settings: autocommit=ON; binlog_format=MIXED; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_uca1400_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=1; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=ON; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ; tx_isolation=REPEATABLE-READ
-- kind: unexpected-error
-- rules: late-level-after-error
-- stmt: step 9, tx2: SELECT * FROM t
-- expected: (0)
-- actual: error 1020 (Record has changed since last read in table 't'; try restarting transaction)
-- reason: nothing in the rows that the SELECT sees makes it fail; under the deviation "late-level-after-error" (https://bugs.mysql.com/bug.php?id=117835) the whole history is what the server does: a level that was set inside a transaction which an error ended is not yet that of the next transaction
-- fingerprint: known/late-level-after-error/SER
-- reproduced: 10/10
-- explained: tx1 makes the UPDATE of tx2 the victim of a deadlock, which ends the transaction. READ COMMITTED, set in it, should be the level of the next one, but the transaction that the BEGIN of step 8 begins is SERIALIZABLE: its SELECT waits for tx1 and fails.
-- verdict (mariadb 11.8, SER): known late-level-after-error
-- verdict (mariadb 11.8,snapshot=off, SER): known late-level-after-error
-- verdict (mariadb 10.11, SER): known late-level-after-error
-- verdict (mariadb 10.11,snapshot=on, SER): known late-level-after-error
-- verdict (mariadb 10.5, SER): known late-level-after-error
-- verdict (mysql 9.7, SER): known late-level
-- verdict (mysql 9.7,binlog=off, SER): known late-level
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 0;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
/* tx2 */ UPDATE t SET a = 0;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ BEGIN;
