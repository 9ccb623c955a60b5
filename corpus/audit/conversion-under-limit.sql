-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: in strict mode the text that is no number fails the writes, LIMIT or not
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

/* init */ CREATE TABLE t (a VARCHAR(10));
/* init */ INSERT INTO t VALUES ('a');
/* tx1 */ UPDATE t SET a = 0 WHERE a LIMIT 2;
/* tx1 */ DELETE FROM t WHERE a LIMIT 2;
/* tx1 */ SELECT * FROM t;
