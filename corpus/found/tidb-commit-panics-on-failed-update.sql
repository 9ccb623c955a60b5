-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: server-crash
-- stmt: none; the final state, or the run as a whole
-- expected: the server goes on
-- actual: panic: runtime error: invalid memory address or nil pointer dereference, in github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic (mvcc.go:854)
-- reason: the server ended the session on an internal error
-- note: a transaction whose first statement failed keeps the first key that this met as the key that its commit rests on, though its lock was given back (https://github.com/pingcap/tidb/issues/35682); another session's DELETE of that row makes the commit miss it; where the transaction has changed nothing else, the built-in storage engine breaks down on it
-- fingerprint: server-crash/233d70df
-- reproduced: 10/10
-- also at: RC
-- first_seen: 2026-11-21T09:58:00Z
-- verdict (embedded, RR): violation server-crash
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation server-crash
-- verdict (tidb 2024-07, RR): violation server-crash
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (NULL), (NULL);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 1 WHERE a = 1;
/* tx2 */ DELETE FROM t;
/* tx1 */ COMMIT;
