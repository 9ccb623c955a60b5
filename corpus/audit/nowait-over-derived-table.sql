-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: SERIALIZABLE
-- note: FOR UPDATE NOWAIT does not reach into the derived table, whose query locks as a plain SELECT does at SERIALIZABLE; MySQL waits for the row, MariaDB fails at once
-- expected: ok or unknown
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1,10),(2,20),(3,30);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b=99 WHERE a=1;
/* tx2 */ SELECT * FROM (SELECT a,b FROM t) AS s WHERE a=1 FOR UPDATE NOWAIT;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM (SELECT a,b FROM t) AS s WHERE a=1 FOR UPDATE NOWAIT;
/* tx2 */ COMMIT;
