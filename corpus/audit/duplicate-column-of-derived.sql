-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: a derived table with two columns of one name is error 1060
-- expected: the server refuses the text
-- verdict (embedded, RR): unknown stale
-- verdict (mariadb 11.8, RR): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RR): unknown stale
-- verdict (mariadb 10.11, RR): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RR): unknown stale
-- verdict (mariadb 10.5, RR): unknown stale
-- verdict (mysql 9.7, RR): unknown stale
-- verdict (mysql 9.7,binlog=off, RR): unknown stale
-- verdict (tidb 2025-11, RR): unknown stale
-- verdict (tidb 2024-07, RR): unknown stale
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t1 (a INT);
/* init */ CREATE TABLE t2 (a INT);
/* tx1 */ SELECT * FROM (SELECT * FROM t1, t2) AS foo;
