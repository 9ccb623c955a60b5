-- source: found by txnfuzz in a soak
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the manual calls what REPLACE puts in another row, so that the snapshot goes on showing the old one, which tx1 has not deleted
-- expected: ok
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ REPLACE INTO t VALUES (1, 0);
/* tx1 */ DELETE FROM t;
/* tx1 */ SELECT * FROM t;
