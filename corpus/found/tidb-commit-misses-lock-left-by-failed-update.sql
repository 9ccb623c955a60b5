-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: internal-error
-- rules: commit-misses-lock-of-restarted-update
-- stmt: step 8, tx2: COMMIT
-- expected: no error
-- actual: error 1105 (tikv aborts txn: pessimistic lock not found)
-- reason: COMMIT failed with an error that no statement may give
-- note: the first UPDATE of tx2 meets the row with 0, leaves it unchanged and fails at the second row. The key of the first row stays in the list of what is to be locked, so that the second UPDATE locks this one key, as that of a row which it leaves unchanged. It waits, starts again with another row, and gives the first lock back, but counts it as its own. A form of https://github.com/pingcap/tidb/issues/67213
-- fingerprint: known/commit-misses-lock-of-restarted-update/RR
-- reproduced: 10/10
-- also at: RC
-- first_seen: 2026-11-28T10:34:21Z
-- input: seed 2002, worker 1, input 1641, order 0
-- verdict (embedded, RR): known commit-misses-lock-of-restarted-update
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known commit-misses-lock-of-restarted-update
-- verdict (tidb 2024-07, RR): known commit-misses-lock-of-restarted-update
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a BIGINT);
/* init */ INSERT INTO t VALUES (0), (-9223372036854775808);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1 WHERE a = 0;
/* tx1 */ INSERT INTO t VALUES (0);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = ABS(a);
/* tx2 */ UPDATE t SET a = 1 WHERE a = 0;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
