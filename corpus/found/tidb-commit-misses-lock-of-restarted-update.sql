-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- seed: 2
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: internal-error
-- rules: commit-misses-lock-of-restarted-update
-- stmt: step 6, tx2: COMMIT
-- expected: no error
-- actual: error 1105 (tikv aborts txn: pessimistic lock not found)
-- reason: COMMIT failed with an error that no statement may give; under the deviation "commit-misses-lock-of-restarted-update" (https://github.com/pingcap/tidb/issues/67213) the whole history is what the server does: an UPDATE that waited and started again gives back the lock of a row that it had met and left unchanged, but COMMIT expects it and fails with error 1105
-- fingerprint: known/commit-misses-lock-of-restarted-update/RC
-- reproduced: 10/10
-- verdict (embedded, RC): known commit-misses-lock-of-restarted-update
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known commit-misses-lock-of-restarted-update
-- verdict (tidb 2024-07, RC): known commit-misses-lock-of-restarted-update
-- verdict (postgres 18, RC): ok
-- first_seen: 2026-11-21T04:53:20Z
-- input: seed 2278527509, worker 0, input 156, order 0

/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (NULL, NULL);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (0, 0);
/* tx1 */ DELETE FROM t WHERE a IS NULL;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = NULL;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
