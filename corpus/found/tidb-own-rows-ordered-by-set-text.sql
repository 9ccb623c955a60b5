-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: wrong-rows
-- stmt: step 3, tx1: SELECT * FROM t ORDER BY b LIMIT 2
-- expected: (0,) (0,b)
-- actual: (0,) (0,a,b)
-- reason: the SELECT returned other rows than it should see
-- explained: a SET is ordered by the number that its members make, and 'b' is 2, 'a,b' 3. TiDB merges the rows that the transaction itself has written with those of the storage by their text, as it does with an ENUM (TiDB#31286)
-- link: https://github.com/pingcap/tidb/issues/31286
-- fingerprint: wrong-rows/RC/SELECT adds own UPDATE
-- reproduced: 10/10
-- also at: RR
-- first_seen: 2026-11-29T00:19:52Z
-- input: seed 777, worker 0, input 611, order 1
-- verdict (embedded, RC): violation wrong-rows
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): violation wrong-rows
-- verdict (tidb 2024-07, RC): violation wrong-rows
-- verdict (postgres 18, RC): unknown refused

/* init */ CREATE TABLE t (a INT, b SET('a', 'b', 'c') PRIMARY KEY);
/* init */ INSERT INTO t VALUES (0, 0), (0, 'b'), (1, 'a,b');
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0 WHERE a;
/* tx1 */ SELECT * FROM t ORDER BY b LIMIT 2;
