-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: 2
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: internal-error
-- rules: commit-expects-locks-of-failed-update
-- stmt: step 5, tx1: COMMIT
-- expected: no error
-- actual: error 1105 (tikv aborts txn: pessimistic lock not found)
-- reason: COMMIT failed with an error that no statement may give
-- note: each row that an UPDATE had changed when it failed as a duplicate of one of its own rows stays in the transaction's buffer as locked, though its lock was given back (https://github.com/pingcap/tidb/issues/35682); another session's DELETE of such a row makes the commit miss it (https://docs.pingcap.com/tidb/stable/pessimistic-transaction)
-- fingerprint: known/commit-expects-locks-of-failed-update/RR
-- reproduced: 10/10
-- also at: RC
-- first_seen: 2026-11-21T09:55:11Z
-- verdict (embedded, RR): known commit-expects-locks-of-failed-update
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known commit-expects-locks-of-failed-update
-- verdict (tidb 2024-07, RR): known commit-expects-locks-of-failed-update
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (NULL), (NULL);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ INSERT INTO t VALUES (NULL);
/* tx2 */ DELETE FROM t;
/* tx1 */ COMMIT;
