-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: internal-error
-- stmt: step 9, tx3: COMMIT
-- expected: no error
-- actual: error 1105 (tikv aborts txn: pessimistic lock not found)
-- note: tx3's UPDATE leaves the key a as it is, and locks its entry all the same. It waits for tx1, which deletes the row, then for tx2, which has inserted another one with the same key, and starts again. The lock of the entry is gone then: an INSERT of that key by a fourth session answers at once, and COMMIT fails
-- fingerprint: known/commit-misses-lock-of-restarted-update/RC/unchanged-entry
-- reproduced: 10/10
-- also at: RR
-- first_seen: 2026-11-29T00:33:17Z
-- input: seed 777, worker 0, input 13679, order 1
-- verdict (embedded, RC): known commit-misses-lock-of-restarted-update
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): unknown unsupported
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known commit-misses-lock-of-restarted-update
-- verdict (tidb 2024-07, RC): known commit-misses-lock-of-restarted-update
-- verdict (postgres 18, RC): unknown refused

/* init */ CREATE TABLE t (a INT UNIQUE KEY, b TIMESTAMP);
/* init */ INSERT INTO t VALUES (0, NULL);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0;
/* tx2 */ REPLACE INTO t VALUES (0, NULL);
/* tx2 */ COMMIT;
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET b = '2024-01-01 00:00:01';
/* tx3 */ COMMIT;
/* tx1 */ DELETE FROM t;
/* tx1 */ COMMIT;
