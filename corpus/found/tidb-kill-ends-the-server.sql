-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic; txn-total-size-limit at its default
-- kind: server-crash
-- stmt: none; the final state, or the run as a whole
-- expected: the server goes on
-- actual: panic: [executor:1317]Query execution was interrupted, in github.com/pingcap/tidb/pkg/util/memory.(*Tracker).Consume (tracker.go:507)
-- reason: the server died while the case ran
-- note: a transaction's buffer allocates memory for the key that the SELECT locks, and tells the session's tracker of it only when the buffer is cleaned up, which is when the killed session closes: the tracker then panics with the KILL, where nobody catches it. At READ COMMITTED a row with this key must be there. So does a KILL QUERY of a session that does nothing. Published as https://github.com/pingcap/tidb/issues/63956, with seven INSERTs
-- note: the built-in TiDB runs with a txn-total-size-limit that is not the default, so that it does not count this memory; there the verdict is ok. A tidb-server with the default dies
-- fingerprint: server-crash/62ee5350
-- reproduced: 10/10
-- first_seen: 2026-11-28T13:47:31Z
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation server-crash
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;
/* tx2 */ KILL tx1;
