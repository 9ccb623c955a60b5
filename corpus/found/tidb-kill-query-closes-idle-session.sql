-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: lost-session
-- rules: kill-query-closes-idle-session
-- stmt: step 4, tx2: KILL QUERY tx1
-- expected: nothing happens to tx1, which runs no statement
-- actual: the connection of tx1 is closed
-- reason: KILL QUERY ends the statement that a session runs and leaves its connection as it is; a session that runs none has nothing to be ended
-- note: KILL sets the deadline of the server's read from the client to now, so that a read under way fails. The SELECT gives tx1's session time to begin this read. Published as https://github.com/pingcap/tidb/issues/57840 and https://github.com/pingcap/tidb/issues/65447
-- fingerprint: known/kill-query-closes-idle-session/RC
-- reproduced: 10/10
-- first_seen: 2026-11-28T13:39:22Z
-- verdict (embedded, RC): known kill-query-closes-idle-session
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known kill-query-closes-idle-session
-- verdict (tidb 2024-07, RC): known kill-query-closes-idle-session
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
/* tx2 */ SELECT * FROM t;
/* tx2 */ KILL QUERY tx1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
