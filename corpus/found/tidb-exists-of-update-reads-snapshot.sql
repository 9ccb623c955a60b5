-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- kind: stale-read
-- stmt: step 3, tx1: UPDATE t SET c = 0 WHERE EXISTS (SELECT 1 FROM u WHERE x > 100)
-- expected: 2 matched, 2 changed
-- actual: 0 matched, 0 changed
-- reason: tx1's UPDATE: it saw an older state than the level allows
-- note: the subquery of an EXISTS that refers to no query around it is evaluated when the statement is planned, on the transaction's snapshot, while the UPDATE itself works on newer data. TiDB#38150 and TiDB#45677 report scalar subqueries
-- fingerprint: known/scalar-subquery-of-write-reads-snapshot/RR
-- verdict (embedded, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (tidb 2024-07, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, c INT);
/* init */ CREATE TABLE u (x INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 15);
/* init */ INSERT INTO u VALUES (20);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE u SET x = 162;
/* tx1 */ UPDATE t SET c = 0 WHERE EXISTS (SELECT 1 FROM u WHERE x > 100);
/* tx1 */ COMMIT;
