-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: unexpected-error
-- stmt: step 6, tx1: RELEASE SAVEPOINT s
-- expected: no error
-- actual: error 1305 (SAVEPOINT s does not exist)
-- reason: RELEASE SAVEPOINT has no reason to fail
-- note: an UPDATE that fails leaves the keys of rows which it would have left unchanged in the list of what is to be locked; the next statement takes these locks, whatever it is. RELEASE SAVEPOINT waits for them, starts again when the row has changed, and does not find the savepoint that it has released already
-- fingerprint: unexpected-error/RR/RELEASE SAVEPOINT waited
-- reproduced: 10/10
-- also at: RC
-- first_seen: 2026-11-25T10:30:00Z
-- verdict (embedded, RR): violation unexpected-error
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation unexpected-error
-- verdict (tidb 2024-07, RR): violation unexpected-error
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (5);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 7 WHERE a = 1;
/* tx1 */ RELEASE SAVEPOINT s;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
