-- source: found by txnfuzz against an honest server
-- seed: no, because it guards the judgement of one form of SQL
-- note: the UPDATE's scan of the index on c has locked the entry behind its range; the INSERT has put its row in when it waits for that entry, so that READ UNCOMMITTED shows the row, although it ends as a duplicate
-- expected: ok
-- level: READ UNCOMMITTED
-- verdict (mariadb 11.8, RU): ok
-- verdict (mariadb 11.8,snapshot=off, RU): ok
-- verdict (mariadb 10.11, RU): ok
-- verdict (mariadb 10.11,snapshot=on, RU): ok
-- verdict (mariadb 10.5, RU): ok
-- verdict (mysql 9.7, RU): ok
-- verdict (mysql 9.7,binlog=off, RU): ok
-- verdict (postgres 18, RU): ok

/* init */ CREATE TABLE t (a INT, c INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (2, 1), (5, NULL);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 9 WHERE c < 1;
/* tx1 */ INSERT INTO t VALUES (7, 1);
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
