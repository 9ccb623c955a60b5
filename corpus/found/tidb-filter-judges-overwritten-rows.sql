-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: 2
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: unexpected-error
-- rules: filter-judges-overwritten-rows
-- stmt: step 3, tx1: UPDATE t SET a = 0 WHERE a + 1
-- expected: 1 matched, 0 changed
-- actual: error 1690 (BIGINT value is out of range in '(Column#0 + 1)')
-- reason: nothing in the rows that the UPDATE sees makes it fail; under the deviation "filter-judges-overwritten-rows" (https://github.com/pingcap/tidb/issues/28092) the whole history is what the server does: the storage evaluates a statement's filter on committed versions that the own transaction has overwritten, so that the statement fails with an error of a row that it does not see
-- fingerprint: known/filter-judges-overwritten-rows/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known filter-judges-overwritten-rows
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known filter-judges-overwritten-rows
-- verdict (tidb 2024-07, RR): known filter-judges-overwritten-rows
-- verdict (postgres 18, RR): ok
-- first_seen: 2026-11-21T04:53:13Z
-- input: seed 2278527509, worker 1, input 84, order 0

/* init */ CREATE TABLE t (a BIGINT);
/* init */ INSERT INTO t VALUES (9223372036854775807);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ UPDATE t SET a = 0 WHERE a + 1;
/* tx1 */ ROLLBACK;
