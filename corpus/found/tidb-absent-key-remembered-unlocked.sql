-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- seed: 2
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: stale-read
-- rules: absent-key-remembered-unlocked
-- stmt: step 4, tx1: SELECT * FROM t WHERE a IN (0, 1) FOR UPDATE
-- expected: (0) (1)
-- actual: (1)
-- reason: tx1's SELECT FOR UPDATE: it saw an older state than the level allows; under the deviation "absent-key-remembered-unlocked" (https://docs.pingcap.com/tidb/stable/pessimistic-transaction) the whole history is what the server does: a locking look-up of one key that is absent takes no lock, yet the transaction caches the absence; a locking look-up of several keys, or of a key that it has locked by other means since, answers from that cache and misses the row that another transaction committed
-- note: at READ COMMITTED a locking look-up of one key that is not there takes no lock (https://docs.pingcap.com/tidb/stable/pessimistic-transaction#behaviors), yet the transaction keeps in its cache of locked keys that the key is absent (lockKeyBase in pkg/executor/point_get.go); a locking look-up of several keys answers from that cache, whatever was committed since; locking the key alone once more mends it, unless the transaction has locked it by a scan since
-- fingerprint: known/absent-key-remembered-unlocked/RC
-- reproduced: 10/10
-- first_seen: 2026-11-21T16:59:00Z
-- verdict (embedded, RC): known absent-key-remembered-unlocked
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known absent-key-remembered-unlocked
-- verdict (tidb 2024-07, RC): known absent-key-remembered-unlocked
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 0 FOR UPDATE;
/* tx2 */ INSERT INTO t VALUES (0);
/* tx1 */ SELECT * FROM t WHERE a IN (0, 1) FOR UPDATE;
/* tx1 */ COMMIT;
