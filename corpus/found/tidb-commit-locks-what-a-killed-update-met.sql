-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: unjustified-abort
-- rules: commit-locks-what-a-failed-update-met
-- stmt: step 8, tx1: COMMIT
-- expected: commit succeeds
-- actual: error 1213 (Deadlock found when trying to get lock; try restarting transaction)
-- reason: a pessimistic transaction took all its locks before, so its commit neither waits nor is part of a deadlock
-- note: tx1's second UPDATE would leave the row with 1 unchanged; it is killed while it waits for that row. The row's key stays in the list of what is to be locked, so that COMMIT asks for the lock
-- fingerprint: known/commit-locks-what-a-failed-update-met/RC/killed
-- reproduced: 10/10
-- first_seen: 2026-11-28T15:12:59Z
-- input: seed 50003, worker 1, input 3671, order 1
-- verdict (embedded, RC): known commit-locks-what-a-failed-update-met
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known commit-locks-what-a-failed-update-met
-- verdict (tidb 2024-07, RC): known commit-locks-what-a-failed-update-met
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (a INT, PRIMARY KEY(a));
/* init */ INSERT INTO t VALUES (0), (1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0 WHERE a = 0;
/* tx2 */ SELECT * FROM t WHERE a FOR UPDATE;
/* tx1 */ UPDATE t SET a = 1;
/* tx3 */ KILL QUERY tx1;
/* tx2 */ DELETE FROM t;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
