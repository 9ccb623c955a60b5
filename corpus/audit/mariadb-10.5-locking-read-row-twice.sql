-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the read waits for an INSERT that is rolled back; MariaDB 10.5 then returns the other row twice
-- expected: violation on MariaDB 10.5; ok elsewhere
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): violation wrong-rows
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE);
/* init */ INSERT INTO t VALUES (1, NULL);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (2, NULL);
/* tx2 */ SELECT * FROM t FORCE INDEX (b) FOR UPDATE;
/* tx1 */ ROLLBACK;
