-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- seed: 4
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: unjustified-abort
-- rules: commit-locks-what-a-failed-update-met
-- stmt: step 8, tx1: COMMIT
-- expected: commit succeeds
-- actual: error 1213 (Deadlock found when trying to get lock; try restarting transaction)
-- reason: a pessimistic transaction took all its locks before, so its commit neither waits nor is part of a deadlock; under the deviation "commit-locks-what-a-failed-update-met" (https://docs.pingcap.com/tidb/stable/pessimistic-transaction) the whole history is what the server does: rows that a failed UPDATE met without changing them are locked when the transaction commits, so that COMMIT waits and can be the victim of a deadlock
-- fingerprint: known/commit-locks-what-a-failed-update-met/RC
-- reproduced: 10/10
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
-- first_seen: 2026-11-21T04:56:34Z
-- input: seed 48574325, worker 1, input 226, order 0

/* init */ CREATE TABLE t (a INT, PRIMARY KEY(a));
/* init */ INSERT INTO t VALUES (0), (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0 WHERE a = 0;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE a FOR UPDATE;
/* tx2 */ DELETE FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
