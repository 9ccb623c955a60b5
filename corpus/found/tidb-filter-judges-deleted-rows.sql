-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- seed: 2
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: unexpected-error
-- stmt: step 3, tx1: UPDATE t SET a = NULL WHERE DATE_ADD(a, INTERVAL 1 DAY)
-- expected: 0 matched, 0 changed
-- actual: error 1441 (Datetime function: datetime field overflow)
-- reason: nothing in the rows that the UPDATE sees makes it fail
-- note: the row was deleted by the transaction itself; the storage evaluates the filter on the committed version all the same, the cause of TiDB#28092 (https://github.com/pingcap/tidb/issues/28092), while a SELECT with this condition warns. An UPDATE acts on the rows that its transaction sees (https://docs.pingcap.com/tidb/stable/pessimistic-transaction)
-- fingerprint: known/filter-judges-overwritten-rows/RC
-- reproduced: 10/10
-- verdict (embedded, RC): known filter-judges-overwritten-rows
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known filter-judges-overwritten-rows
-- verdict (tidb 2024-07, RC): known filter-judges-overwritten-rows
-- verdict (postgres 18, RC): ok
-- first_seen: 2026-11-22T01:07:39Z
-- input: seed 64, worker 0, input 2392, order 0

/* init */ CREATE TABLE t (a DATETIME);
/* init */ INSERT INTO t VALUES ('9999-12-31 23:59:59');
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx1 */ UPDATE t SET a = NULL WHERE DATE_ADD(a, INTERVAL 1 DAY);
