-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: wrong-count
-- stmt: step 3, tx1: DELETE FROM t WHERE a IN (0, -129)
-- expected: 1 affected
-- actual: 2 affected
-- fingerprint: known/restarted-lookup-clamps-values/RR/new-row
-- reproduced: 10/10
-- first_seen: 2026-11-28T18:12:30Z
-- input: seed 128, worker 0, input 839, order 1
-- verdict (embedded, RR): known restarted-lookup-clamps-values
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known restarted-lookup-clamps-values
-- verdict (tidb 2024-07, RR): known restarted-lookup-clamps-values
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a TINYINT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (-128);
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (0);
/* tx1 */ DELETE FROM t WHERE a IN (0, -129);
