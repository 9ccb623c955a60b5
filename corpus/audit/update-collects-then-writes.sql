-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: READ UNCOMMITTED
-- note: an UPDATE of the column that it finds its rows by writes none before it has found all; meanwhile it waits for row 7
-- expected: ok
-- verdict (mariadb 11.8, RU): ok
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): ok
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok
-- verdict (postgres 18, RU): ok

/* init */ CREATE TABLE t (id INT PRIMARY KEY, st INT, KEY (st));
/* init */ INSERT INTO t VALUES (1, 1), (2, 1), (3, 5);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (7, 1);
/* tx1 */ UPDATE t SET st = 2 WHERE st = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
