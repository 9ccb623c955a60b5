-- source: https://github.com/pingcap/tidb/issues/21506 (ReplBug)
-- seed: no, because INSERT … SELECT is not generated
-- reported: READ COMMITTED, REPEATABLE READ
-- note: the SELECT of an INSERT reads newest rows or the snapshot
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t1 (id INT PRIMARY KEY, v INT);
/* init */ CREATE TABLE t2 (id INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t1 VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t2 SELECT * FROM t1;
/* tx2 */ UPDATE t1 SET id = id + 2;
/* tx1 */ INSERT INTO t2 SELECT * FROM t1;
/* tx1 */ SELECT * FROM t2;
/* tx1 */ COMMIT;
/* tx3 */ SELECT * FROM t1;
/* tx3 */ SELECT * FROM t2;
