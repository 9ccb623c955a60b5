-- source: https://bugs.mysql.com/bug.php?id=105670 (Troc); also https://github.com/pingcap/tidb/issues/30239
-- reported: REPEATABLE READ
-- status: Duplicate
-- note: a DELETE finds newest rows, a SELECT behind it the snapshot's
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

/* init */ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE c1 = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ DELETE FROM t WHERE c1 = 1 OR c1 = 2;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
