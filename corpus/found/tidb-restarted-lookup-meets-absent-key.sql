-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: stale-read
-- rules: restarted-lookup-clamps-values
-- stmt: step 3, tx2: DELETE FROM t WHERE a IN (0, -129)
-- expected: 0 affected
-- actual: 1 affected
-- reason: tx2's DELETE: it saw an older state than the level allows
-- note: -129 is beyond TINYINT. tx1 looks for the key 0, which a deleted row had, in vain, and locks it; its commit makes tx2's DELETE start again, although nobody has changed a row since tx2's transaction began. By then -129 has become -128
-- fingerprint: known/restarted-lookup-clamps-values/RR/absent-key
-- reproduced: 10/10
-- first_seen: 2026-11-28T10:28:40Z
-- input: seed 2002, worker 0, input 759, order 1
-- verdict (embedded, RR): known restarted-lookup-clamps-values
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known restarted-lookup-clamps-values
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a TINYINT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (0), (-128);
/* init */ DELETE FROM t WHERE a = 0;
/* tx2 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 0;
/* tx2 */ DELETE FROM t WHERE a IN (0, -129);
