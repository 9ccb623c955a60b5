-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: DEFAULT(c0) of a column without a default is refused as a text, whatever rows there are; on MariaDB c0 = DEFAULT, too
-- expected: ok or unknown (stale) on MySQL and MariaDB
-- verdict (embedded, RC RR): unknown stale
-- verdict (mariadb 11.8, RU RC RR SER): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): unknown stale
-- verdict (mariadb 10.5, RU RC RR SER): unknown stale
-- verdict (mysql 9.7, RU RC RR SER): unknown stale
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown stale
-- verdict (tidb 2025-11, RC RR): unknown stale
-- verdict (tidb 2024-07, RC RR): unknown stale
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t0 (c0 INT PRIMARY KEY, c2 INT);
/* init */ INSERT INTO t0 VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t0 SET c2 = 5;
/* tx2 */ UPDATE t0 SET c0 = DEFAULT(c0) WHERE c2 = 17;
/* tx1 */ COMMIT;
