-- source: https://github.com/pingcap/tidb/issues/57170
-- seed: 3
-- reported: REPEATABLE READ
-- observe: tx1.3
-- note: the embedded storage engine only: a descending scan reads newest committed data
-- verdict (embedded, RC): ok
-- verdict (embedded, RR): known reverse-scan-reads-newest
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2025-11, RR): known reverse-scan-reads-newest
-- verdict (tidb 2024-07, RC): ok
-- verdict (tidb 2024-07, RR): known reverse-scan-reads-newest
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET b = 5;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t ORDER BY a DESC;
/* tx1 */ COMMIT;
