-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: READ UNCOMMITTED
-- note: the UPDATE goes by the primary key, which has its order, and has changed the first row while it waits for the second; by another plan it would find both before
-- expected: ok
-- verdict (mariadb 11.8, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok
-- verdict (postgres 18, RU): unknown refused

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 2;
/* tx2 */ UPDATE t SET b = 9 ORDER BY a LIMIT 2;
/* tx3 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx3 */ SELECT * FROM t;
