-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7,group=3,primary=multi
-- server_version: 9.7.4-2
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_0900_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; explicit_defaults_for_timestamp=ON; group_replication_consistency=BEFORE_ON_PRIMARY_FAILOVER; group_replication_single_primary_mode=OFF; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=ON; lower_case_table_names=0; replica_parallel_workers=4; replica_preserve_commit_order=ON; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ
-- promise: RC=statement,RR=snapshot
-- kind: nodes-differ
-- anomaly: lost update (P4)
-- stmt: none; the final state, or the run as a whole
-- expected: table t of member node2 holds what that of member node1 does
-- actual: only member node1 has (1,12); only member node2 has (1,11)
-- reason: all members of the cluster (Group Replication with 3 members, all of which take writes) have applied what any of them has committed
-- note: the transaction of tx1 was aborted when the row of tx2 came; any other statement tells so, SAVEPOINT does not, and COMMIT sends what is undone to the other members
-- fingerprint: nodes-differ/other-values/savepoint
-- reproduced: 10/10
-- verdict (mysql 9.7,group=3,primary=multi, RR): violation nodes-differ

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
/* tx1 */ SAVEPOINT s;
/* tx1 */ COMMIT;
