-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- seed: 2
-- server_version: 9.7.4-2
-- settings: autocommit=ON; binlog_format=ROW; binlog_row_image=FULL; character_set_server=utf8mb4; collation_server=utf8mb4_0900_ai_ci; completion_type=NO_CHAIN; default_storage_engine=InnoDB; innodb_autoinc_lock_mode=2; innodb_deadlock_detect=ON; innodb_lock_wait_timeout=5; innodb_rollback_on_timeout=OFF; innodb_stats_auto_recalc=OFF; innodb_stats_persistent=ON; lock_wait_timeout=5; log_bin=ON; lower_case_table_names=0; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION; time_zone=+00:00; transaction_isolation=REPEATABLE-READ
-- stmt: step 5, tx1: SELECT * FROM t WHERE b = 1
-- expected: (0,1) (1,1)
-- actual: (1,1)
-- reproduced: 10/10
-- first_seen: 2026-11-21T07:15:53Z
-- input: seed 571008150, worker 0, input 39, order 1
-- kind: lost-own-write
-- rules: unique-lookup-ends-at-first-row
-- explained: tx1's snapshot, taken in step 2, shows the row (1,1) that tx2 deleted since; the row (0,1) that tx1 inserts has the same unique key and is tx1's own. A full scan shows both, as the manual says of a snapshot beside own writes. The look-up by b stops at the first row of that key, which is the deleted one, so tx1 does not see what it has just inserted. By hand: SELECT * FROM t returns two rows with b = 1, SELECT * FROM t WHERE b = 1 one of them.
-- fingerprint: known/unique-lookup-ends-at-first-row/RR
-- verdict (embedded, RR): known unique-lookup-trusts-snapshot-index
-- verdict (mariadb 11.8, RR): known unique-lookup-ends-at-first-row
-- verdict (mariadb 11.8,snapshot=off, RR): known unique-lookup-ends-at-first-row
-- verdict (mariadb 10.11, RR): known unique-lookup-ends-at-first-row
-- verdict (mariadb 10.11,snapshot=on, RR): known unique-lookup-ends-at-first-row
-- verdict (mariadb 10.5, RR): known unique-lookup-ends-at-first-row
-- verdict (mysql 9.7, RR): known unique-lookup-ends-at-first-row
-- verdict (mysql 9.7,binlog=off, RR): known unique-lookup-ends-at-first-row
-- verdict (tidb 2025-11, RR): known unique-lookup-trusts-snapshot-index
-- verdict (tidb 2024-07, RR): known unique-lookup-trusts-snapshot-index
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t;
/* tx1 */ INSERT INTO t VALUES (0, 1);
/* tx1 */ SELECT * FROM t WHERE b = 1;
/* tx1 */ COMMIT;
