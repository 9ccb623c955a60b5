-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the server closes the connection, which must not harm the next case
-- expected: unknown; ok would be right, too
-- verdict (embedded, RR): unknown unsupported
-- verdict (mariadb 11.8, RR): unknown unsupported
-- verdict (mariadb 11.8,snapshot=off, RR): unknown unsupported
-- verdict (mariadb 10.11, RR): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RR): unknown unsupported
-- verdict (mariadb 10.5, RR): unknown unsupported
-- verdict (mysql 9.7, RR): unknown unsupported
-- verdict (mysql 9.7,binlog=off, RR): unknown unsupported
-- verdict (tidb 2025-11, RR): unknown unsupported
-- verdict (tidb 2024-07, RR): unknown unsupported
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (id INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 1);
/* tx1 */ ROLLBACK RELEASE;
/* tx2 */ SELECT * FROM t;
