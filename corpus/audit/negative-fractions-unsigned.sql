-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: a number below zero is out of range before it is rounded, but for text and doubles into integers, and for DECIMAL on TiDB
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
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (id INT PRIMARY KEY, b INT UNSIGNED, c DECIMAL(4,2) UNSIGNED);
/* tx1 */ INSERT INTO t VALUES (3, '-0.2', 1);
/* tx1 */ INSERT INTO t VALUES (4, '-0.5', 1);
/* tx1 */ INSERT INTO t VALUES (5, '-0.6', 1);
/* tx1 */ INSERT INTO t VALUES (6, -0.2, 1);
/* tx1 */ INSERT INTO t VALUES (7, -0.2e0, 1);
/* tx1 */ INSERT INTO t VALUES (17, -0.6e0, 1);
/* tx1 */ INSERT INTO t VALUES (8, 1, -0.001);
/* tx1 */ INSERT INTO t VALUES (9, 1, '-0.001');
/* tx1 */ INSERT INTO t VALUES (10, 1, -0.001e0);
/* tx1 */ INSERT INTO t VALUES (11, 1, '-0.01');
/* tx1 */ INSERT INTO t VALUES (12, '-0.5', -0.009);
