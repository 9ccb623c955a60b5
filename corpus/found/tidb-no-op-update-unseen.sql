-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: yes
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: lost-own-write
-- rules: no-op-update-unseen
-- stmt: step 5, tx2: SELECT * FROM t
-- expected: (1)
-- actual: (0)
-- reason: tx2's SELECT: it did not see the transaction's own writes; under the deviation "no-op-update-unseen" (https://github.com/pingcap/tidb/issues/28212) the whole history is what the server does: an UPDATE that changes no value of a row writes no version of it, so that the snapshot goes on hiding another transaction's equal write
-- fingerprint: known/no-op-update-unseen/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known no-op-update-unseen
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known no-op-update-unseen
-- verdict (tidb 2024-07, RR): known no-op-update-unseen
-- verdict (postgres 18, RR): ok
-- first_seen: 2026-11-21T04:53:11Z
-- input: seed 2278527509, worker 0, input 79, order 1

/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
