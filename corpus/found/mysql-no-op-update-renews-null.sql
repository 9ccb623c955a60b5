-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- seed: yes
-- server_version: 9.7.4-2
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_0900_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=ON; lower_case_table_names=0; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ
-- stmt: step 5, tx1: SELECT * FROM t
-- expected: (1,0) (1,NULL)
-- actual: (0,0) (1,NULL)
-- rules: no-op-update-unseen
-- reason: the SELECT returned other rows than its view holds
-- note: an UPDATE that changes nothing is to make each row the transaction's own (https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html); MySQL makes so only the rows in which a NULL replaces a NULL of a column whose default is no zero, as the bytes below the two NULLs differ, and counts none as changed
-- fingerprint: known/no-op-update-unseen/RR
-- reproduced: 10/10
-- first_seen: 2026-11-21T19:20:31Z
-- verdict (embedded, RR): known no-op-update-unseen
-- verdict (mysql 9.7, RR): known no-op-update-unseen
-- verdict (mysql 9.7,binlog=off, RR): known no-op-update-unseen-if-read
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known no-op-update-unseen
-- verdict (mariadb 10.11, RR): known no-op-update-unseen
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): known no-op-update-unseen
-- verdict (tidb 2025-11, RR): known no-op-update-unseen
-- verdict (tidb 2024-07, RR): known no-op-update-unseen
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b INT DEFAULT 1);
/* init */ INSERT INTO t VALUES (0, 0), (0, NULL);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET b = b;
/* tx1 */ SELECT * FROM t;
