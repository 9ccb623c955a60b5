-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: GROUP BY … DESC, which MySQL 8.0 has given up
-- expected: ok on MariaDB; elsewhere the server refuses the text
-- verdict (embedded, RR): unknown stale
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): unknown stale
-- verdict (mysql 9.7,binlog=off, RR): unknown stale
-- verdict (tidb 2025-11, RR): unknown stale
-- verdict (tidb 2024-07, RR): unknown stale
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY kb (b));
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ SELECT b FROM t GROUP BY b DESC;
