-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: READ UNCOMMITTED
-- note: a DELETE that goes backward through the key has deleted row 3 when it waits for row 2, and READ UNCOMMITTED shows that
-- expected: ok
-- verdict (mariadb 11.8, RU): ok
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): ok
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok
-- verdict (postgres 18, RU): unknown refused

/* init */ CREATE TABLE t (id INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (2), (3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT id FROM t WHERE id = 2 FOR UPDATE;
/* tx1 */ DELETE FROM t ORDER BY id DESC LIMIT 2;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
