-- level: REPEATABLE READ
-- source: txnfuzz
-- target: galera:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_uca1400_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; explicit_defaults_for_timestamp=ON; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_snapshot_isolation=ON; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=OFF; lower_case_table_names=0; sql_mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ; tx_isolation=REPEATABLE-READ; wsrep_on=ON; wsrep_retry_autocommit=1; wsrep_slave_threads=1; wsrep_sync_wait=0; wsrep_trx_fragment_size=0
-- promise: RC=statement,RR=snapshot
-- kind: nodes-differ
-- stmt: none; the final state, or the run as a whole
-- expected: table t of member node2 holds what that of member node1 does
-- actual: only member node2 has (0)
-- reason: all members of the cluster (Galera cluster of 3 nodes) have applied what any of them has committed
-- note: the other nodes get the row that the failed INSERT made and that its own node has undone; only if the table has a trigger that writes, and without a binary log
-- fingerprint: nodes-differ/rows-left/failed-statement
-- reproduced: 10/10
-- also at: RC
-- verdict (galera 11.8, RR): violation nodes-differ

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ CREATE TABLE log (a INT PRIMARY KEY);
/* init */ CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.a);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (0), (0);
/* tx1 */ COMMIT;
