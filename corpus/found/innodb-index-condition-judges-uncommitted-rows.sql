-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- seed: 3
-- server_version: 9.7.4-2
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_0900_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=ON; lower_case_table_names=0; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ
-- kind: unexpected-error
-- stmt: step 4, tx2: SELECT * FROM t WHERE b > 5 AND b * 4 > 5
-- expected: no rows
-- actual: error 1690 (BIGINT value is out of range in '(`t`.`b` * 4)')
-- reason: nothing in the rows that the SELECT sees makes it fail
-- note: the pushed index condition is evaluated on the index entry of a row that another transaction has inserted and not committed, and the SELECT fails with its error; a consistent read shows no changes of uncommitted transactions (https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html). After the ROLLBACK the same SELECT passes. Why a condition is evaluated on index entries: https://dev.mysql.com/doc/refman/en/index-condition-pushdown-optimization.html
-- fingerprint: known/index-condition-judges-unseen-rows/RR
-- reproduced: 10/10
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 11.8,snapshot=off, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.11, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.11,snapshot=on, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.5, RR): known index-condition-judges-unseen-rows
-- verdict (mysql 9.7, RR): known index-condition-judges-unseen-rows
-- verdict (mysql 9.7,binlog=off, RR): known index-condition-judges-unseen-rows
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b BIGINT, INDEX k1(b));
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 9223372036854775807);
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE b > 5 AND b * 4 > 5;
/* tx1 */ ROLLBACK;
/* tx2 */ SELECT * FROM t WHERE b > 5 AND b * 4 > 5;
/* tx2 */ COMMIT;
