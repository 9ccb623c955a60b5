-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- kind: wrong-rows
-- stmt: step 3, tx1: SELECT * FROM t ORDER BY a LIMIT 1
-- expected: (b,0)
-- actual: (a,1)
-- explained: an ENUM is ordered by the number of its member, and b is the first. TiDB merges the rows that the transaction itself has written with those of the storage by the members' text, so that inside of the transaction ORDER BY gives another order than outside, and LIMIT 1 another row. Reported as TiDB#31286, which is open.
-- link: https://github.com/pingcap/tidb/issues/31286
-- fingerprint: wrong-rows/RR/SELECT
-- reproduced: 10/10
-- verdict (embedded, RR): violation wrong-rows
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation wrong-rows
-- verdict (tidb 2024-07, RR): violation wrong-rows
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a ENUM('b', 'a') PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES ('b', 0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES ('a', 1);
/* tx1 */ SELECT * FROM t ORDER BY a LIMIT 1;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t ORDER BY a LIMIT 1;
