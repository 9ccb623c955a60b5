-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: MIN comes from a forward scan, MAX from a backward one, which reads the newest data on unistore
-- expected: known reverse-scan-reads-newest on TiDB; ok elsewhere
-- verdict (embedded, RR): known reverse-scan-reads-newest
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known reverse-scan-reads-newest
-- verdict (tidb 2024-07, RR): known reverse-scan-reads-newest
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b));
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET b = b + 10;
/* tx1 */ SELECT MIN(b), MAX(b) FROM t;
/* tx1 */ COMMIT;
