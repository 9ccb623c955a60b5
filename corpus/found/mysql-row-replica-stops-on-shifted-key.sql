-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7,replica=row
-- server_version: 9.7.4-2
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_0900_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; explicit_defaults_for_timestamp=ON; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=ON; lower_case_table_names=0; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ
-- kind: replica-stopped
-- stmt: none; the final state, or the run as a whole
-- expected: the replica applies what the primary has committed
-- actual: it stops with error 1062: Could not execute Update_rows event on table db.t; Duplicate entry '1' for key 't.a', Error_code: 1062; Duplicate entry '1' for key 't.a', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY
-- reason: a transaction that the primary has committed cannot be applied by its replica (asynchronous replica, binlog_format=ROW), which stops; the server told of no statement that it is unsafe in the binary log
-- note: the primary changes 1 to 2 and then 0 to 1; the replica, which has no key that names a row, goes through the rows by the index and comes across 0 first
-- fingerprint: replica-stopped/row/1062/update_rows
-- reproduced: 10/10
-- also at: RU, RC, SER
-- verdict (mysql 9.7,replica=row, RR): violation replica-stopped

/* init */ CREATE TABLE t (a INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1), (0);
/* tx1 */ UPDATE t SET a = a + 1;
