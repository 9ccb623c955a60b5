-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: READ UNCOMMITTED
-- note: the DELETE has no order to make, and has deleted the first row while it waits for the second
-- expected: ok
-- verdict (mariadb 11.8, RU): ok
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): ok
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok
-- verdict (postgres 18, RU): unknown refused

/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1), (0);
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 0;
/* tx2 */ DELETE FROM t LIMIT 2;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
