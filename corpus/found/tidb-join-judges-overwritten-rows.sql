-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: unexpected-error
-- stmt: step 3, tx1: SELECT * FROM t JOIN u ON a = x WHERE b - 1 >= 0
-- expected: (1,6,1)
-- actual: error 1690 (BIGINT UNSIGNED value is out of range in '(Column#0 - 1)')
-- fingerprint: known/filter-judges-overwritten-rows/RC/join
-- reproduced: 10/10
-- also at: RR
-- verdict (embedded, RC): known filter-judges-overwritten-rows
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): known filter-judges-overwritten-rows
-- verdict (tidb 2024-07, RC): known filter-judges-overwritten-rows
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b BIGINT UNSIGNED);
/* init */ CREATE TABLE u (x INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1, 0);
/* init */ INSERT INTO u VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 6 WHERE a = 1;
/* tx1 */ SELECT * FROM t JOIN u ON a = x WHERE b - 1 >= 0;
