-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: without a clustered key REPLACE changes the row in place where its key is the last unique one, so that tx1 deletes what tx2 made of the row of its snapshot
-- expected: ok; error 1020 under snapshot isolation
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT, b INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ REPLACE INTO t VALUES (1, 0);
/* tx1 */ DELETE FROM t;
/* tx1 */ SELECT * FROM t;
